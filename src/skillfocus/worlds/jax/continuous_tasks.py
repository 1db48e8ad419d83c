"""The protocol of downstream tasks in continuous worlds: what earns a reward, step by step.

A task sees observations, not states: one before and one after every step. What it remembers
besides, such as which landmarks are poisoned, is a state of its own, which it may show to the
agent. This file imports no JAX.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from skillfocus.worlds.jax.continuous import ContinuousWorld


class TaskStep(NamedTuple):
    """What a task makes of one step of the world."""

    state: Any
    """The task's next state."""
    reward: Any
    """What the agent is told, float32 []."""
    true_reward: Any
    """What was meant, float32 []; the same unless the reward is a proxy."""


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

    A policy over skills sees the world's observation followed by `task.observation(memory)`, and
    earns the mean reward of each skill's steps.
    """

    name: str
    """Its name."""
    world: ClassVar[type[ContinuousWorld]]
    """The world."""
    world_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of the world in which the task is defined."""
    episode_length: ClassVar[int] = 1000
    """Steps of an episode."""
    skill_steps: ClassVar[int] = 50
    """Steps of a skill: a return is the sum of the rewards over this number."""
    observation_size: ClassVar[int]
    """How many numbers the task adds to the observation."""
    best_return: float
    """No policy has a higher return."""

    def make_world(self) -> ContinuousWorld:
        """Return the world in which episodes of the task start where they should."""
        return self.world(**self.world_settings)

    @abstractmethod
    def reset(self, key: Any, observation: Any) -> Any:
        """Draw the task's state at the start of an episode, from the first observation."""

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
        """Return what the task adds to the observation, float32 [observation_size]."""

    def episode_return(self, rewards: Any) -> Any:
        """Return the return of episodes, float [...], from rewards, float [..., n_steps]."""
        return rewards.sum(axis=-1) / self.skill_steps
