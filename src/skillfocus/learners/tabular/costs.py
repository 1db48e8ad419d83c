"""What a penalty costs, as arrays: between two states, and of every outcome of an action."""

from __future__ import annotations

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.objectives.penalties import Penalty

PAIRS_AT_ONCE = 1_000_000
"""Pairs of states looked at together."""


def between_states(
    mdp: TabularMDP, examples: np.ndarray, penalty: Penalty | None, watched: np.ndarray
) -> np.ndarray:
    """[now, then]: the penalty between two examples."""
    n = len(examples)
    if penalty is None:
        return np.zeros((n, n), dtype=np.float32)
    states = mdp.values[examples]
    given = np.empty((n, n), dtype=np.float32)
    rows = max(1, PAIRS_AT_ONCE // n)
    for first in range(0, n, rows):
        ends = states[first : first + rows]
        starts, repeated = np.tile(states, (len(ends), 1)), np.repeat(ends, n, axis=0)
        given[first : first + rows] = penalty(mdp.space, starts, repeated, watched).reshape(-1, n)
    return given


def of_outcomes(mdp: TabularMDP, penalty: Penalty | None, watched: np.ndarray) -> np.ndarray:
    """[s, a, m]: the penalty of each outcome's change."""
    shape = mdp.successors.shape
    if penalty is None:
        return np.zeros(shape, dtype=np.float32)
    before = np.broadcast_to(np.arange(shape[0])[:, None, None], shape).reshape(-1)
    after = mdp.successors.reshape(-1)
    given = penalty(mdp.space, mdp.values[before], mdp.values[after], watched)
    return given.reshape(shape).astype(np.float32)
