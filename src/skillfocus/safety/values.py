"""Exact discounted values of many rewards or targets at once.

    reachability    R(x -> y) = max over policies of E[gamma^steps until y], 0 if never
    optimal_values  V(s) = (1 - gamma) r(s) + gamma max_a E[V(s')], in [0, 1] for r in [0, 1]

Both use value iteration with the planner's kernel, one column per target or reward. Hidden marks
count as not set.
"""

from __future__ import annotations

import numpy as np

from skillfocus._internal.memory import require_memory
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.learners.tabular.sweeps import Backup, new_stamps, sweep
from skillfocus.learners.tabular.value_iteration import BLOCK

GAMMA = 0.95
"""Default discount of values that penalties and measures compare."""
TOLERANCE = 1e-6
"""Value iteration stops when no value changes by more."""


def reachability(
    mdp: TabularMDP, gamma: float = GAMMA, targets: np.ndarray | None = None
) -> np.ndarray:
    """Return the reachability of target states from every state.

    Args:
        mdp: The world's MDP.
        gamma: Discount per step, above 0 and below 1.
        targets: The states y, int [n_targets] (default: all, with memory quadratic in the number of
            states).

    Returns:
        R(x -> y) = max over policies of E[gamma^steps], float32 [n_states, n_targets].

    Raises:
        UserError: If gamma is out of range, or the result does not fit in memory.
    """
    targets = np.arange(mdp.n_states) if targets is None else targets
    require_memory(
        4 * mdp.n_states * len(targets),
        "reachabilities of all pairs of states",
        "pass fewer targets",
    )
    out = np.zeros((mdp.n_states, len(targets)), dtype=np.float32)
    for first in range(0, len(targets), BLOCK):
        chosen = targets[first : first + BLOCK]
        there = np.zeros((mdp.n_states, len(chosen)), dtype=np.float32)
        there[chosen, np.arange(len(chosen))] = 1.0
        out[:, first : first + BLOCK] = _solve(mdp, there, gamma, earned=0.0)
    return out


def optimal_values(mdp: TabularMDP, rewards: np.ndarray, gamma: float = GAMMA) -> np.ndarray:
    """Return the optimal values of state rewards, normalized by 1 - gamma.

    Args:
        mdp: The world's MDP.
        rewards: [n_states, n_rewards], 0 or more.
        gamma: Discount per step, above 0 and below 1.

    Returns:
        V(s) = (1 - gamma) r(s) + gamma max_a E[V(s')], float32 [n_states, n_rewards].
    """
    if (rewards < 0).any():
        raise UserError("rewards must be 0 or more; add a constant to them")
    rewards = np.ascontiguousarray(rewards, dtype=np.float32)
    out = np.empty_like(rewards)
    for first in range(0, rewards.shape[1], BLOCK):
        block = np.ascontiguousarray(rewards[:, first : first + BLOCK])
        out[:, first : first + BLOCK] = _solve(mdp, block, gamma, earned=1 - gamma)
    return out


def _solve(mdp: TabularMDP, stop: np.ndarray, gamma: float, earned: float) -> np.ndarray:
    """Solve v = max(k stop, e stop + gamma max_a E[v]) with e = `earned`, and k = e or, if 0, 1."""
    if not 0 < gamma < 1:
        raise UserError(f"gamma is {gamma}; it must be above 0 and below 1")
    padding = ((0, 0), (0, 0), (0, -mdp.successors.shape[2] % 4))
    backup = Backup(
        np.ascontiguousarray(np.pad(mdp.successors, padding)),
        np.pad(mdp.probabilities, padding).astype(np.float32),
        np.zeros(mdp.successors.shape[:2], dtype=np.float32),
        np.float32(gamma), np.float32(gamma), np.float32(earned), np.float32(earned or 1.0),
    )  # fmt: skip
    values = np.float32(earned or 1.0) * stop
    number, n, stamps = 0, len(values), new_stamps(len(values))
    while sweep(values, stop, backup, number % 2 == 1, stamps, number * n) > TOLERANCE:
        number += 1
    return values
