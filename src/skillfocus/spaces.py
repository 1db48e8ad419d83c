"""Factored states: named variables, finite or real-valued, with a distance between values.

The paper takes every state variable as a vector of real numbers (Section 2). A finite variable
lists its values: numbers and tuples of numbers are their own coordinates; anything else, such as
names, gets one coordinate per value, so that all values are equally far apart. A real-valued
variable is a box. A state is one row of numbers: the index of each finite variable's value, and the
numbers of each real-valued one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from skillfocus.errors import UserError, join_values, short_repr, unknown
from skillfocus.machine import array_namespace, require_memory

NAMES_DISTANCE = float(np.sqrt(2 * (1 / np.sqrt(2)) ** 2))
"""The distance between any two values that are not points: 1, as `coordinates` are rounded."""
TOLERANCE = 0.1
"""Real values that are closer than this share of the scale count as unchanged, by default."""
State = tuple[int, ...]
"""A state of a finite world: the index of each variable's value, in the order of the variables."""
Row = tuple[str, int | None, float | None]
"""A row of a result table, `(metric, step, value)`. What `step` counts depends on the metric:
skills, episodes, lengths of chains. It is None for a metric of the whole run; `value` is None where
the metric is undefined."""


@dataclass(frozen=True)
class Variable:
    """A named variable: with finitely many values, or a vector of real numbers in a box.

    Example::

        sf.Variable("lamp", ("off", "on"))
        sf.Variable("muddy_cells", tuple(range(13)), scale=86.0)
        sf.Variable("agent", low=(0.0, 0.0), high=(2.0, 1.0))
        sf.Variable("velocity", low=(-math.inf,), high=(math.inf,), scale=16.0)
    """

    name: str
    """The name."""
    values: tuple[Hashable, ...] = ()
    """The values of a finite variable, all different; states refer to them by index."""
    scale: float | None = None
    """The distance that the penalty divides by (default: the largest between two values, or the
    diagonal of the box). Set it if the listed values do not cover the real range, or the box has no
    end."""
    low: tuple[float, ...] = ()
    """The lower bound of each number of a real-valued variable."""
    high: tuple[float, ...] = ()
    """The upper bound of each number."""
    tolerance: float = TOLERANCE
    """Real values that are closer than this share of the scale count as unchanged; finite ones are
    unchanged only if they are equal."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UserError(f"the name of a variable must be text, got {self.name!r}")
        if "+" in self.name:
            raise UserError(
                f"the name of variable {self.name!r} holds a +, which joins the names of targets: "
                f"leave it out"
            )
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise UserError(f"variable {self.name!r} has scale {self.scale}; it must be positive")
        if len(np.shape(self.low)) == 1 and len(self.low) + len(self.high):
            self._check_box()
        else:
            self._check_values()

    def _check_box(self) -> None:
        for side in ("low", "high"):
            object.__setattr__(self, side, tuple(float(x) for x in getattr(self, side)))
        if self.values:
            raise UserError(f"variable {self.name!r} has values and bounds: give one of the two")
        if len(self.low) != len(self.high):
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
        if self.scale is None and not math.isfinite(math.dist(self.low, self.high)):
            raise UserError(
                f"variable {self.name!r} has no bounds to take its scale from: give scale=…, the "
                f"largest change that matters"
            )
        if not 0 <= self.tolerance < 1:
            raise UserError(
                f"variable {self.name!r} has tolerance {self.tolerance}; it must be 0 or more and "
                f"below 1, a share of its scale"
            )

    def _check_values(self) -> None:
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
            try:
                hash(value)
            except TypeError:  # a tuple with a list in it, too
                raise UserError(
                    f"variable {self.name!r} has the value {value!r}, which cannot be hashed: use "
                    f"a tuple instead of a list, text instead of a dictionary"
                ) from None
        if any(value != value for value in values):
            raise UserError(f"variable {self.name!r} has the value NaN, which no state can name")
        if len(set(values)) != len(values):
            raise UserError(f"variable {self.name!r} lists a value twice")

    @property
    def is_finite(self) -> bool:
        """Whether it has finitely many values."""
        return not self.low

    @property
    def width(self) -> int:
        """How many numbers it takes in a state."""
        return len(self.low) or 1

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
        """Finite values as points, float64 [n_values, n_coordinates]."""
        if self._points is not None:
            return self._points
        self._require_memory("coordinates")
        return np.eye(len(self.values)) / np.sqrt(2)  # any two are at distance 1

    @cached_property
    def distances(self) -> np.ndarray:
        """Euclidean distances between finite values, float64 [n_values, n_values]."""
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
            return float(self.scale)
        if not self.is_finite:
            return math.dist(self.low, self.high)
        if self._points is None:
            return NAMES_DISTANCE if len(self.values) > 1 else 1.0
        points = _outermost(self._points)
        return max(float(_distances(point, points).max()) for point in points) or 1.0

    def numbers(self, label: Any) -> Any:
        """Return what stands for a value in a state: its index, or its numbers as [width].

        Raises:
            UserError: If the variable has no such value.
        """
        if self.is_finite:
            if label not in self.values:
                raise UserError(
                    f"{self.name} has no value {label!r}; it has {join_values(self.values)}"
                )
            return self.values.index(label)
        numbers = np.atleast_1d(np.asarray(label, np.float64))
        if numbers.shape != (self.width,):
            raise UserError(f"variable {self.name!r} has {self.width} numbers, got {label!r}")
        return numbers

    def distance(self, x: Any, y: Any) -> Any:
        """Return the Euclidean distances of values in states, [..., width] each, as float [...]."""
        xp = array_namespace(y)
        if self.is_finite:
            return xp.asarray(self.distances)[x[..., 0].astype(int), y[..., 0].astype(int)]
        return xp.sqrt(((x - y) ** 2).sum(axis=-1))


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
class Space:
    """An ordered set of variables. A state is one row of their numbers.

    Example::

        space = sf.Space((sf.Variable("hand", (0, 1)), sf.Variable("lamp", ("off", "on"))))
        space.state(lamp="on")  # (0, 1)
        space.labels((0, 1))  # {"hand": 0, "lamp": "on"}
        space.changed(start, end)  # which variables differ, bool [..., n_variables]

        plane = sf.Space((sf.Variable("agent", low=(0, 0), high=(2, 1)),))
        plane.state(agent=(0.5, 0.5))  # array([0.5, 0.5]), float32
    """

    variables: tuple[Variable, ...]
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
    def is_finite(self) -> bool:
        """Whether all variables are; states are then value indices, otherwise float32."""
        return all(variable.is_finite for variable in self.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each finite variable; 0 of a real-valued one."""
        return tuple(len(variable.values) for variable in self.variables)

    @property
    def n_combinations(self) -> int:
        """Number of combinations of values of finite variables."""
        return math.prod(self.sizes)

    @cached_property
    def width(self) -> int:
        """How many numbers a state has."""
        return sum(variable.width for variable in self.variables)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each variable's numbers are in a state."""
        ends = np.cumsum([variable.width for variable in self.variables]).tolist()
        return tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))

    @cached_property
    def low(self) -> np.ndarray:
        """The lower bounds of real-valued variables, float32 [width]."""
        return np.concatenate([v.low for v in self.variables]).astype(np.float32)

    @cached_property
    def high(self) -> np.ndarray:
        """The upper bounds, float32 [width]."""
        return np.concatenate([v.high for v in self.variables]).astype(np.float32)

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

    # ------------------------------------------------------------------ states

    def state(self, **labels: Any) -> Any:
        """Return the state with the given values.

        Variables not named take their first value, or the lower bound of their box.

        Returns:
            Value indices as a tuple; float32 [width] if a variable is real-valued.

        Raises:
            UserError: If a variable or a value does not exist.
        """
        bounds = [0.0 if v.is_finite else v.low for v in self.variables]
        row = np.concatenate([np.atleast_1d(each) for each in bounds])
        row[~np.isfinite(row)] = 0.0
        for name, label in labels.items():
            j = self.index(name)
            row[self.slices[j]] = self.variables[j].numbers(label)
        return tuple(row.astype(int).tolist()) if self.is_finite else row.astype(np.float32)

    def as_state(self, state: Iterable[int] | Mapping[str, Hashable]) -> State:
        """Return a state of finite variables from value indices, or from values by name.

        Raises:
            UserError: If it is neither.
        """
        if isinstance(state, Mapping):
            return self.state(**{str(name): value for name, value in state.items()})
        if not isinstance(state, Iterable) or isinstance(state, str):
            raise UserError(f"{short_repr(state)} is not a state: {self._state_format()}")
        values = tuple(state)
        if len(values) != len(self) or not all(
            isinstance(index, Integral) and 0 <= index < size
            for index, size in zip(values, self.sizes, strict=True)
        ):
            plain = tuple(int(value) if isinstance(value, Integral) else value for value in values)
            raise UserError(f"{plain} is not a state: {self._state_format()}")
        return tuple(map(int, values))

    def _state_format(self) -> str:
        labels = ", ".join(f"{v.name}={v.values[-1]!r}" for v in self.variables[:2])
        return (
            f"a state has {len(self)} value indices below {self.sizes}; to name values instead, "
            f"write world.state({labels}{', …' if len(self) > 2 else ''})"
        )

    def check_states(self, states: np.ndarray) -> None:
        """Raise a `UserError` unless these are states, [n, width]: value indices within range, or
        finite numbers."""
        kinds = "iu" if self.is_finite else "f"
        if states.dtype.kind not in kinds or states.ndim != 2 or states.shape[1] != self.width:
            form = "integers" if self.is_finite else "float32"
            raise UserError(
                f"states must be {form} [n, {self.width}], got {states.dtype} {list(states.shape)}"
            )
        if not self.is_finite:
            if not np.isfinite(states).all():
                raise UserError("states must be finite numbers")
        elif not ((states >= 0) & (states < np.array(self.sizes))).all():
            for state in states:
                self.as_state(state)

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
        code = np.zeros(len(states), dtype=np.int64)
        span = 1
        for column in columns:
            span *= self.sizes[column]
            if span > 2**62:  # number the combinations that occur, and go on with these numbers
                _, code = np.unique(code, return_inverse=True)
                span = (int(code.max(initial=0)) + 1) * self.sizes[column]
            code = code * self.sizes[column] + states[:, column]
        return code

    def labels(self, state: Any) -> dict[str, Any]:
        """Return a state as {name: value}; a real-valued variable's value is a tuple of numbers.

        Raises:
            UserError: If it is no state.
        """
        if not self.is_finite:
            row = np.asarray(state, float)
            return {
                v.name: v.values[int(row[at][0])] if v.is_finite else tuple(row[at].tolist())
                for v, at in zip(self.variables, self.slices, strict=True)
            }
        try:
            return {v.name: v.values[i] for v, i in zip(self.variables, state, strict=True)}
        except (ValueError, IndexError, TypeError):
            self.as_state(state)
            raise

    def split(self, values: Any) -> dict[str, Any]:
        """Return states, [..., width], as {name: [..., width of the variable]}."""
        return {name: values[..., at] for name, at in zip(self.names, self.slices, strict=True)}

    # ------------------------------------------------------------------ changes

    def distances(self, start: Any, end: Any) -> Any:
        """Return the distance of each variable's values in two states, float [..., n_variables].

        Args:
            start: States, [..., width].
            end: States, [..., width].
        """
        columns = [v.distance(x, y) for v, x, y in self._by_variable(start, end)]
        return array_namespace(end).stack(columns, axis=-1)

    def _by_variable(self, start: Any, end: Any) -> Iterator[tuple[Variable, Any, Any]]:
        for variable, at in zip(self.variables, self.slices, strict=True):
            yield variable, start[..., at], end[..., at]

    @cached_property
    def scales(self) -> np.ndarray:
        """Each variable's largest distance, float64 [n_variables]."""
        return np.array([variable.largest_distance for variable in self.variables])

    def change(self, start: Any, end: Any) -> Any:
        """Return `distances` over the variables' scales."""
        columns = [
            v.distance(x, y) / v.largest_distance for v, x, y in self._by_variable(start, end)
        ]
        return array_namespace(end).stack(columns, axis=-1)

    def changed(self, start: Any, end: Any) -> Any:
        """Return which variables differ in two states, bool [..., n_variables]: finite ones if they
        are not equal, real-valued ones by more than their tolerance."""
        if self.is_finite:
            return start != end
        columns = [
            x[..., 0] != y[..., 0]
            if v.is_finite
            else v.distance(x, y) > v.tolerance * v.largest_distance
            for v, x, y in self._by_variable(start, end)
        ]
        return array_namespace(end).stack(columns, axis=-1)
