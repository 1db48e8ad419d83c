"""Continuous variables: named vectors of real numbers, with a distance between values.

The paper takes every state variable as a vector of real numbers (Section 2). A `Variable` of
`core/factored.py` lists finitely many of them; a `ContinuousVariable` is a whole box. A state is
one flat vector, float32 [size], that holds the variables one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.machine import array_namespace


@dataclass(frozen=True)
class ContinuousVariable:
    """A named vector of real numbers in a box.

    Example::

        ContinuousVariable("agent", (0.0, 0.0), (2.0, 1.0))
        ContinuousVariable("velocity", (-math.inf,), (math.inf,), scale=16.0)
    """

    name: str
    """The name."""
    low: tuple[float, ...]
    """The lower bound of each number."""
    high: tuple[float, ...]
    """The upper bound of each number."""
    scale: float | None = None
    """The distance that the penalty divides by (default: the diagonal of the box). Needed if the
    box has no end."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UserError(f"the name of a variable must be text, got {self.name!r}")
        for side in ("low", "high"):
            object.__setattr__(self, side, tuple(float(x) for x in getattr(self, side)))
        if len(self.low) != len(self.high) or not self.low:
            raise UserError(
                f"variable {self.name!r} has {len(self.low)} lower bounds and {len(self.high)} "
                f"upper ones; it needs one of each per number"
            )
        for low, high in zip(self.low, self.high, strict=True):
            if not low < high:
                raise UserError(
                    f"variable {self.name!r} ranges from {low} to {high}; the lower bound must be "
                    f"below the upper one"
                )
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise UserError(f"variable {self.name!r} has scale {self.scale}; it must be positive")
        if self.scale is None and not math.isfinite(self._diagonal):
            raise UserError(
                f"variable {self.name!r} has no bounds to take its scale from: give scale=…, the "
                f"largest change that matters"
            )

    @property
    def size(self) -> int:
        """How many numbers a value has."""
        return len(self.low)

    @property
    def _diagonal(self) -> float:
        return math.dist(self.low, self.high)

    @property
    def largest_distance(self) -> float:
        """The penalty's scale: `scale` if given, else the diagonal of the box."""
        return self._diagonal if self.scale is None else float(self.scale)

    def distance(self, x: Any, y: Any) -> Any:
        """Return the Euclidean distance of values, float [..., size], as float [...]."""
        return array_namespace(y).sqrt(((x - y) ** 2).sum(axis=-1))


@dataclass(frozen=True)
class ContinuousSpace:
    """An ordered set of continuous variables; a state is one flat vector of all their numbers.

    Example::

        space = ContinuousSpace(
            (ContinuousVariable("agent", (0, 0), (2, 1)), ContinuousVariable("lamp", (0,), (1,)))
        )
        space.join(agent=(0.5, 0.5))  # array([0.5, 0.5, 0.0]): the rest is at its lower bound
        space.split(values)["agent"]  # [..., 2]
        space.change(start, end)  # [..., 2]: how far each variable moved, over its scale
    """

    variables: tuple[ContinuousVariable, ...]
    """The variables, with different names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))
        if not self.variables:
            raise UserError("a world needs at least one variable")
        if len(set(self.names)) != len(self.names):
            raise UserError(f"two variables share a name among {', '.join(self.names)}")

    def __len__(self) -> int:
        return len(self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def size(self) -> int:
        """How many numbers a state has."""
        return sum(variable.size for variable in self.variables)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each variable's numbers are in a state."""
        ends = np.cumsum([variable.size for variable in self.variables]).tolist()
        return tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))

    @cached_property
    def low(self) -> np.ndarray:
        """The lower bounds, float32 [size]."""
        return np.concatenate([v.low for v in self.variables]).astype(np.float32)

    @cached_property
    def high(self) -> np.ndarray:
        """The upper bounds, float32 [size]."""
        return np.concatenate([v.high for v in self.variables]).astype(np.float32)

    def index(self, name: str) -> int:
        """Return the index of a variable.

        Raises:
            UserError: If there is none of this name; suggests the nearest.
        """
        if name not in self.names:
            raise unknown("variable", str(name), self.names)
        return self.names.index(name)

    def split(self, values: Any) -> dict[str, Any]:
        """Return states, float [..., size], as {name: float [..., size of the variable]}."""
        return {name: values[..., at] for name, at in zip(self.names, self.slices, strict=True)}

    def join(self, **values: float | Sequence[float]) -> np.ndarray:
        """Return a state by its values; variables not named are at the lower bound of their box.

        Returns:
            float32 [size].

        Raises:
            UserError: If there is no such variable, or a value has another number of dimensions.
        """
        state = np.where(np.isfinite(self.low), self.low, 0).astype(np.float32)
        for name, value in values.items():
            j = self.index(name)
            numbers = np.atleast_1d(np.asarray(value, np.float32))
            if numbers.shape != (self.variables[j].size,):
                raise UserError(
                    f"variable {name!r} has {self.variables[j].size} numbers, got {value!r}"
                )
            state[self.slices[j]] = numbers
        return state

    def labels(self, values: Any) -> Mapping[str, tuple[float, ...]]:
        """Return one state, float [size], as {name: numbers}."""
        return {
            name: tuple(float(x) for x in numbers)
            for name, numbers in self.split(np.asarray(values)).items()
        }

    def change(self, start: Any, end: Any) -> Any:
        """Return how far each variable is apart in two states, over its scale.

        Args:
            start: States, float [..., size].
            end: States, float [..., size].

        Returns:
            float [..., n_variables], 0 where nothing changed.
        """
        columns = [
            variable.distance(start[..., at], end[..., at]) / variable.largest_distance
            for variable, at in zip(self.variables, self.slices, strict=True)
        ]
        return array_namespace(end).stack(columns, axis=-1)

    def relative_distances(self, start: Any, end: Any) -> Any:
        """Return `change`: penalties know a `FactoredSpace` and this one by the same name."""
        return self.change(start, end)
