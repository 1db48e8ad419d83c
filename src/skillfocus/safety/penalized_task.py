"""Penalized tasks: a task's reward minus a cost of side effects.

    r - beta d(s'; b)    for every step into a state s', with b the baseline state

The baseline `start` is the first state, `inaction` the state after as many no-op steps (if that is
random, in expectation), and `stepwise` the outcome of the no-op in the previous state. Agents over
primitive actions and over skills share a `PenalizedTask`, planned (`planning.py`) or learned
(`q_learning.py`); a skill pays for each of its steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skillfocus.core.inaction import after_inaction, inaction
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError, unknown
from skillfocus.objectives.penalties import BASELINES
from skillfocus.safety.distances import Distance
from skillfocus.tasks.task import Task


@dataclass(frozen=True, eq=False)
class PenalizedTask:
    """A task with the costs of its steps; made by `penalize`.

    Costs depend on time through *phases*: sets of time steps with the same baseline.
    """

    task: Task
    done: np.ndarray
    """States in which the reward, 1, is paid, bool [n_states]."""
    strength: float
    """Factor beta of the costs."""
    entering: np.ndarray
    """Cost of entering a state in a phase, float64 [n_phases, n_states]."""
    moving: np.ndarray
    """Cost of an outcome of an action, float64 [n_states, n_actions, n_outcomes]."""
    phases: np.ndarray
    """Phase after each number of steps, int64 [max_episode_steps + 1]."""

    def with_strength(self, strength: float) -> PenalizedTask:
        """Return the same task with another strength."""
        if not strength >= 0:
            raise UserError(f"the penalty's strength is {strength}; it must be 0 or more")
        return replace(self, strength=strength)


def penalize(
    mdp: TabularMDP,
    task: Task,
    distance: Distance | None = None,
    baseline: str = "start",
    strength: float = 1.0,
    reward: str = "proxy",
) -> PenalizedTask:
    """Return a task with a penalty on side effects.

    Args:
        mdp: The world's MDP.
        task: The task.
        distance: The distance from the baseline; None for no penalty.
        baseline: "start", "inaction" or "stepwise".
        strength: Factor beta.
        reward: The reward to penalize, "true" or "proxy".

    Raises:
        UserError: If an argument is unknown or out of range.
    """
    if baseline not in BASELINES:
        raise unknown("baseline", baseline, BASELINES)
    entering = np.zeros((1, mdp.n_states))
    moving = np.zeros(mdp.successors.shape)
    phases = np.zeros(task.max_episode_steps + 1, dtype=np.int64)
    if distance is None:
        pass
    elif baseline == "stepwise":
        moving = _stepwise(mdp, distance)
    else:
        steps = task.max_episode_steps if baseline == "inaction" else 0
        baselines, following = np.unique(
            after_inaction(mdp, task.start, steps), axis=0, return_inverse=True
        )
        phases[: steps + 1] = following.reshape(-1)
        entering = np.stack([_expected(mdp, distance, row) for row in baselines])
    made = PenalizedTask(task, task.reward(reward), 0.0, entering, moving, phases)
    return made.with_strength(strength)


def _expected(mdp: TabularMDP, distance: Distance, baselines: np.ndarray) -> np.ndarray:
    """Return the distance of every state from a random baseline, float64 [n_states]."""
    total, everywhere = np.zeros(mdp.n_states), np.arange(mdp.n_states)
    for b in np.flatnonzero(baselines):
        total += baselines[b] * distance.between(everywhere, np.full(mdp.n_states, b))
    return total


def _stepwise(mdp: TabularMDP, distance: Distance) -> np.ndarray:
    """Return the distance of each outcome from that of the no-op, shaped like `moving`."""
    shape = mdp.successors.shape
    if distance.of_actions is not None:
        return np.broadcast_to(distance.of_actions[:, :, None], shape).copy()
    successors, probabilities = inaction(mdp)
    costs = np.zeros(shape)
    for slot in range(successors.shape[1]):
        baselines = np.broadcast_to(successors[:, slot, None, None], shape)
        each = distance.between(mdp.successors.ravel(), baselines.ravel()).reshape(shape)
        costs += probabilities[:, slot, None, None] * each
    return costs
