"""Penalties as arrays: between two states, and of every outcome of an action."""

from __future__ import annotations

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.objectives.penalties import Penalty

PAIRS_AT_ONCE = 1_000_000
"""Pairs of states compared at a time, to bound memory."""


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
        penalty: The penalty; None costs nothing.
        watched: bool [n_variables], variables that must not change.
    """
    shape = mdp.successors.shape
    if penalty is None or not watched.any():
        return np.zeros(shape, dtype=np.float32)
    before = np.broadcast_to(np.arange(shape[0])[:, None, None], shape).reshape(-1)
    costs = _penalties(penalty, mdp, before, mdp.successors.reshape(-1), watched)
    return costs.reshape(shape).astype(np.float32)
