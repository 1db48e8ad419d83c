"""Goals: where an environment's episodes start, what is rewarded, and when they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.tasks.short_forms import ShortTask, as_task
from skillfocus.tasks.task import Task

NEVER = 2**62
"""`max_episode_steps` of episodes that are never truncated."""
Start = str | Sequence[int] | None
"""A state as value indices, "random", or None for the task's start (random without a task)."""


class Goal(NamedTuple):
    """A task, or none, as an environment plays it."""

    starts: np.ndarray
    """int [n_starts]: numbered states, one of which is drawn uniformly at reset."""
    max_episode_steps: int
    """Primitive steps after which an episode is truncated."""
    rewarded: np.ndarray
    """bool [n_states]: whether entering the state earns reward 1."""
    success: np.ndarray
    """bool [n_states]: whether the true task is accomplished, whichever reward is paid."""
    terminal: np.ndarray
    """bool [n_states]: whether the state terminates the episode."""


def make_goal(world: World, mdp: TabularMDP, task: ShortTask | None, start: Start) -> Goal:
    """Return the goal of a task.

    Args:
        world: The world to play in.
        mdp: Its MDP.
        task: A task made from `mdp`; or the world's own task, by its name (such as "treasure") or
            by the reward to pay, "true" or "proxy"; or a condition, as `solve` takes it; or None
            for no reward and no truncation.
        start: Where episodes start, see `Start`.

    Raises:
        UserError: If the task is unknown or for another world, or if `start` is not valid.
    """
    final = np.zeros(mdp.n_states, dtype=bool)
    final[[mdp.number(state) for state in world.final_states]] = True
    if task is None:
        nowhere = np.zeros(mdp.n_states, dtype=bool)
        return Goal(_starts(world, mdp, None, start, final), NEVER, nowhere, nowhere, final)
    task, reward = as_task(task, mdp, world)
    if len(task.true) != mdp.n_states:
        raise UserError(
            f"the task {task.name} is for {len(task.true):,} states, {world.id} has "
            f"{mdp.n_states:,}: make it with the MDP of this world"
        )
    rewarded = task.reward(reward)
    terminal = rewarded | final
    starts = _starts(world, mdp, task, start, terminal)
    return Goal(starts, task.max_episode_steps, rewarded, task.true, terminal)


def _starts(
    world: World, mdp: TabularMDP, task: Task | None, start: Start, terminal: np.ndarray
) -> np.ndarray:
    """Return `Goal.starts`; random starts are the world's, without terminal states."""
    if isinstance(start, str) and start != "random":
        raise UserError(f"start must be 'random' or a state's value indices, got {start!r}")
    if start is not None and not isinstance(start, str):
        return np.array([mdp.number(start)])
    if start is None and task is not None:
        return np.array([task.start])
    numbers = np.array(list(dict.fromkeys(mdp.number(state) for state in world.states())))
    starts = numbers[~terminal[numbers]]
    if not len(starts):
        raise UserError(
            f"every state that {world.id} starts from ends the episode at once: pass start=…"
        )
    return starts
