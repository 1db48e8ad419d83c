"""Finite worlds as JAX worlds: every outcome is the table's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, tiny_mud

jax = pytest.importorskip("jax")
jnp = jax.numpy
from skillfocus.worlds.jax.table import StateNumbers, TableWorld


@cache
def built_in(name):
    world = sf.make(name)
    mdp = sf.tabulate(world)
    return TableWorld(world, mdp), mdp


def every_outcome(world, mdp, marks):
    """Ask for each slot of each (state, action) by the lowest and the highest draw that means it.

    Returns:
        numbers: int [2, n_states, n_actions, n_outcomes], what followed.
        marks: bool [2, n_states, n_actions, n_outcomes, n_marks].
    """
    upper = np.asarray(mdp.cumulative, np.float32)
    lower = np.concatenate([np.zeros_like(upper[..., :1]), upper[..., :-1]], axis=2)
    draws = np.stack([lower, np.maximum(lower, np.nextafter(upper, np.float32(0)))])
    outcome = jax.vmap(world.outcome, (None, None, 0))
    outcome = jax.vmap(outcome, (None, 0, 0))
    outcome = jax.vmap(outcome, ((0, None), None, 0))
    outcome = jax.jit(jax.vmap(outcome, (None, None, 0)))
    states = jnp.arange(mdp.n_states), jnp.asarray(marks)
    numbers, after = outcome(states, jnp.arange(mdp.n_actions), jnp.asarray(draws))
    return np.asarray(numbers), np.asarray(after)


def assert_is_the_table(world, mdp):
    possible = mdp.probabilities > 0
    widths = np.diff(np.asarray(world._cumulative, np.float64), prepend=0.0)
    np.testing.assert_allclose(widths, mdp.probabilities, atol=1e-6)
    for fill, successors in ((False, mdp.successors), (True, mdp.again)):
        marks = np.full(mdp.n_marks, fill)
        numbers, after = every_outcome(world, mdp, marks)
        for drawn, drawn_marks in zip(numbers, after, strict=True):
            np.testing.assert_array_equal(drawn[possible], successors[possible])
            expected = marks | (mdp.marks[..., None] == np.arange(mdp.n_marks))
            np.testing.assert_array_equal(drawn_marks[possible], expected[possible])


@pytest.mark.parametrize("name", ["four-rooms", "forage-world", "mud-world"])
def test_every_outcome_is_that_of_the_table(name):
    world, mdp = built_in(name)
    assert_is_the_table(world, mdp)


worlds = st.builds(
    RandomWorld,
    st.integers(0, 10_000),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    st.integers(1, 3),
    st.booleans(),
)


@settings(max_examples=3, deadline=None)
@given(worlds)
def test_random_worlds(world):
    mdp = sf.tabulate(world)
    jax_world = TableWorld(world, mdp)
    assert_is_the_table(jax_world, mdp)
    assert_round_trip(jax_world, mdp)


def assert_round_trip(world, mdp):
    """Placing a state by its values finds its number, and as many marks as it has."""
    keys = jax.random.split(jax.random.key(0), mdp.n_states)
    numbers, marks = jax.jit(jax.vmap(world.place))(keys, jnp.asarray(mdp.values))
    np.testing.assert_array_equal(numbers, np.arange(mdp.n_states))
    np.testing.assert_array_equal(marks.sum(axis=1), mdp.marks_in)
    values = jax.vmap(world.values)((numbers, marks))
    assert values.dtype == jnp.int32
    np.testing.assert_array_equal(values, mdp.values)


@pytest.mark.parametrize("name", ["four-rooms", "forage-world", "mud-world"])
def test_states_are_found_by_their_values(name):
    assert_round_trip(*built_in(name))


def test_draws_are_as_frequent_as_the_table_says():
    world = tiny_mud(slip=0.3)
    mdp = sf.tabulate(world)
    jax_world = TableWorld(world, mdp)
    start, n = mdp.number((1, 1, 0, 0)), 20_000
    marks = jnp.zeros((n, 2), bool)
    step = jax.jit(jax.vmap(jax_world.step, (0, 0, None)))
    keys = jax.random.split(jax.random.key(0), n)
    numbers, _ = step(keys, (jnp.full(n, start), marks), 3)
    expected = np.zeros(mdp.n_states)
    np.add.at(expected, mdp.successors[start, 3], mdp.probabilities[start, 3])
    found = np.bincount(np.asarray(numbers), minlength=mdp.n_states) / n
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / n**0.5)


def test_environments_start_in_every_state_alike_with_its_marks():
    world = tiny_mud()
    mdp = sf.tabulate(world)
    n = 400 * mdp.n_states
    keys = jax.random.split(jax.random.key(0), n)
    numbers, marks = jax.jit(jax.vmap(TableWorld(world, mdp).reset))(keys)
    counts = np.bincount(np.asarray(numbers), minlength=mdp.n_states)
    assert np.abs(counts - 400).max() < 5 * 20
    np.testing.assert_array_equal(marks.sum(axis=1), mdp.marks_in[np.asarray(numbers)])
    either = np.asarray(marks)[mdp.marks_in[np.asarray(numbers)] == 1]
    assert abs(either[:, 0].mean() - 0.5) < 0.05


class Switches(sf.World):
    """40 switches that are turned on from left to right: 2^40 combinations, 41 states."""

    id, actions = "Switches-v0", ("next",)
    space = sf.Space(tuple(sf.Variable(f"switch_{i}", (0, 1)) for i in range(40)))

    def states(self):
        return [(0,) * 40]

    def transition(self, state, action):
        on = min(sum(state) + 1, 40)
        return [sf.Outcome(1.0, (1,) * on + (0,) * (40 - on))]


def test_more_combinations_than_an_int32_can_number():
    world = Switches()
    mdp = sf.tabulate(world)
    assert_is_the_table(TableWorld(world, mdp), mdp)
    assert_round_trip(TableWorld(world, mdp), mdp)


@pytest.mark.parametrize("sizes", [(70_000,) * 3, (2**31 - 1, 2, 2**16, 2**15), (2,) * 31 + (5,)])
def test_states_of_large_variables_are_numbered(sizes):
    rng = np.random.default_rng(0)
    extremes = [[0] * len(sizes), [size - 1 for size in sizes]]
    rows = [[int(rng.integers(size)) for size in sizes] for _ in range(200)]
    values = np.unique(np.array(extremes + rows, dtype=np.int32), axis=0)
    values = rng.permutation(values)
    found = jax.jit(jax.vmap(StateNumbers(sizes, values).find))(jnp.asarray(values))
    np.testing.assert_array_equal(found, np.arange(len(values)))


def test_the_finite_world_shows_through():
    world, mdp = built_in("four-rooms")
    assert world.mdp is mdp
    assert world.one_way == world.goals == ("tool_1", "tool_2", "tool_3", "tool_4")
    assert sf.tabulate(world).fingerprint == mdp.fingerprint
    assert world.settings == sf.make("four-rooms").settings
    assert world.draw(mdp.state(7)) == sf.make("four-rooms").draw(mdp.state(7))
