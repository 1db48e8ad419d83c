"""Tasks of worlds without a table, and the settings that agents learn them with.

A task in a JAX world with finite variables is a condition on values (`JaxTask`): its *proxy* reward
pays 1 once the success condition holds, its *true* reward if every side condition holds as well:
requirements that are left implicit. Tasks in continuous worlds are functions of observations
(`ContinuousTask`). This file imports no JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skillfocus.errors import UserError, check_ranges, unknown
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.jax.continuous_tasks import ContinuousTask
from skillfocus.worlds.jax.mini_behavior.tasks import TASKS
from skillfocus.worlds.jax.world import JaxWorld

Condition = Callable[[Any], Any]
"""Function from value indices, int [..., n_variables], to bool [...]."""
RewardKind = Literal["proxy", "true"]


@dataclass(frozen=True, eq=False)
class JaxTask:
    """A task of a JAX world.

        task = JaxTask("lamp", lambda values: values[..., 3] == 1, episode_length=50)

    Attributes:
        name: Its name.
        success: The success condition, which earns the proxy reward.
        episode_length: Steps after which an episode is truncated.
        side_conditions: Conditions that should also hold when an episode ends, by name.
        start: Value indices of the first state; None for the world's `reset`.
    """

    name: str
    success: Condition
    episode_length: int
    side_conditions: Mapping[str, Condition] = field(default_factory=dict)
    start: State | None = None

    def __post_init__(self) -> None:
        if self.episode_length < 1:
            raise UserError(
                f"episode_length of the task {self.name} must be at least 1, got "
                f"{self.episode_length}"
            )

    def true_success(self, values: Any) -> Any:
        """Return whether values meet the success and every side condition, bool [...]."""
        holds = self.success(values)
        for condition in self.side_conditions.values():
            holds = holds & condition(values)
        return holds

    def reset(self, world: JaxWorld, key: Any) -> Any:
        """Return the world's state at the start of an episode."""
        if self.start is None:
            return world.reset(key)
        import jax.numpy as jnp

        return world.place(key, jnp.array(self.start, jnp.int32))


def household_task(name: str) -> JaxTask:
    """Return a task of Mini-BEHAVIOR: "install-printer", "thaw-fish", "clean-car", …

    It has the benchmark's first state, regardless of the world's `starts`.

    Raises:
        UserError: If there is no such task.
    """
    if name not in TASKS:
        raise unknown("task", name, TASKS)
    task = TASKS[name]
    world = task.world()
    return JaxTask(name, task.success, world.episode_length, task.side_conditions, world.task_start)


# -------------------- Settings of value learning over options (see `option_learning`)


@dataclass(frozen=True)
class OptionLearning:
    """Settings of value learning over options.

    Attributes:
        steps: Primitive training steps of all environments together.
        environments: Number of parallel environments.
        reward: The task's "proxy" or "true" reward.
        interrupt: Whether the reward ends an episode at once; otherwise the current
            skill runs to its end first, so that it can undo side effects: the proxy reward is paid
            when success first holds, the true one if it holds when the option ends.
        gamma: Discount per primitive step.
        hidden: Width of the two hidden layers.
        learning_rate: Initial learning rate of Adam.
        last_rate: Final learning rate, reached by cosine decay.
        adam_epsilon: Adam's epsilon. Gradients are tiny before the first reward, and must not be
            scaled up to full steps.
        slow_rate: Step size of the target network, which also acts.
        advantage: Weight of the advantage-learning term, in [0, 1).
        double: Whether to use double Q-learning: the fast network selects the next option, the slow
            one evaluates it.
        memory: Capacity of the replay buffer, in decisions.
        rewarded: Capacity of the buffer of rewarded episodes, in decisions.
        rewarded_share: Share of each batch sampled from the latter. In stochastic worlds this is
            biased towards lucky outcomes; 0 is not.
        trace: Latest decisions of a rewarded episode that are kept.
        batch: Decisions per update.
        updates: Updates per step of all environments.
        evaluations: Number of evaluations of the greedy agent, evenly spaced.
        evaluation_episodes: Episodes per evaluation, except the last.
        final_episodes: Episodes of the last evaluation.
    """

    steps: int = 1_000_000
    environments: int = 128
    reward: RewardKind = "proxy"
    interrupt: bool = False
    gamma: float = 0.99
    hidden: int = 128
    learning_rate: float = 1e-3
    last_rate: float = 1e-4
    adam_epsilon: float = 1e-5
    slow_rate: float = 0.02
    advantage: float = 0.8
    double: bool = True
    memory: int = 100_000
    rewarded: int = 20_000
    rewarded_share: float = 0.25
    trace: int = 64
    batch: int = 512
    updates: int = 1
    evaluations: int = 20
    evaluation_episodes: int = 16
    final_episodes: int = 1000

    def __post_init__(self) -> None:
        if self.reward not in ("proxy", "true"):
            raise UserError(f"the reward must be 'proxy' or 'true', got {self.reward!r}")
        if not 0 < self.gamma <= 1:
            raise UserError(f"gamma must be in (0, 1], got {self.gamma}")
        for name in ("advantage", "rewarded_share"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        counts = (
            "steps", "environments", "hidden", "rewarded", "trace", "batch", "updates",
            "evaluations", "evaluation_episodes", "final_episodes",
        )  # fmt: skip
        check_ranges(self, {"at least 1": counts})
        if self.memory < self.environments:
            raise UserError(
                f"memory must be at least the number of environments, {self.environments}, got "
                f"{self.memory}"
            )

    @property
    def iterations(self) -> int:
        """Steps of each environment between evaluations."""
        return -(-self.steps // (self.environments * self.evaluations))


def tasks_of(world: World) -> list[ContinuousTask]:
    """Return the tasks of a continuous world."""
    from skillfocus.worlds.jax.dusdi.tasks import TASKS as DUSDI_TASKS  # they need JAX
    from skillfocus.worlds.jax.two_rooms import TASKS as ROOM_TASKS

    tasks = (*DUSDI_TASKS.values(), *ROOM_TASKS.values())
    return [task for task in tasks if isinstance(world, task.world)]
