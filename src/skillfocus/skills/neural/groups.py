"""Groups of variables that copies of the base reward depend on, and indices of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_TABLE = 1 << 21
"""Largest table of rewards, in entries; larger groups have a discriminator network."""


@dataclass(frozen=True)
class Group:
    """The variables that one copy of the base reward depends on.

    Attributes:
        variables: Indices of the variables.
        start_variables: Indices of those whose first value it depends on as well.
        n_components: Number of components that skills have on the group.
        sign: 1 if the copy is added to the reward, -1 if it is subtracted.
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
        """Number of value combinations."""
        return math.prod(self.sizes)

    @property
    def n_starts(self) -> int:
        """Number of combinations of first values."""
        return math.prod(self.start_sizes)

    @property
    def is_table(self) -> bool:
        """Whether a table of rewards is small enough."""
        return self.n_components * self.n_values * self.n_starts <= MAX_TABLE

    def number(self, values: Any) -> Any:
        """Return the index of each state's value combination."""
        return _number(values, self.variables, self.sizes)

    def start_number(self, starts: Any) -> Any:
        """Return the index of each first state's value combination."""
        return _number(starts, self.start_variables, self.start_sizes)


def _number(values: Any, variables: Sequence[int], sizes: Sequence[int]) -> Any:
    code = values[:, 0] * 0
    for variable, size in zip(variables, sizes, strict=True):
        code = code * size + values[:, variable]
    return code
