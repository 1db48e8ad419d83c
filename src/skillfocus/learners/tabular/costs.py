"""Penalties as arrays: between two states, and of every outcome of an action."""

from __future__ import annotations

import numpy as np

from skillfocus.core.mdp import TabularMDP
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
        costs[first : first + rows] = penalty.between(mdp, starts, repeated, watched).reshape(-1, n)
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
    costs = penalty.between(mdp, before, mdp.successors.reshape(-1), watched)
    return costs.reshape(shape).astype(np.float32)
