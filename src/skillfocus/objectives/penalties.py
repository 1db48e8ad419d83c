"""Side-effects penalties (Definition 4): zero where no watched variable changed, else positive.

A penalty compares two states, row by row, and sees only the variables it is told to watch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skillfocus.core.factored import FactoredSpace
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError

Measure = Callable[[FactoredSpace, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""measure(space, start, end, watched) -> one number per row; start and end are [n, variable]
value indices, watched is [variable] of bool."""


@dataclass(frozen=True)
class Penalty:
    name: str
    strength: float
    measure: Measure

    def __post_init__(self) -> None:
        if not (self.strength >= 0 and np.isfinite(self.strength)):
            raise UserError(
                f"the penalty's strength is {self.strength}; it must be 0 or more and finite"
            )

    def __call__(
        self, space: FactoredSpace, start: np.ndarray, end: np.ndarray, watched: np.ndarray
    ) -> np.ndarray:
        return self.strength * self.measure(space, start, end, watched)


def _norm(
    space: FactoredSpace, start: np.ndarray, end: np.ndarray, watched: np.ndarray
) -> np.ndarray:
    return np.sqrt(((space.relative_distances(start, end) * watched) ** 2).sum(axis=1))


def _changed(
    space: FactoredSpace, start: np.ndarray, end: np.ndarray, watched: np.ndarray
) -> np.ndarray:
    del space
    return ((start != end) & watched).sum(axis=1).astype(float)


def weighted_norm(strength: float = 4.0) -> Penalty:
    """The paper's: the 2-norm of the changes, each variable's divided by its largest distance."""
    return Penalty("weighted-norm", strength, _norm)


def changed_variables(strength: float = 4.0) -> Penalty:
    """The number of watched variables that changed: Equation 1 itself."""
    return Penalty("changed-variables", strength, _changed)


def check_penalty(penalty: Penalty, mdp: TabularMDP, sample: int = 200) -> None:
    """Check Definition 4 on a world: over pairs of states (all of them if there are at most
    `sample` states, else of that many, evenly spread) and every set of watched variables (of a
    world with more than 10 variables: the single ones, the pairs and the full set). Raises with
    a counterexample."""
    space = mdp.space
    chosen = np.unique(np.linspace(0, mdp.n_states - 1, sample).astype(int))
    start = mdp.values[np.repeat(chosen, len(chosen))]
    end = mdp.values[np.tile(chosen, len(chosen))]
    for watched in _watched_sets(len(space)):
        given = penalty(space, start, end, watched)
        changed = ((start != end) & watched).any(axis=1)
        wrong = (changed & ~(given > 0)) | (~changed & (given != 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            names = [name for name, seen in zip(space.names, watched, strict=True) if seen]
            what = "positive because one changed" if changed[row] else "0 because none changed"
            raise UserError(
                f"{penalty.name} is {given[row]:g} from {space.labels(start[row])} to "
                f"{space.labels(end[row])} watching {names}, but must be {what}"
            )


def _watched_sets(n: int) -> list[np.ndarray]:
    sizes = range(n + 1) if n <= 10 else (1, 2, n)
    return [
        np.isin(np.arange(n), members)
        for size in sizes
        for members in itertools.combinations(range(n), size)
    ]
