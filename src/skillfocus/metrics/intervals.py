"""Intervals of means over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from skillfocus.errors import UserError


def mean_interval(values: Sequence[float], level: float = 0.9) -> tuple[float, float, float]:
    """The mean, and Student's interval of it: mean -+ t s / sqrt(n). One value alone says nothing
    of its spread: its interval is endless."""
    if not len(values):
        raise UserError("a mean needs at least one value")
    mean = float(np.mean(values))
    if len(values) == 1:
        return mean, -np.inf, np.inf
    half = t.ppf((1 + level) / 2, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return mean, mean - float(half), mean + float(half)
