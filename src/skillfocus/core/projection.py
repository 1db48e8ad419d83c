"""Projections: the dynamics of some variables alone, where the others make no difference to them.

Whether a tool is picked up makes no difference to where the agent walks, so what can happen to the
position and to another tool is told by a table without it, 2 or 1,000 times as small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from skillfocus.core.indexing import ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP

TOLERANCE = 1e-9
"""Expectations that differ by less are taken to be equal."""
_known: WeakKeyDictionary[TabularMDP, dict[frozenset[int], Projection]] = WeakKeyDictionary()
"""Projections that were made, by the variables needed."""


@dataclass(frozen=True, eq=False)
class Projection:
    """A Markov chain of actions on the values of some variables.

    Attributes:
        values: int32 [n_rows, n_variables], value indices of all variables; those that are
            projected out have any of their values.
        successors: int32 [n_rows, n_actions, n_outcomes].
        probabilities: float64 [n_rows, n_actions, n_outcomes].
        of_state: int32 [n_states], the row of each state of the MDP.
    """

    values: np.ndarray
    successors: np.ndarray
    probabilities: np.ndarray
    of_state: np.ndarray


def project(mdp: TabularMDP, needed: Iterable[int]) -> Projection:
    """Return the dynamics of `needed` and of the variables that they depend on.

    The other variables are left out if the distribution of the rest after an action does not depend
    on them: all at once, else one by one. Hidden marks must make no difference either.

    Args:
        mdp: The MDP.
        needed: Indices of the variables to keep.
    """
    known, needed = _known.setdefault(mdp, {}), frozenset(needed)
    if needed not in known:
        known[needed] = _project(mdp, needed)
    return known[needed]


def _project(mdp: TabularMDP, needed: frozenset[int]) -> Projection:
    kept = set(range(len(mdp.space)))
    others = sorted(kept - needed)
    for left_out in [others, *([j] for j in others)]:
        fewer = kept - set(left_out)
        if fewer and fewer != kept and _is_markov(mdp, index_values(mdp, sorted(fewer))):
            kept = fewer
    if len(kept) == len(mdp.space):
        return Projection(
            mdp.values, mdp.successors, mdp.probabilities, np.arange(mdp.n_states, dtype=np.int32)
        )
    index = index_values(mdp, sorted(kept))
    return Projection(
        mdp.values[index.example], index.of_state[mdp.successors[index.example]],
        mdp.probabilities[index.example], index.of_state,
    )  # fmt: skip


def _is_markov(mdp: TabularMDP, index: ValueIndex) -> bool:
    """Return whether states with equal numbers go to equal distributions of numbers.

    Distributions are compared by the expectation of a random function of the number: different ones
    have the same with probability 0.
    """
    if mdp.n_marks and (index.of_state[mdp.successors] != index.of_state[mdp.again]).any():
        return False
    score = np.random.default_rng(0).random(index.size)[index.of_state]
    expected = (mdp.probabilities * score[mdp.successors]).sum(axis=2)
    of_example = expected[index.example][index.of_state]
    return bool(np.allclose(expected, of_example, rtol=0.0, atol=TOLERANCE))
