"""What an environment asks for: where episodes start, what pays, and when they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.errors import UserError, unknown
from skillfocus.tasks.task import Task, task_of

NEVER = 2**62
"""The cap of an episode that nothing cuts short."""
Start = str | Sequence[int] | None
"""A state as value indices, "random", or None for the task's own (random without a task)."""


class Goal(NamedTuple):
    starts: np.ndarray
    """Numbers of the states an episode may start in, all equally likely."""
    max_episode_steps: int
    """The most primitive steps an episode may take."""
    pays: np.ndarray
    """[state]: whether entering it is rewarded."""
    true: np.ndarray
    """[state]: whether the true task is accomplished there, whatever pays."""
    over: np.ndarray
    """[state]: whether the episode ends there."""


def goal_of(world: World, mdp: TabularMDP, task: Task | str | None, start: Start) -> Goal:
    """The goal of a task; of the paper's task by the name of its reward, `true` or `proxy`, or by
    its own name, such as `treasure`; or of none."""
    final = np.zeros(mdp.n_states, dtype=bool)
    final[[mdp.number(state) for state in world.final_states]] = True
    if task is None:
        nothing = np.zeros(mdp.n_states, dtype=bool)
        return Goal(_starts(world, mdp, None, start, final), NEVER, nothing, nothing, final)
    kind = "true"
    if isinstance(task, str):
        name, task = task, task_of(world, mdp)
        if name not in ("true", "proxy", task.name):
            raise unknown("task", name, ("true", "proxy", task.name))
        kind = "proxy" if name == "proxy" else "true"
    if len(task.true) != mdp.n_states:
        raise UserError(
            f"the task {task.name} is for {len(task.true):,} states, {world.id} has "
            f"{mdp.n_states:,}: make it with the table of this world"
        )
    pays = task.reward(kind)
    over = pays | final
    return Goal(
        _starts(world, mdp, task, start, over), task.max_episode_steps, pays, task.true, over
    )


def _starts(
    world: World, mdp: TabularMDP, task: Task | None, start: Start, over: np.ndarray
) -> np.ndarray:
    if isinstance(start, str) and start != "random":
        raise UserError(f"start is {start!r}; it must be 'random' or a state's value indices")
    if start is not None and not isinstance(start, str):
        return np.array([mdp.number(start)])
    if start is None and task is not None:
        return np.array([task.start])
    numbers = np.array(list(dict.fromkeys(mdp.number(state) for state in world.states())))
    open_ones = numbers[~over[numbers]]
    if not len(open_ones):
        raise UserError(f"every state that {world.id} starts from ends the episode at once")
    return open_ones
