"""Trajectories of DUSDi's worlds, recorded once (tests/data/dusdi)."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paths import ROOT
from skillfocus.worlds.jax.dusdi.worlds import ParticlesState
from skillfocus.worlds.jax.world import JaxWorld

FOLDER = ROOT / "tests" / "data" / "dusdi"
LEVELS = np.float32(127)


@cache
def recording(name: str) -> dict[str, np.ndarray]:
    """Read a file's arrays."""
    with np.load(FOLDER / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def actions_of(levels: np.ndarray, world: JaxWorld) -> np.ndarray:
    """Return recorded levels as actions, float32 [..., n_action_dims]."""
    return levels.astype(np.float32) / LEVELS * np.array(world.action_high, np.float32)


def replay(world: JaxWorld, start: Any, actions: np.ndarray) -> np.ndarray:
    """Return the observations from a start on, float32 [n_steps + 1, observation_size]."""

    @jax.jit
    def run(state: Any, actions: jax.Array) -> jax.Array:
        def advance(state: Any, action: jax.Array) -> tuple[Any, jax.Array]:
            after = world.step(jax.random.key(0), state, action)
            return after, world.observation(after)

        return jax.lax.scan(advance, state, actions)[1]

    later = run(start, jnp.asarray(actions))
    return np.concatenate([np.asarray(world.observation(start))[None], later])


def particles_state(observation: np.ndarray) -> ParticlesState:
    """Return the state of an observation of ten particles, float32 [70]."""
    moving = observation[10:50].reshape(10, 4)
    landmark = observation[50:].reshape(10, 2)
    return ParticlesState(*map(jnp.asarray, (moving[:, 2:], moving[:, :2], landmark)))
