"""What a sweep compares, the runs behind each of its points, and how well the points did."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from skillfocus.errors import UserError, unknown
from skillfocus.metrics.statistics import mean_interval
from skillfocus.runs.discovery_run import Discovery
from skillfocus.sweeps.grid import Axis, Point, check_axes


@dataclass(frozen=True)
class SweepSpec:
    """What a sweep or a search compares; its digest identifies a search's study.

    Attributes:
        base: The run whose settings are varied.
        axes: The settings to vary, and over which values.
        seeds: Tuning seeds that every point is run with.
        metric: Name of the metric that points are compared by.
        minimise: Whether smaller values of the metric are better.
    """

    base: Discovery
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    metric: str
    minimise: bool

    def __post_init__(self) -> None:
        check_axes(self.axes)
        for axis in self.axes:
            self.base.check_setting(axis.setting)

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that depend on everything but the base's seed."""
        base = self.base.with_settings({"seed": 0}).id
        key = repr((base, self.axes, self.seeds, self.metric, self.minimise))
        return hashlib.sha256(key.encode()).hexdigest()[:8]

    def runs(self, point: Point, seeds: Sequence[int] | None = None) -> list[Discovery]:
        """Return the runs of a point, on its tuning seeds or on others; see `point_runs`."""
        return point_runs(self.base, point, self.seeds if seeds is None else seeds, self.metric)


def point_runs(base: Discovery, point: Point, seeds: Sequence[int], metric: str) -> list[Discovery]:
    """Return a point's runs, one per seed.

    Raises:
        UserError: If the point cannot be run, or its runs do not have the metric.
    """
    runs = [base.with_settings({**point, "seed": seed}) for seed in seeds]
    if metric not in runs[0].metrics():
        raise unknown("metric", metric, [*runs[0].metrics(), "auc"])
    if metric in ("focus", "control") and not runs[0].make_objective().targeted:
        raise UserError(
            f"{runs[0].objective} skills have no targets, so they have no {metric}; choose "
            f"another --metric, such as auc"
        )
    return runs


@dataclass(frozen=True)
class Score:
    """How one point of a sweep did.

    Attributes:
        point: The point.
        mean: Mean of the metric over seeds.
        low: Lower end of the mean's 90 % interval; -inf with one seed.
        high: Upper end of the interval; inf with one seed.
        values: The metric of each seed.
    """

    point: Point
    mean: float
    low: float
    high: float
    values: tuple[float, ...]

    def as_json(self) -> dict[str, object]:
        """Return the point's settings, `mean`, `interval` (None with one seed) and `values`."""
        interval = [self.low, self.high] if math.isfinite(self.low) else None
        return {**self.point, "mean": self.mean, "interval": interval, "values": list(self.values)}


def metric_by_run(frame: pl.DataFrame, metric: str) -> dict[str, float | None]:
    """Return a metric of every run in a store's frame, averaged over its steps, by run id."""
    rows = frame.filter(pl.col("metric") == metric)
    return dict(rows.group_by("run").agg(pl.col("value").mean()).iter_rows())


def score_point(
    values: Mapping[str, float | None], runs: Sequence[Discovery], point: Point
) -> Score | None:
    """Return a point's score; None if one of its runs is not finished.

    Args:
        values: The metric by run id, see `metric_by_run`.
        runs: The point's runs.
        point: The point.

    Raises:
        UserError: If the metric is undefined for one of the runs.
    """
    if any(run.id not in values for run in runs):
        return None
    by_seed = tuple(value for run in runs if (value := values[run.id]) is not None)
    if len(by_seed) < len(runs):
        raise UserError(f"{runs[0].label} has no value of this metric; choose another --metric")
    return Score(point, *mean_interval(by_seed), by_seed)


def best_score(scores: Sequence[Score], minimise: bool) -> Score:
    """Return the score with the best mean; the first one of equals."""
    return min(scores, key=lambda s: s.mean) if minimise else max(scores, key=lambda s: s.mean)
