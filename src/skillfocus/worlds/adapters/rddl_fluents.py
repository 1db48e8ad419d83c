"""RDDL fluents as arrays and as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.worlds.model import Values

DECIMALS = 9
"""Real numbers are rounded, or sums of fractions would never be equal again."""
Assignment = dict[str, Values]
"""Values of the entries of some fluents, by the fluents' names."""
Factor = list[tuple[float, Values]]
"""Probabilities and values of neighbouring entries of a fluent, independent of other factors."""


@dataclass(frozen=True)
class Fluent:
    """A fluent, converted between pyRDDLGym's arrays and tuples of values."""

    entries: tuple[str, ...]
    """Names of the grounded entries, such as `lit(a)`."""
    shape: tuple[int, ...]
    """Shape of the array, one axis per parameter."""
    kind: type
    """The array's dtype: `bool`, `np.int64` or `np.float64`."""
    objects: tuple[str, ...] = ()
    """The values of an enumerated fluent, which arrays hold as indices."""

    @staticmethod
    def of(rddl: Any, name: str) -> Fluent:
        """Return the fluent of a name in pyRDDLGym's lifted model."""
        types, values = rddl.variable_params[name], rddl.variable_ranges[name]
        entries = [f"{name}({','.join(o)})" for o in rddl.ground_types(types)] if types else [name]
        kind = {"bool": bool, "real": np.float64}.get(values, np.int64)
        objects = tuple(rddl.type_to_objects.get(values, ()))
        return Fluent(tuple(entries), tuple(rddl.object_counts(types)), kind, objects)

    def array(self, values: Values) -> Any:
        """Return values as an array of `shape`, or a scalar without parameters."""
        numbers = [self.objects.index(str(v)) for v in values] if self.objects else values
        return np.array(numbers, dtype=self.kind).reshape(self.shape)[()]

    def values(self, array: Any) -> Values:
        """Return an array as values, one per entry."""
        flat = np.asarray(array).astype(self.kind).ravel()
        if self.kind is np.float64:
            return tuple(np.round(flat, DECIMALS).tolist())
        return tuple(self.objects[i] for i in flat) if self.objects else tuple(flat.tolist())
