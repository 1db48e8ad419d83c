"""Groups of variables that a copy of a reward looks at, and the numbers of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_TABLE = 1 << 21
"""Most entries of a table of rewards; larger groups of variables get a network."""


@dataclass(frozen=True)
class Group:
    """The variables that one copy of the base reward looks at.

    Attributes:
        variables: Indices of the variables.
        start_variables: Those whose first value it looks at, too.
        n_components: How many components skills have on the group.
        sign: Whether the copy adds to the reward, 1, or is to be made small, -1.
        sizes: Numbers of values of the variables.
        start_sizes: The same for the start variables.
    """

    variables: tuple[int, ...]
    start_variables: tuple[int, ...]
    n_components: int
    sign: int
    sizes: tuple[int, ...]
    start_sizes: tuple[int, ...]

    @property
    def n_values(self) -> int:
        """Combinations of values."""
        return math.prod(self.sizes)

    @property
    def n_starts(self) -> int:
        """Combinations of first values."""
        return math.prod(self.start_sizes)

    @property
    def is_table(self) -> bool:
        """Whether there are few enough values for a table of rewards."""
        return self.n_components * self.n_values * self.n_starts <= MAX_TABLE

    def number(self, values: Any) -> Any:
        """Return the number of each state's combination of values."""
        return _number(values, self.variables, self.sizes)

    def start_number(self, starts: Any) -> Any:
        """Return the number of each first state's combination of values."""
        return _number(starts, self.start_variables, self.start_sizes)


def _number(values: Any, variables: Sequence[int], sizes: Sequence[int]) -> Any:
    code = values[:, 0] * 0
    for variable, size in zip(variables, sizes, strict=True):
        code = code * size + values[:, variable]
    return code
