"""Confidence intervals, 90 % by default: of means over seeds, success rates, any statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit

from skillfocus.errors import UserError


class Interval(NamedTuple):
    """A point estimate with its confidence interval."""

    estimate: float
    low: float
    high: float


def mean_interval(values: Sequence[float] | np.ndarray, level: float = 0.9) -> Interval:
    """Return the mean and Student's interval of it, mean -+ t s / sqrt(n).

    The interval of a single value is infinite.

    Args:
        values: [n], at least one.
        level: Confidence level.

    Raises:
        UserError: If there are no values.
    """
    if not len(values):
        raise UserError("a mean needs at least one value")
    mean = float(np.mean(values))
    if len(values) == 1:
        return Interval(mean, -np.inf, np.inf)
    quantile = float(stdtrit(len(values) - 1, (1 + level) / 2))
    half = float(quantile * np.std(values, ddof=1) / len(values) ** 0.5)
    return Interval(mean, mean - half, mean + half)


def success_interval(successes: int, n: int, level: float = 0.9) -> Interval:
    """Return the success rate and its exact interval after Clopper and Pearson.

    Args:
        successes: 0 to `n`.
        n: The number of trials, at least 1.
        level: Confidence level.

    Raises:
        UserError: If the counts are not valid.
    """
    if not 0 <= successes <= n or n < 1:
        raise UserError(f"{successes} of {n} is no count of successes")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(successes / n, low, high)


def bootstrap_interval(
    statistic: Callable[..., np.ndarray],
    *samples: Sequence[float] | np.ndarray,
    rng: np.random.Generator,
    level: float = 0.9,
    resamples: int = 2000,
) -> Interval:
    """Return a statistic of samples paired by seed, and its percentile bootstrap interval.

    Seeds are resampled with replacement, the same ones in every sample. The interval of a single
    seed is infinite.

    Args:
        statistic: Takes one array [n_resamples, n_seeds] per sample and reduces the last axis.
        *samples: [n_seeds] each.
        rng: Generator of the resamples.
        level: Confidence level.
        resamples: The number of resamples.

    Raises:
        UserError: If the samples are empty or differ in size.
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    n = len(arrays[0])
    if not n or any(len(array) != n for array in arrays):
        sizes = ", ".join(str(len(array)) for array in arrays)
        raise UserError(f"a bootstrap needs samples of one size, at least 1, got {sizes}")
    estimate = float(statistic(*(array[None] for array in arrays))[0])
    if n == 1:
        return Interval(estimate, -np.inf, np.inf)
    drawn = rng.integers(n, size=(resamples, n))
    resampled = statistic(*(array[drawn] for array in arrays))
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))


def interquartile_mean(values: np.ndarray) -> np.ndarray:
    """Return the mean of the middle half over the last axis, [...] for values [..., n].

    A value that a quartile cuts counts by the part inside.
    """
    ordered = np.sort(values, axis=-1)
    n = ordered.shape[-1]
    edges = np.arange(n + 1)
    share = np.minimum(edges[1:], 0.75 * n) - np.maximum(edges[:-1], 0.25 * n)
    return (ordered * np.maximum(share, 0)).sum(axis=-1) / (0.5 * n)
