"""Factored states: named variables with finitely many values and a distance between values.

The paper takes every state variable as a vector of real numbers (Section 2). A `Variable` lists its
values. Numbers and tuples of numbers are their own coordinates; anything else, such as names, gets
one coordinate per value, so that all values are equally far apart.
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
    """A named variable with finitely many values.

    Example::

        sf.Variable("lamp", ("off", "on"))
        sf.Variable("muddy_cells", tuple(range(13)), scale=86.0)
    """

    name: str
    """The name."""
    values: tuple[Hashable, ...]
    """The values, all different; states refer to them by index."""
    scale: float | None = None
    """The distance that the penalty divides by (default: the largest between two values). Set it if
    the listed values do not cover the real range."""

    def __post_init__(self) -> None:
        if len(self.values) < 1:
            raise UserError(f"variable {self.name!r} has no values")
        if len(set(self.values)) != len(self.values):
            raise UserError(f"variable {self.name!r} lists a value twice")
        if self.scale is not None and not self.scale > 0:
            raise UserError(f"variable {self.name!r} has scale {self.scale}; it must be positive")

    @cached_property
    def coordinates(self) -> np.ndarray:
        """The values as points, float64 [n_values, n_coordinates]."""
        rows = [value if isinstance(value, tuple) else (value,) for value in self.values]
        numeric = all(isinstance(x, Real) and np.isfinite(float(x)) for row in rows for x in row)
        if not numeric or len({len(row) for row in rows}) != 1:
            return np.eye(len(self.values)) / np.sqrt(2)  # any two are at distance 1
        return np.array(rows, dtype=np.float64)

    @cached_property
    def distances(self) -> np.ndarray:
        """Euclidean distances between values, float64 [n_values, n_values]."""
        difference = self.coordinates[:, None, :] - self.coordinates[None, :, :]
        return np.sqrt((difference**2).sum(axis=-1))

    @cached_property
    def largest_distance(self) -> float:
        """The penalty's scale: `scale` if given, else the largest distance, or 1 if that is 0."""
        return self.scale or float(self.distances.max()) or 1.0


@dataclass(frozen=True)
class FactoredSpace:
    """An ordered set of variables; a state has one value index per variable.

    Example::

        space = sf.FactoredSpace((sf.Variable("hand", (0, 1)), sf.Variable("lamp", ("off", "on"))))
        space.state(lamp="on")  # (0, 1)
        space.labels((0, 1))  # {"hand": 0, "lamp": "on"}
    """

    variables: tuple[Variable, ...]
    """The variables, with different names."""

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
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each variable."""
        return tuple(len(variable.values) for variable in self.variables)

    @property
    def size(self) -> int:
        """Number of combinations of values."""
        return math.prod(self.sizes)

    def index(self, name: str) -> int:
        """Return the index of a variable.

        Raises:
            UserError: If there is none of this name; suggests the nearest.
        """
        if name not in self.names:
            raise unknown("variable", name, self.names)
        return self.names.index(name)

    def encode(self, states: np.ndarray, variables: Sequence[int] | None = None) -> np.ndarray:
        """Return one integer per state (mixed radix, the last variable fastest).

        Args:
            states: Value indices, int [n, n_variables].
            variables: Indices of the variables to encode (default: all). With none of them, every
                code is 0.

        Returns:
            int64 [n]; equal for equal values of these variables.
        """
        columns = range(len(self)) if variables is None else variables
        if math.prod(self.sizes[column] for column in columns) > 2**62:
            raise UserError("too many combinations of values to number: use fewer variables")
        code = np.zeros(len(states), dtype=np.int64)
        for column in columns:
            code = code * self.sizes[column] + states[:, column]
        return code

    def labels(self, state: Iterable[int]) -> dict[str, Hashable]:
        """Return a state as {name: value}."""
        return {v.name: v.values[i] for v, i in zip(self.variables, state, strict=True)}

    def state(self, **labels: Hashable) -> State:
        """Return the state with the given values; variables not named take their first value.

        Raises:
            UserError: If a variable or a value does not exist.
        """
        indices = [0] * len(self)
        for name, label in labels.items():
            variable = self.index(name)
            values = self.variables[variable].values
            if label not in values:
                raise UserError(f"variable {name!r} has no value {label!r}")
            indices[variable] = values.index(label)
        return tuple(indices)

    def relative_distances(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the distance of each variable's values in two states over the variable's scale.

        Args:
            start: Value indices, int [n, n_variables].
            end: Value indices, int [n, n_variables].

        Returns:
            float64 [n, n_variables].
        """
        columns = [
            variable.distances[start[:, j], end[:, j]] / variable.largest_distance
            for j, variable in enumerate(self.variables)
        ]
        return np.stack(columns, axis=1)
