"""Downstream tasks of continuous worlds, by name and by world. This module imports JAX."""

from __future__ import annotations

from skillfocus.core.world import World
from skillfocus.worlds.jax.continuous_tasks import ContinuousTask
from skillfocus.worlds.jax.dusdi.tasks import TASKS as DUSDI_TASKS
from skillfocus.worlds.jax.two_rooms_tasks import TASKS as ROOM_TASKS

CONTINUOUS_TASKS: dict[str, ContinuousTask] = {**DUSDI_TASKS, **ROOM_TASKS}
"""The tasks by name."""


def tasks_of(world: World) -> list[ContinuousTask]:
    """Return the tasks of a world."""
    return [task for task in CONTINUOUS_TASKS.values() if isinstance(world, task.world)]
