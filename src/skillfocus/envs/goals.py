"""What an environment asks for: where episodes start, what pays, and when they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.table import Table
from skillfocus.tasks import Task, task_of
from skillfocus.worlds.world import World

NEVER = 2**62
"""The cap of an episode that nothing cuts short."""
Start = str | Sequence[int] | None
"""A state as value indices, "random", or None for the task's own (random without a task)."""


class Goal(NamedTuple):
    starts: np.ndarray
    """Numbers of the states an episode may start in, all equally likely."""
    cap: int
    """The most primitive steps an episode may take."""
    pays: np.ndarray
    """[state]: whether entering it is rewarded."""
    true: np.ndarray
    """[state]: whether the true task is accomplished there, whatever pays."""
    over: np.ndarray
    """[state]: whether the episode ends there."""


def goal_of(world: World, table: Table, task: Task | str | None, start: Start) -> Goal:
    """The goal of a task; of the paper's task by the name of its reward, `true` or `proxy`, or by
    its own name, such as `treasure`; or of none."""
    final = np.zeros(table.n_states, dtype=bool)
    final[[table.number(state) for state in getattr(world, "final", ())]] = True
    if task is None:
        nothing = np.zeros(table.n_states, dtype=bool)
        return Goal(_starts(world, table, None, start, final), NEVER, nothing, nothing, final)
    kind = "true"
    if isinstance(task, str):
        name, task = task, task_of(world, table)
        if name not in ("true", "proxy", task.name):
            raise unknown("task", name, ("true", "proxy", task.name))
        kind = "proxy" if name == "proxy" else "true"
    if len(task.true) != table.n_states:
        raise UserError(
            f"the task {task.name} is for {len(task.true):,} states, {world.id} has "
            f"{table.n_states:,}: make it with the table of this world"
        )
    pays = task.reward(kind)
    over = pays | final
    return Goal(_starts(world, table, task, start, over), task.cap, pays, task.true, over)


def _starts(
    world: World, table: Table, task: Task | None, start: Start, over: np.ndarray
) -> np.ndarray:
    if isinstance(start, str) and start != "random":
        raise UserError(f"start is {start!r}; it must be 'random' or a state's value indices")
    if start is not None and not isinstance(start, str):
        return np.array([table.number(start)])
    if start is None and task is not None:
        return np.array([task.start])
    numbers = np.array(list(dict.fromkeys(table.number(state) for state in world.states())))
    open_ones = numbers[~over[numbers]]
    if not len(open_ones):
        raise UserError(f"every state that {world.id} starts from ends the episode at once")
    return open_ones
