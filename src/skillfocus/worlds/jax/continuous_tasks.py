"""The protocol of downstream tasks in continuous worlds.

A task computes rewards from the observations before and after every step. It may have a state of
its own, such as which landmarks are poisoned, and show it to the agent. This module does not
import JAX.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from skillfocus.worlds.jax.world import JaxWorld, jnp


class TaskStep(NamedTuple):
    """Rewards and next task state of one step."""

    state: Any
    """The task's next state."""
    reward: Any
    """The reward that the agent learns from, float32 []."""
    true_reward: Any
    """The true reward, float32 []; equal to `reward` unless that is a proxy."""


class ContinuousTask(ABC):
    """A task as functions of one episode; `jax.vmap` runs many.

    In every episode::

        world = task.make_world()
        state = world.reset(key)
        memory = task.reset(key, world.observation(state))
        for _ in range(task.episode_length):
            after = world.step(key, state, action)
            memory, reward, true_reward = task.step(
                key, memory, world.observation(state), world.observation(after)
            )

    An agent over skills observes the world's observation followed by `task.observation(memory)`,
    and its reward for a skill is the mean over the skill's steps.
    """

    name: str
    """Its name."""
    world: ClassVar[type[JaxWorld]]
    """The world."""
    world_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of the world in which the task is defined."""
    episode_length: ClassVar[int] = 1000
    """Steps of an episode."""
    skill_steps: ClassVar[int] = 50
    """Steps per skill. A return is the sum of rewards divided by this number."""
    observation_size: ClassVar[int]
    """Size of the task's part of the observation."""
    best_return: float
    """Upper bound of the return."""

    def make_world(self) -> JaxWorld:
        """Return the world, with the task's settings."""
        return self.world(**self.world_settings)

    @abstractmethod
    def reset(self, key: Any, observation: Any) -> Any:
        """Sample the task's initial state, given the first observation."""

    @abstractmethod
    def step(self, key: Any, state: Any, before: Any, after: Any) -> TaskStep:
        """Return rewards and the next state of the task.

        Args:
            key: A random key.
            state: The task's state.
            before: The observation before the world's step, float32 [observation_size of world].
            after: The observation after it.
        """

    @abstractmethod
    def observation(self, state: Any) -> Any:
        """Return the task's part of the observation, float32 [observation_size]."""


class TimedTask(ContinuousTask):
    """A task whose state is the number of steps taken, and which shows how much time is left."""

    observation_size = 1

    def reset(self, key: Any, observation: Any) -> Any:
        """Return the number of steps taken, int32 []."""
        del key, observation
        return jnp.int32(0)

    def observation(self, state: Any) -> Any:
        """Return the share of the episode that is over, float32 [1]."""
        return jnp.array([state / self.episode_length], jnp.float32)
