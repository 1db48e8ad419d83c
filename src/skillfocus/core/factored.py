"""Factored state: named variables with finite values and a distance between values.

The paper takes every state variable as a vector of real numbers (Section 2). A `Variable`
lists its values; numbers and tuples of numbers are their own coordinates, anything else
(names, say) gets one coordinate per value, so that all its values are equally far apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from skillfocus.errors import UserError, unknown

State = tuple[int, ...]
"""A state: the index of each variable's value, in the order of the variables."""


@dataclass(frozen=True)
class Variable:
    """A named variable. `scale` is the largest distance between two of its values, which the
    penalty divides by; give it where the listed values stop short of the real range."""

    name: str
    values: tuple[Hashable, ...]
    scale: float | None = None

    def __post_init__(self) -> None:
        if len(self.values) < 1:
            raise UserError(f"variable {self.name!r} has no values")
        if len(set(self.values)) != len(self.values):
            raise UserError(f"variable {self.name!r} lists a value twice")
        if self.scale is not None and not self.scale > 0:
            raise UserError(f"variable {self.name!r} has scale {self.scale}; it must be positive")

    @cached_property
    def coordinates(self) -> np.ndarray:
        """The values as points, one row each."""
        rows = [value if isinstance(value, tuple) else (value,) for value in self.values]
        numbers = all(isinstance(x, Real) and np.isfinite(float(x)) for row in rows for x in row)
        if not numbers or len({len(row) for row in rows}) != 1:
            return np.eye(len(self.values)) / np.sqrt(2)
        return np.array(rows, dtype=np.float64)

    @cached_property
    def distances(self) -> np.ndarray:
        """Euclidean distance between every two values."""
        difference = self.coordinates[:, None, :] - self.coordinates[None, :, :]
        return np.sqrt((difference**2).sum(axis=-1))

    @cached_property
    def largest_distance(self) -> float:
        """The penalty's scale: `scale` if given, else the largest distance (1 if there is none)."""
        return self.scale or float(self.distances.max()) or 1.0


@dataclass(frozen=True)
class FactoredSpace:
    """An ordered set of variables."""

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        names = [variable.name for variable in self.variables]
        if not names:
            raise UserError("a world needs at least one variable")
        if len(set(names)) != len(names):
            raise UserError(f"two variables share a name among {', '.join(names)}")

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(variable.values) for variable in self.variables)

    @property
    def size(self) -> int:
        """The number of combinations of values."""
        return math.prod(self.sizes)

    def index(self, name: str) -> int:
        """The place of a variable; an unknown name is an error that suggests the nearest."""
        if name not in self.names:
            raise unknown("variable", name, self.names)
        return self.names.index(name)

    def encode(self, states: np.ndarray, variables: Sequence[int] | None = None) -> np.ndarray:
        """One integer per row of value indices (mixed radix, last variable fastest), over all
        variables or the chosen ones. No variables gives code 0 for every state."""
        columns = range(len(self)) if variables is None else variables
        if math.prod(self.sizes[column] for column in columns) > 2**62:
            raise UserError("too many combinations of values to number: use fewer variables")
        code = np.zeros(len(states), dtype=np.int64)
        for column in columns:
            code = code * self.sizes[column] + states[:, column]
        return code

    def labels(self, state: Iterable[int]) -> dict[str, Hashable]:
        """A state as {name: value}."""
        return {v.name: v.values[i] for v, i in zip(self.variables, state, strict=True)}

    def state(self, **labels: Hashable) -> State:
        """A state from {name: value}; variables not named take their first value."""
        chosen = [0] * len(self)
        for name, label in labels.items():
            place = self.index(name)
            values = self.variables[place].values
            if label not in values:
                raise UserError(f"variable {name!r} has no value {label!r}")
            chosen[place] = values.index(label)
        return tuple(chosen)

    def relative_distances(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Per row and variable, the distance between two states over the variable's scale."""
        columns = [
            variable.distances[start[:, j], end[:, j]] / variable.largest_distance
            for j, variable in enumerate(self.variables)
        ]
        return np.stack(columns, axis=1)
