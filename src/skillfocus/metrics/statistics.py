"""Intervals, 90 % unless said otherwise: of means over seeds, of success counts, of anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, t

from skillfocus.errors import UserError


class Interval(NamedTuple):
    estimate: float
    low: float
    high: float


def mean_interval(values: Sequence[float] | np.ndarray, level: float = 0.9) -> Interval:
    """The mean, and Student's interval of it: mean -+ t s / sqrt(n). One value alone says nothing
    of its spread: its interval is endless."""
    if not len(values):
        raise UserError("a mean needs at least one value")
    mean = float(np.mean(values))
    if len(values) == 1:
        return Interval(mean, -np.inf, np.inf)
    half = _quantile(level, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return Interval(mean, mean - float(half), mean + float(half))


@cache
def _quantile(level: float, degrees: int) -> float:
    return float(t.ppf((1 + level) / 2, degrees))


def success_interval(successes: int, n: int, level: float = 0.9) -> Interval:
    """The share of successes, and Clopper's and Pearson's interval of it, which is exact: fifty
    of fifty do not make it certain."""
    if not 0 <= successes <= n or n < 1:
        raise UserError(f"{successes} of {n} is no count of successes")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes == n else float(beta.ppf(1 - tail, successes + 1, n - successes))
    return Interval(successes / n, low, high)


def bootstrap_interval(
    statistic: Callable[..., np.ndarray],
    *samples: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    level: float = 0.9,
    resamples: int = 2000,
) -> Interval:
    """A statistic of samples paired by seed, and its bootstrap interval: seeds are drawn again
    and again with replacement, the same ones from every sample. `statistic` gets an array
    [resample, seed] per sample, and reduces the last axis."""
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    n = len(arrays[0])
    if not n or any(len(array) != n for array in arrays):
        raise UserError("a bootstrap needs samples of one size, and at least one value in each")
    estimate = float(statistic(*(array[None] for array in arrays))[0])
    if n == 1:
        return Interval(estimate, -np.inf, np.inf)
    drawn = rng.integers(n, size=(resamples, n))
    found = statistic(*(array[drawn] for array in arrays))
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))


def interquartile_mean(values: np.ndarray) -> np.ndarray:
    """The mean of the middle half; a value that is cut by a quarter counts by the part within."""
    ordered = np.sort(values, axis=-1)
    n = ordered.shape[-1]
    edges = np.arange(n + 1)
    share = np.minimum(edges[1:], 0.75 * n) - np.maximum(edges[:-1], 0.25 * n)
    return (ordered * np.maximum(share, 0)).sum(axis=-1) / (0.5 * n)
