"""Numbers for the combinations of some variables' values: what a context or a group is told by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skillfocus.table import Table


@dataclass(frozen=True, eq=False)
class Numbering:
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


def number_values(table: Table, variables: Sequence[int]) -> Numbering:
    codes = table.space.encode(table.values, variables)
    _, example, of_state = np.unique(codes, return_index=True, return_inverse=True)
    return Numbering(of_state.astype(np.int32), example.astype(np.int32))
