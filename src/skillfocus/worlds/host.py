"""Worlds that are stepped on the CPU, many environments at once.

A world in JAX is traced (`worlds/jax/world.py`); a foreign environment cannot be. A `HostWorld` has
the same variables and bounds, but its dynamics are in a batch of environments.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from skillfocus.world import World


class HostStep(NamedTuple):
    """What a step of a batch leads to. An environment that ends is reset in the same step."""

    observations: np.ndarray
    """What follows the actions, float32 [n, observation_size]: of an episode that ends, its last
    observation."""
    terminated: np.ndarray
    """Whether the episode ended because of what happened, bool [n]."""
    truncated: np.ndarray
    """Whether it ended because of its length, bool [n]."""
    next_observations: np.ndarray
    """Where the next actions are taken, float32 [n, observation_size]: the first observation of a
    new episode where one ended, else `observations`."""


class HostBatch(Protocol):
    """Environments that step together."""

    def reset_batch(self, seed: int) -> np.ndarray:
        """Reset all of them and return their observations, float32 [n, observation_size]."""
        ...

    def step_batch(self, actions: np.ndarray) -> HostStep:
        """Take one action in each, float32 [n, dimensions of an action] within their bounds."""
        ...

    def close(self) -> None:
        """Release what they hold."""
        ...


class HostWorld(World):
    """A world of real-valued variables and actions as batches of environments.

    Example::

        world = sf.make("gymnasium:Pendulum-v1", variables={"angle": [0, 2], "velocity": 2})
        batch = world.make_batch(16)
        observations = batch.reset_batch(seed=0)
        step = batch.step_batch(actions)
        world.space.changed(world.values(observations), world.values(step.observations))
    """

    def make_batch(self, n: int) -> HostBatch:
        """Return `n` environments, not reset yet."""
        raise NotImplementedError

    def values(self, observations: Any) -> Any:
        """Return the values of the variables, float [..., space.width], in observations."""
        raise NotImplementedError

    @property
    def has_table(self) -> bool:
        """No: its states are not enumerated."""
        return False
