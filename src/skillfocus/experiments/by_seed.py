"""Values of a metric by seed, and statistics over them.

Analyses see results as a long frame with the columns

    preset, learner, world, agent, variant, seed | metric, step, value

and compare agents by paired differences and ratios: a seed counts only if both agents have it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from skillfocus.metrics.statistics import (
    Interval,
    bootstrap_interval,
    interquartile_mean,
    mean_interval,
    success_interval,
)

SeedValues = dict[int, float]
"""A value per seed."""
BOOTSTRAP_SEED = 20250
MIN_BOOTSTRAP_SEEDS = 10
"""With fewer seeds, a bootstrap interval is too narrow."""


# -------------------------------------------------------------------- reading a frame


def metric_rows(
    frame: pl.DataFrame, metric: str, world: str, agent: str, variant: str = ""
) -> pl.DataFrame:
    """Return the rows of one metric of one agent that have a value."""
    return frame.filter(
        (pl.col("metric") == metric) & (pl.col("world") == world) & (pl.col("agent") == agent)
        & (pl.col("variant") == variant) & pl.col("value").is_not_null()
    )  # fmt: skip


def values_by_seed(
    frame: pl.DataFrame,
    metric: str,
    world: str,
    agent: str,
    variant: str = "",
    step: int | None = None,
) -> SeedValues:
    """Return a metric of an agent by seed: its value at `step`, or at the last step (default)."""
    rows = metric_rows(frame, metric, world, agent, variant)
    if step is not None:
        rows = rows.filter(pl.col("step") == step)
    last = rows.sort("step", nulls_last=False, maintain_order=True).group_by("seed").last()
    return dict(last.sort("seed").select("seed", "value").iter_rows())


def curves_by_seed(
    frame: pl.DataFrame, metric: str, world: str, agent: str
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return a metric of an agent over its steps.

    Returns:
        The seeds, the steps [n_steps], and the values [n_seeds, n_steps].
    """
    rows = metric_rows(frame, metric, world, agent).sort("seed", "step")
    seeds, steps = rows["seed"].unique().sort(), rows["step"].unique().sort()
    values = rows["value"].to_numpy().reshape(len(seeds), len(steps))
    return seeds.to_list(), steps.to_numpy(), values


def worst_side_effects(
    frame: pl.DataFrame, world: str, agent: str, variant: str = ""
) -> SeedValues:
    """Return the side effects of an agent's worst skill, whatever its role."""
    worst: SeedValues = {}
    for role in ("goal", "roam", "any"):
        values = values_by_seed(frame, f"{role}/worst/side_effects", world, agent, variant)
        worst |= {seed: max(value, worst.get(seed, value)) for seed, value in values.items()}
    return worst


# -------------------------------------------------------------------- statistics


def mean_over_seeds(values: SeedValues, low: float = -np.inf, high: float = np.inf) -> Interval:
    """Return the mean and its 90 % interval, clipped to the range of possible values."""
    mean = mean_interval(list(values.values()))
    if not np.isfinite(mean.low):
        return mean
    return Interval(mean.estimate, max(mean.low, low), min(mean.high, high))


def interquartile_mean_over_seeds(values: SeedValues) -> Interval:
    """Return the interquartile mean, which single outliers do not move.

    Its bootstrap interval is infinite below `MIN_BOOTSTRAP_SEEDS` seeds.
    """
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    mean = bootstrap_interval(interquartile_mean, list(values.values()), rng=rng)
    if len(values) < MIN_BOOTSTRAP_SEEDS:
        return Interval(mean.estimate, -np.inf, np.inf)
    return mean


def paired_values(first: SeedValues, second: SeedValues) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the seeds that both have, in the order of `first`."""
    seeds = [seed for seed in first if seed in second]
    return np.array([first[s] for s in seeds]), np.array([second[s] for s in seeds])


def count_pairs(first: SeedValues, second: SeedValues) -> int:
    """Return the number of seeds that both have."""
    return len(first.keys() & second.keys())


def mean_difference(first: SeedValues, second: SeedValues) -> Interval | None:
    """Return the mean of first - second over common seeds; None without any."""
    a, b = paired_values(first, second)
    return mean_interval(a - b) if len(a) else None


def mean_log_ratio(first: SeedValues, second: SeedValues) -> Interval | None:
    """Return the mean of log(first / second) over common seeds.

    Returns:
        The mean with its interval; None without common seeds, or if a value is not positive.
    """
    a, b = paired_values(first, second)
    if not len(a) or min(a.min(), b.min()) <= 0:
        return None
    return mean_interval(np.log(a / b))


def mean_ratio(first: SeedValues, second: SeedValues) -> Interval | None:
    """Return the geometric mean of first / second over common seeds (see `mean_log_ratio`)."""
    logs = mean_log_ratio(first, second)
    return None if logs is None else Interval(*(float(np.exp(x)) for x in logs))


def count_successes(values: SeedValues, threshold: float = 0.5) -> tuple[int, int, Interval]:
    """Return how many seeds exceed a threshold, of how many, and the interval of their share."""
    count = sum(value > threshold for value in values.values())
    return count, len(values), success_interval(count, len(values))
