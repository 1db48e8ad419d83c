"""Particles, against recordings of the original and by hand."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from dusdi_recordings import actions_of, particles_state, recording, replay
from skillfocus.errors import UserError
from skillfocus.worlds.jax.dusdi.worlds import Particles, ParticlesState

KEY = jax.random.key(0)
WORLD = Particles()


@pytest.mark.parametrize("name", ["random", "scripted"])
def test_replays_recorded_trajectories(name):
    recorded = recording("particle")
    actions = actions_of(recorded[f"{name}/levels"], WORLD)
    replayed = replay(WORLD, particles_state(recorded[f"{name}/first"]), actions)
    np.testing.assert_allclose(replayed[0], recorded[f"{name}/first"], atol=1e-6)
    np.testing.assert_allclose(replayed[::10, :50], recorded[f"{name}/every_tenth"], atol=2e-4)
    assert (replayed[:, 50:] == replayed[0, 50:]).all()


def test_moves_before_it_speeds_up():
    world = Particles(agents=1)
    state = ParticlesState(jnp.zeros((1, 2)), jnp.array([[0.4, -0.8]]), jnp.array([[0.3, 0.4]]))
    after = world.step(KEY, state, jnp.array([1.0, -2.0]))
    np.testing.assert_allclose(after.position, [[0.04, -0.08]], atol=1e-7)
    np.testing.assert_allclose(after.velocity, [[0.3 + 0.5, -0.6 - 0.5]], atol=1e-6)  # -2 is -1
    np.testing.assert_allclose(world.values(state), [0.5], atol=1e-7)


def test_edges_stop_positions_only():
    world = Particles(agents=1)
    state = ParticlesState(jnp.array([[0.95, 0.0]]), jnp.array([[2.0, 0.0]]), jnp.zeros((1, 2)))
    after = world.step(KEY, state, jnp.zeros(2))
    np.testing.assert_allclose(after.position, [[1.0, 0.0]])
    np.testing.assert_allclose(after.velocity, [[1.5, 0.0]])


def test_starts_at_rest_anywhere():
    states = jax.jit(jax.vmap(WORLD.reset))(jax.random.split(KEY, 500))
    assert (states.velocity == 0).all()
    for places in (states.position, states.landmark):
        np.testing.assert_allclose(places.mean(axis=(0, 1)), [0, 0], atol=0.05)
        assert places.min() < -0.99
        assert places.max() > 0.99


def test_place_and_wrong_numbers_are_refused():
    with pytest.raises(UserError, match="cannot be set"):
        WORLD.place(KEY, jnp.zeros(10))
    for agents, reason in ((0, "at least one"), (101, "at most 100")):
        with pytest.raises(UserError, match=reason):
            Particles(agents)
