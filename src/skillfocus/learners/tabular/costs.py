"""Penalties as arrays: between two states, and of every outcome of an action."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skillfocus.core.inaction import inaction, moves_by_itself
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.objectives.penalties import Penalty, StatePenalty

PAIRS_AT_ONCE = 1_000_000
"""Pairs of states compared at a time, to bound memory."""


class PenaltyParts(NamedTuple):
    """When a penalty is paid for which of a skill's watched variables, bool [n_variables] each."""

    remembered: np.ndarray
    """Variables whose start value the penalty needs to know at the end."""
    at_end: np.ndarray
    """Variables that are compared when the skill ends."""
    at_steps: np.ndarray
    """Variables that are charged when they change; with a baseline, when they change otherwise than
    by themselves."""


def split_penalty(mdp: TabularMDP, penalty: Penalty | None, watched: np.ndarray) -> PenaltyParts:
    """Return when a penalty is paid for which variables.

    Args:
        mdp: The MDP.
        penalty: The penalty; None costs nothing.
        watched: bool [n_variables], variables that must not change.

    Raises:
        UserError: If a penalty on whole states has the baseline stepwise.
    """
    if penalty is None:
        return PenaltyParts(watched, watched, np.zeros_like(watched))
    remembered = penalty.compared_with_start(watched, mdp.reversible)
    moving = watched & moves_by_itself(mdp) if penalty.baseline != "start" else watched & False
    if not moving.any():
        return PenaltyParts(remembered, watched & remembered, watched & ~remembered)
    if penalty.baseline == "inaction":  # the whole start state says what becomes of it
        at_end = watched & (remembered | moving)
        return PenaltyParts(np.ones_like(watched), at_end, watched & ~at_end)
    if isinstance(penalty, StatePenalty):
        raise UserError(
            f"{penalty.name} compares whole states, which have no steps of single variables; use "
            f"baseline='inaction'"
        )
    remembered = remembered & ~moving
    return PenaltyParts(remembered, watched & remembered, watched & ~remembered)


def inaction_reaches(mdp: TabularMDP) -> np.ndarray:
    """Return the states that can follow each one while nobody acts, itself included.

    Returns:
        bool [n_states, n_states]
    """
    successors, probabilities = inaction(mdp)
    reached = np.eye(mdp.n_states, dtype=bool)
    while True:
        wider = reached.copy()
        for slot in range(successors.shape[1]):
            possible = probabilities[:, slot] > 0
            wider[possible] |= reached[successors[possible, slot]]
        if np.array_equal(wider, reached):
            return reached
        reached = wider


def against_inaction(mdp: TabularMDP, penalty: Penalty, watched: np.ndarray) -> np.ndarray:
    """Return the penalty of ending in a state, against the nearest that inaction leads to.

    Args:
        mdp: The MDP.
        penalty: The penalty.
        watched: bool [n_variables], variables that must not change.

    Returns:
        float32 [n_states, n_states], indexed [end, start].
    """
    from_state = between_states(mdp, np.arange(mdp.n_states), penalty, watched)
    costs = np.empty_like(from_state)
    for start, reached in enumerate(inaction_reaches(mdp)):
        costs[:, start] = from_state[:, reached].min(axis=1)
    return costs


def between_states(
    mdp: TabularMDP, examples: np.ndarray, penalty: Penalty | None, watched: np.ndarray
) -> np.ndarray:
    """Return the penalty of ending in one example having started in another.

    Args:
        mdp: The MDP.
        examples: int [n], state numbers.
        penalty: The penalty; None costs nothing.
        watched: bool [n_variables], variables that must not change.

    Returns:
        float32 [n, n], indexed [end, start].
    """
    n = len(examples)
    if penalty is None:
        return np.zeros((n, n), dtype=np.float32)
    costs = np.empty((n, n), dtype=np.float32)
    rows = max(1, PAIRS_AT_ONCE // n)
    for first in range(0, n, rows):
        ends = examples[first : first + rows]
        starts, repeated = np.tile(examples, len(ends)), np.repeat(ends, n)
        costs[first : first + rows] = _penalties(penalty, mdp, starts, repeated, watched).reshape(
            -1, n
        )
    return costs


def _penalties(
    penalty: Penalty, mdp: TabularMDP, starts: np.ndarray, ends: np.ndarray, watched: np.ndarray
) -> np.ndarray:
    """Return the penalties [n] between states, checked: the measure may be a user's.

    Raises:
        UserError: If the measure raises, or returns anything but finite numbers, 0 or more.
    """
    try:
        costs = np.asarray(penalty.between(mdp, starts, ends, watched))
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"the penalty {penalty.name} does not work: {type(error).__name__}: {error}"
        ) from error
    if costs.shape != starts.shape or costs.dtype.kind not in "fiub":
        raise UserError(
            f"the penalty {penalty.name} must return one number per pair of states, an array "
            f"[{len(starts)}], got {costs.dtype} {list(costs.shape)}"
        )
    if len(costs) and not (costs.min() >= 0 and np.isfinite(costs.max())):
        row = int(np.argmin(np.isfinite(costs) & (costs >= 0)))
        before, after = (mdp.space.labels(mdp.values[each[row]]) for each in (starts, ends))
        raise UserError(
            f"the penalty {penalty.name} is {costs[row]} from {before} to {after}; it must be 0 or "
            f"more and finite"
        )
    return costs


def of_outcomes(mdp: TabularMDP, penalty: Penalty | None, watched: np.ndarray) -> np.ndarray:
    """Return the penalty of each outcome's change, float32 [n_states, n_actions, n_outcomes].

    Args:
        mdp: The MDP.
        penalty: The penalty; None costs nothing. With the baseline stepwise, an outcome is compared
            with what would have followed without acting, the nearest if that is random.
        watched: bool [n_variables], variables that must not change.
    """
    shape = mdp.successors.shape
    if penalty is None or not watched.any():
        return np.zeros(shape, dtype=np.float32)
    if penalty.baseline != "stepwise":
        return _outcome_costs(mdp, penalty, watched, np.arange(shape[0]))
    successors, probabilities = inaction(mdp)
    costs = np.full(shape, np.inf, dtype=np.float32)
    for slot in range(successors.shape[1]):
        each = _outcome_costs(mdp, penalty, watched, successors[:, slot])
        each[probabilities[:, slot] == 0] = np.inf
        costs = np.minimum(costs, each)
    return costs


def _outcome_costs(
    mdp: TabularMDP, penalty: Penalty, watched: np.ndarray, baselines: np.ndarray
) -> np.ndarray:
    """Return the penalty of each outcome against one state per state, as `of_outcomes` does."""
    shape = mdp.successors.shape
    before = np.broadcast_to(baselines[:, None, None], shape).reshape(-1)
    costs = _penalties(penalty, mdp, before, mdp.successors.reshape(-1), watched)
    return costs.reshape(shape).astype(np.float32)
