"""`check_world` passes the worlds of this package and finds what is wrong with others."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import tiny_mud
from skillfocus.testing import check_world
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import JAX_WORLDS

jax = pytest.importorskip("jax")
jnp = jax.numpy
from skillfocus.worlds.jax.table import TableWorld


@pytest.mark.parametrize("name", JAX_WORLDS)
def test_built_in_worlds_pass(name):
    world = sf.make(name)
    check_world(world)
    assert sf.make(world.id).space == world.space


def test_finite_worlds_pass():
    world = tiny_mud()
    check_world(TableWorld(world, sf.tabulate(world)))


class Lamps(JaxWorld):
    """Lamps that are turned on one by one, for good, and a switch to and fro."""

    id, actions = "Lamps-v0", ("switch", "first", "second")
    space = sf.Space(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(3)))
    one_way = ("lamp_1", "lamp_2")

    def reset(self, key):
        return jax.random.bernoulli(key, shape=(3,)).astype(jnp.int32)

    def step(self, key, state, action):
        on = jnp.arange(3) == action
        return jnp.where(on, jnp.where(action == 0, 1 - state, 1), state)


class Point(JaxWorld):
    """A point on a square, with a clock that nothing stops."""

    id, actions = "Point-v0", ("x", "y")
    space = sf.Space(
        (sf.Variable("at", low=(-1, -1), high=(1, 1)), sf.Variable("post", low=(0,), high=(1,)))
    )
    action_low, action_high = (-0.1, -0.1), (0.1, 0.1)
    fixed = ("post",)

    def reset(self, key):
        return jax.random.uniform(key, (3,))

    def step(self, key, state, action):
        return jnp.concatenate([jnp.clip(state[:2] + action, -1, 1), state[2:]])


def test_complete_worlds_pass():
    check_world(Lamps())
    check_world(Point())
    assert Point().goals == ("at",)
    assert repr(Point()) == "<Point-v0: 2 action dimensions, at (2) × post (1)>"
    assert Point().draw([0.5, -0.25, 1]) == "at=(0.5, -0.25)\npost=1"


RNG = np.random.default_rng(0)


def off(values):
    return values.at[2].set(0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"one_way": ("lamp_0",)}, "lamp_0 is declared one_way, but returned"),
        ({"one_way": ("lamp",)}, "one_way names 'lamp', which is not a variable"),
        ({"goals": ("lamp",)}, "goals names 'lamp', which is not a variable"),
        ({"settings": {"a": object()}}, "cannot be stored as JSON"),
        ({"draw": lambda self, state: None}, "draw returns None"),
        ({"place": lambda self, key, values: off(values)}, "place does not keep lamp_2"),
        ({"values": lambda self, state: state * 1.0}, "values must be int32 of shape"),
        ({"values": lambda self, state: state + 1}, "lamp_0 has value indices 1 to 2"),
        ({"step": lambda self, key, state, action: state[:2]}, "all states must have the same structure"),
        ({"step": lambda self, key, state, action: (state + int(RNG.integers(10**6))) % 2},
         "step differs between two traces"),
        ({"step_limit": 0}, "step limit is 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(changes, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        check_world(type("Broken", (Lamps,), changes)())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"action_low": (-1.0,)}, "need 2 numbers"),
        ({"action_low": (0.1, -0.1)}, "x ranges from 0.1 to 0.1"),
        ({"fixed": ("nothing",)}, "fixed names 'nothing'"),
        ({"values": lambda self, state: state[:2]}, r"values must be float32 of shape \(3,\)"),
        ({"step": lambda self, key, state, action: state[:2]}, "the same structure"),
        ({"step": lambda self, key, state, action: state + 1}, "outside its bounds"),
        ({"step": lambda self, key, state, action: state * jnp.nan}, "not finite"),
        ({"step": lambda self, key, state, action: state * 0.5}, "declared fixed, but changes"),
    ],
)
def test_what_is_wrong_with_real_values_is_said(changes, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        check_world(type("Broken", (Point,), changes)())


@pytest.mark.parametrize(
    "use",
    [
        lambda world: sf.discover(world, "focused-vic", seed=0, learner="q-learning"),
        lambda world: sf.tabulate(world),
    ],
)
def test_what_needs_a_table_refuses_real_values(use):
    with pytest.raises(
        sf.UserError, match="has no table of its states, because its variables are real-valued"
    ):
        use(sf.make("two-rooms"))
