"""Numbers for the combinations of some variables' values: what a context or a group is told by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skillfocus.core.mdp import TabularMDP


@dataclass(frozen=True, eq=False)
class ValueIndex:
    """Numbers for the combinations of some variables' values that occur in a table."""

    of_state: np.ndarray
    example: np.ndarray
    """A state that shows each combination."""

    @property
    def size(self) -> int:
        return len(self.example)

    @cached_property
    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """The states in the order of their numbers, and where each number's begin (and end)."""
        order = np.argsort(self.of_state, kind="stable").astype(np.int32)
        begins = np.searchsorted(self.of_state[order], np.arange(self.size + 1))
        return order, begins.astype(np.int32)


def index_values(mdp: TabularMDP, variables: Sequence[int]) -> ValueIndex:
    codes = mdp.space.encode(mdp.values, variables)
    _, example, of_state = np.unique(codes, return_index=True, return_inverse=True)
    return ValueIndex(of_state.astype(np.int32), example.astype(np.int32))
