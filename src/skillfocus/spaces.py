"""Factored states: named variables with finitely many values and a distance between values.

The paper takes every state variable as a vector of real numbers (Section 2). A `Variable` lists its
values. Numbers and tuples of numbers are their own coordinates; anything else, such as names, gets
one coordinate per value, so that all values are equally far apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from skillfocus.errors import UserError, join_values, short_repr, unknown
from skillfocus.machine import array_namespace, require_memory

NAMES_DISTANCE = float(np.sqrt(2 * (1 / np.sqrt(2)) ** 2))
"""The distance between any two values that are not points: 1, as `coordinates` are rounded."""
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
        if not isinstance(self.name, str) or not self.name:
            raise UserError(f"the name of a variable must be text, got {self.name!r}")
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise UserError(
                f"the values of variable {self.name!r} must be a tuple, such as (0, 1), got "
                f"{self.values!r}"
            )
        values = tuple(self.values)
        object.__setattr__(self, "values", values)
        if not values:
            raise UserError(f"variable {self.name!r} has no values")
        for value in values:
            if not isinstance(value, Hashable) or not _is_hashable(value):
                raise UserError(
                    f"variable {self.name!r} has the value {value!r}, which cannot be hashed: use "
                    f"a tuple instead of a list, text instead of a dictionary"
                )
        if any(value != value for value in values):
            raise UserError(f"variable {self.name!r} has the value NaN, which no state can name")
        if len(set(values)) != len(values):
            raise UserError(f"variable {self.name!r} lists a value twice")
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise UserError(f"variable {self.name!r} has scale {self.scale}; it must be positive")

    @cached_property
    def _points(self) -> np.ndarray | None:
        """Values that are points as an array, float64 [n_values, n_coordinates]; else None."""
        rows = [value if isinstance(value, tuple) else (value,) for value in self.values]
        numeric = all(isinstance(x, Real) and np.isfinite(float(x)) for row in rows for x in row)
        if not numeric or len({len(row) for row in rows}) != 1:
            return None
        return np.array(rows, dtype=np.float64)

    @cached_property
    def coordinates(self) -> np.ndarray:
        """The values as points, float64 [n_values, n_coordinates]."""
        if self._points is not None:
            return self._points
        self._require_memory("coordinates")
        return np.eye(len(self.values)) / np.sqrt(2)  # any two are at distance 1

    @cached_property
    def distances(self) -> np.ndarray:
        """Euclidean distances between values, float64 [n_values, n_values]."""
        self._require_memory("distances")
        if self._points is not None:
            return np.stack([_distances(point, self._points) for point in self._points])
        return np.where(np.eye(len(self.values), dtype=bool), 0.0, NAMES_DISTANCE)

    def _require_memory(self, what: str) -> None:
        """Refuse an array [n_values, n_values] that does not fit."""
        n = len(self.values)
        require_memory(
            8 * n**2, f"the {what} of the {n:,} values of {self.name!r}", "use several variables"
        )

    @cached_property
    def largest_distance(self) -> float:
        """The penalty's scale: `scale` if given, else the largest distance, or 1 if that is 0."""
        if self.scale:
            return self.scale
        if self._points is None:
            return NAMES_DISTANCE if len(self.values) > 1 else 1.0
        points = _outermost(self._points)
        return max(float(_distances(point, points).max()) for point in points) or 1.0


def _is_hashable(value: Hashable) -> bool:
    """Return whether a value can be hashed; a tuple with a list in it cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _distances(point: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances from one point to others, float64 [n_points]."""
    return np.sqrt(((point - points) ** 2).sum(axis=-1))


