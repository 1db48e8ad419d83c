"""Observations: a state's value indices, as one array or by variable name."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from skillfocus.core.factored import FactoredSpace
from skillfocus.errors import unknown

KINDS = ("multi-discrete", "dict")
"""One array in the order of the variables, or a dictionary with one number per variable."""


class ObservationEncoder:
    """Encodes value indices as observations of one kind.

    Attributes:
        space: The space of one observation.
    """

    def __init__(self, space: FactoredSpace, kind: str) -> None:
        if kind not in KINDS:
            raise unknown("kind of observation", kind, KINDS)
        self._names = space.names if kind == "dict" else None
        sizes = space.sizes
        if self._names is None:
            self.space: spaces.Space[Any] = spaces.MultiDiscrete(np.array(sizes))
        else:
            each = zip(self._names, map(spaces.Discrete, sizes), strict=True)
            self.space = spaces.Dict(list(each))

    def encode(self, values: np.ndarray) -> Any:
        """Return the observation of one state, or a batch of observations of several.

        Args:
            values: Value indices, int [n_variables] or [n, n_variables].
        """
        values = values.astype(np.int64)
        if self._names is None:
            return values
        return {name: values[..., j].copy()[()] for j, name in enumerate(self._names)}
