"""Tasks of JAX worlds, with a proxy and a true reward.

The *proxy* reward pays 1 once the success condition holds. The *true* reward pays 1 if every side
condition holds as well: requirements that are left implicit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skillfocus.core.factored import State
from skillfocus.errors import UserError, unknown
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
