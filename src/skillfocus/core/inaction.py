"""Inaction: what a world does by itself while an agent does nothing.

The no-op is the action with one of the names `NOOPS`. A world without such an action is taken to
stand still when nobody acts, as the paper's three do. Hidden marks count as not set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skillfocus.core.mdp import TabularMDP

NOOPS = ("stay", "noop", "no-op", "wait", "nothing")
"""Names of an action that does nothing."""


class Inaction(NamedTuple):
    """Where each state leads if nobody acts."""

    successors: np.ndarray
    """int32 [n_states, n_outcomes]"""
    probabilities: np.ndarray
    """float64 [n_states, n_outcomes]: 0 marks padding."""


def noop_action(mdp: TabularMDP) -> int | None:
    """Return the action that does nothing; None if there is none."""
    named = [a for a, name in enumerate(mdp.actions) if name.lower() in NOOPS]
    return named[0] if named else None


def inaction(mdp: TabularMDP) -> Inaction:
    """Return where each state leads if nobody acts."""
    noop = noop_action(mdp)
    if noop is None:
        return Inaction(
            np.arange(mdp.n_states, dtype=np.int32)[:, None], np.ones((mdp.n_states, 1))
        )
    return Inaction(mdp.successors[:, noop], mdp.probabilities[:, noop])


def moves_by_itself(mdp: TabularMDP) -> np.ndarray:
    """Return which variables change in some state though nobody acts, bool [n_variables]."""
    successors, probabilities = inaction(mdp)
    changed = mdp.values[successors] != mdp.values[:, None, :]
    return (changed & (probabilities > 0)[:, :, None]).any(axis=(0, 1))


def after_inaction(mdp: TabularMDP, start: int, steps: int) -> np.ndarray:
    """Return how likely each state is after 0 to `steps` steps without acting.

    Args:
        mdp: The world's MDP.
        start: The first state.
        steps: The number of steps.

    Returns:
        float64 [steps + 1, n_states]
    """
    successors, probabilities = inaction(mdp)
    rows = np.zeros((steps + 1, mdp.n_states))
    rows[0, start] = 1.0
    for t in range(steps):
        np.add.at(rows[t + 1], successors, probabilities * rows[t][:, None])
    return rows
