"""Variables that no action influences: a clock, the weather, a colour that never changes.

Such a variable is a process of its own: whatever is done, now or before, its values follow each
other with the same probabilities. A skill can only wait for a value of it, so it gets no skills by
default.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.projection import TOLERANCE, project

_known: WeakKeyDictionary[TabularMDP, tuple[str, ...]] = WeakKeyDictionary()


def uninfluenced(mdp: TabularMDP) -> tuple[str, ...]:
    """Return the names of the variables that no action influences, those that never change among
    them.

    A variable is one of them if it and all that it depends on go to the same distribution whatever
    the action. Where that holds for everything that changes (there may be a single action), to stop
    is the only choice that skills have, and only the variables that never change are returned.
    """
    if mdp not in _known:
        names = tuple(n for j, n in enumerate(mdp.space.names) if _is_uninfluenced(mdp, j))
        _known[mdp] = mdp.fixed if len(names) == len(mdp.space) else names
    return _known[mdp]


def _is_uninfluenced(mdp: TabularMDP, variable: int) -> bool:
    if _differs_by_action(mdp.values[:, variable], mdp.successors, mdp.probabilities):
        return False
    # No action decides the next value, but one may decide what that depends on.
    model = project(mdp, [variable])
    rows = np.arange(len(model.values))
    return not _differs_by_action(rows, model.successors, model.probabilities)


def _differs_by_action(
    numbers: np.ndarray, successors: np.ndarray, probabilities: np.ndarray
) -> bool:
    """Return whether some action leads to another distribution of `numbers` than the first one.

    Distributions are compared by the expectation of a random function of the number: different ones
    have the same with probability 0.
    """
    score = np.random.default_rng(0).random(int(numbers.max()) + 1)[numbers]
    expected = (probabilities * score[successors]).sum(axis=2)
    return not np.allclose(expected, expected[:, :1], rtol=0.0, atol=TOLERANCE)