def _outermost(points: np.ndarray) -> np.ndarray:
    """Leave out points between two others on a line along an axis: none is in the farthest pair."""
    for axis in range(points.shape[1]):
        rest = [points[:, other] for other in range(points.shape[1]) if other != axis]
        order = np.lexsort((points[:, axis], *rest))
        points = points[order]
        line = np.delete(points, axis, axis=1)
        begins = np.append(True, (line[1:] != line[:-1]).any(axis=1))
        points = points[begins | np.append(begins[1:], True)]
    return points


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
        object.__setattr__(self, "variables", tuple(self.variables))
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
            raise unknown("variable", str(name), self.names)
        return self.names.index(name)

    def indices(self, names: Sequence[str | int]) -> tuple[int, ...]:
        """Return the indices of variables given by name, or by index."""
        return tuple(self.index(name) if isinstance(name, str) else int(name) for name in names)

    def as_state(self, state: Iterable[int] | Mapping[str, Hashable]) -> State:
        """Return a state from value indices, or from values by name, as `state` takes them.

        Raises:
            UserError: If it is neither.
        """
        if isinstance(state, Mapping):
            return self.state(**{str(name): value for name, value in state.items()})
        if not isinstance(state, Iterable) or isinstance(state, str):
            raise UserError(f"{short_repr(state)} is not a state: {self._state_form()}")
        values = tuple(state)
        if len(values) != len(self) or not all(
            isinstance(index, Integral) and 0 <= index < size
            for index, size in zip(values, self.sizes, strict=True)
        ):
            plain = tuple(int(value) if isinstance(value, Integral) else value for value in values)
            raise UserError(f"{plain} is not a state: {self._state_form()}")
        return tuple(map(int, values))

    def _state_form(self) -> str:
        labels = ", ".join(f"{v.name}={v.values[-1]!r}" for v in self.variables[:2])
        return (
            f"a state has {len(self)} value indices below {self.sizes}; to name values instead, "
            f"write world.state({labels}{', …' if len(self) > 2 else ''})"
        )

    def check_state(self, state: Sequence[int]) -> None:
        """Raise a `UserError` unless this is one value index per variable, each in range."""
        self.as_state(state)

    def check_states(self, states: np.ndarray) -> None:
        """Check value indices, int [n, n_variables]; see `check_state`."""
        if states.dtype.kind not in "iu" or states.ndim != 2:
            raise UserError(f"states must be integers [n, {len(self)}], got {states.dtype}")
        inside = states.shape[1] == len(self) and bool(
            ((states >= 0) & (states < np.array(self.sizes))).all()
        )
        if not inside:
            for state in states:
                self.check_state(state)

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
        """Return a state as {name: value}.

        Raises:
            UserError: If it is no state.
        """
        try:
            return {v.name: v.values[i] for v, i in zip(self.variables, state, strict=True)}
        except (ValueError, IndexError, TypeError):
            self.as_state(state)
            raise

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
                raise UserError(f"{name} has no value {label!r}; it has {join_values(values)}")
            indices[variable] = values.index(label)
        return tuple(indices)

    def relative_distances(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the distance of each variable's values in two states over the variable's scale.

        Args:
            start: Value indices, int [n, n_variables].
            end: Value indices, int [n, n_variables].

        Returns:
            float64 [n, n_variables]; of JAX arrays, float32.
        """
        xp = array_namespace(end)
        columns = [
            xp.asarray(variable.distances)[start[:, j], end[:, j]] / variable.largest_distance
            for j, variable in enumerate(self.variables)
        ]
        return xp.stack(columns, axis=1)


# --------------------
#
# Continuous variables: named vectors of real numbers, with a distance between values
#
# The paper takes every state variable as a vector of real numbers (Section 2). A `Variable` of
# `core/factored.py` lists finitely many of them; a `ContinuousVariable` is a whole box. A state is
# one flat vector, float32 [size], that holds the variables one after the other.


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


# -------------------- The row type of result tables, shared by metrics and runs

Row = tuple[str, int | None, float | None]
"""`(metric, step, value)`. What `step` counts depends on the metric: skills, episodes, lengths of
chains. It is None for a metric of the whole run; `value` is None where the metric is undefined."""
