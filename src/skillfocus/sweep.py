"""`sweep`: compare settings on tuning seeds with Optuna, by grid or by search, and report the best.

Seeds from 1,000 up are for tuning, those below for reporting, so a reported number never comes from
a seed that its settings were chosen on. Runs are stored like any others: an interrupted sweep draws
the same points again and finds their runs, so it resumes where it was.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skillfocus.discovery import PLANNING, Discovery, format_settings
from skillfocus.errors import UserError, unknown
from skillfocus.figures import check_path, save_figure
from skillfocus.files import digest, file_name
from skillfocus.learners.problem import Learner
from skillfocus.metrics.statistics import mean_interval
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.runs import JobStatus, Setting, Store, run_all
from skillfocus.world import seed_range

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution

FIRST_TUNING_SEED = 1000
MAX_POINTS = 100_000
"""The most points of a grid."""
BATCH = 4
"""Points of a search that are drawn before any of them is scored."""
Point = dict[str, Setting]
"""A value for each setting that is swept over."""


def tuning_seeds(count: int, first: int = FIRST_TUNING_SEED) -> range:
    """Return consecutive seeds to choose settings with.

    Raises:
        UserError: If there are none or too many, or one of them is a reporting seed.
    """
    if first < FIRST_TUNING_SEED:
        raise UserError(
            f"seed {first} is a reporting seed, and settings may only be chosen on tuning seeds: "
            f"use seeds from {FIRST_TUNING_SEED} up"
        )
    return seed_range(count, first)


def reporting_seeds(count: int, first: int = 0) -> range:
    """Return consecutive seeds to report results with.

    Raises:
        UserError: If there are none, or one of them is a tuning seed.
    """
    seeds = seed_range(count, first)
    if seeds[-1] >= FIRST_TUNING_SEED:
        raise UserError(
            f"seed {seeds[-1]} is a tuning seed, and results may not be reported on those: use "
            f"seeds below {FIRST_TUNING_SEED}"
        )
    return seeds


@dataclass(frozen=True)
class Axis:
    """One setting that is swept over, with values or, for a search, a range.

        Axis("strength", (1, 2, 4))
        Axis("strength", low=0.5, high=16.0, log=True)

    Attributes:
        setting: Name of the setting, one of `Discovery.setting_types`.
        values: Its values; empty for a range.
        low: Lower end of the range.
        high: Upper end of the range.
        log: Whether the range is searched on a logarithmic scale.
    """

    setting: str
    values: tuple[Setting, ...] = ()
    low: float = math.nan
    high: float = math.nan
    log: bool = False

    def distribution(self, is_int: bool) -> BaseDistribution:
        """Return what Optuna draws the setting's values from."""
        from optuna import distributions

        if self.values:
            return distributions.CategoricalDistribution(self.values)  # pyright: ignore[reportArgumentType]
        if is_int:
            return distributions.IntDistribution(int(self.low), int(self.high), log=self.log)
        return distributions.FloatDistribution(self.low, self.high, log=self.log)


def parse_axis(text: str) -> Axis:
    """Parse `strength=1,2,4`, or a range such as `strength=0.5..16` or `strength=0.5..16:log`.

    Raises:
        UserError: If the text is neither.
    """
    setting, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not values or len(setting.split()) != 1:
        raise UserError(f"cannot read {text!r}; write NAME=VALUE,VALUE,… or NAME=LOW..HIGH[:log]")
    if ".." not in values:
        members = tuple(_parse_value(part) for part in values.split(","))
        if len(set(members)) != len(members):
            raise UserError(f"{text!r} names a value twice")
        return Axis(setting, members)
    bounds, _, scale = values.partition(":")
    low, high = (_parse_value(part) for part in bounds.partition("..")[::2])
    if isinstance(low, str | bool | None) or isinstance(high, str | bool | None):
        raise UserError(f"the range {values!r} of {setting} must be two numbers")
    if scale not in ("", "log"):
        raise UserError(f"a range ends in :log or in nothing, not in {':' + scale!r}")
    if not low < high or (scale == "log" and low <= 0):
        raise UserError(
            f"cannot use the range {values!r} of {setting}: LOW must be below HIGH, and with :log "
            f"both must be positive"
        )
    return Axis(setting, low=low, high=high, log=scale == "log")


def _parse_value(text: str) -> Setting:
    """Return an int, a float or a bool if the text is one, else the text itself."""
    text = text.strip()
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if abs(number) <= sys.float_info.max:  # neither infinite nor too large for a float
            return number
    return text == "true" if text in ("true", "false") else text


@dataclass(frozen=True)
class Score:
    """How one point of a sweep did: the metric of each seed, their mean and its 90 % interval."""

    point: Point
    mean: float
    low: float
    high: float
    values: tuple[float, ...]

    def as_json(self) -> dict[str, object]:
        """Return the point's settings, `mean`, `interval` (None with one seed) and `values`."""
        interval = [self.low, self.high] if math.isfinite(self.low) else None
        return {**self.point, "mean": self.mean, "interval": interval, "values": list(self.values)}


@dataclass(frozen=True)
class SweepResult:
    """The outcome of a sweep.

    Attributes:
        base: The run whose settings were varied.
        axes: The settings that were varied.
        metric: The metric that points were compared by.
        minimize: Whether smaller values of the metric are better.
        tuning_seeds: Seeds that every point was run with.
        scores: The points that have all their runs, in the order they were tried.
        best: The best of them; None if there are none.
        reporting_seeds: Seeds that the best point was reported on; may be empty.
        report: The best point on those seeds; None if there are none, or a run failed.
        plot: The sensitivity plot; None without a best point.
        status: How the runs went.
    """

    base: Discovery
    axes: tuple[Axis, ...]
    metric: str
    minimize: bool
    tuning_seeds: range
    scores: list[Score]
    best: Score | None
    reporting_seeds: range
    report: Score | None
    plot: Path | None
    status: JobStatus

    @property
    def title(self) -> str:
        """What was swept: objective, world, learner and fixed settings that are not the default."""
        swept = [axis.setting for axis in self.axes]
        name = "objectives" if "objective" in swept else self.base.objective
        hidden = (*swept, "coverage")  # whether coverage is measured follows from the metric
        fixed = {k: v for k, v in self.base.non_default_settings().items() if k not in hidden}
        suffix = "".join(f", {part}" for part in format_settings(fixed))
        return f"{name} in {self.base.make_world().id} by {self.base.learner.name}{suffix}"

    def as_json(self) -> dict[str, object]:
        """Return the document that `sweep --json` prints."""
        return {
            "base": self.base.settings(),
            "metric": self.metric,
            "minimize": self.minimize,
            "tuning_seeds": list(self.tuning_seeds),
            "points": [score.as_json() for score in self.scores],
            "best": self.best and self.best.as_json(),
            "reporting_seeds": list(self.reporting_seeds),
            "report": self.report and self.report.as_json(),
            "plot": self.plot and str(self.plot),
        }


def sweep(
    world: str,
    objective: str,
    *,
    over: Sequence[Axis | str] | str,
    seed: int = FIRST_TUNING_SEED,
    seeds: int = 3,
    report: int = 0,
    metric: str = "focus",
    minimize: bool = False,
    trials: int | None = None,
    plot: str | Path | None = None,
    out: str | Path = "out",
    workers: int = 1,
    executor: Executor | None = None,
    cluster: str | None = None,
    retry_failed: bool = False,
    learner: Learner | str = PLANNING,
    progress: Progress = no_progress,
    **settings: Any,
) -> SweepResult:
    """Compare settings: every point of a grid, or a search with Optuna, on tuning seeds.

        sweep("four-rooms", "focused-vic", over=["strength=1,2,4,8"], report=5).best

    Args:
        world: A world's name, as for `make`.
        objective: An objective's name, such as `focused-vic`.
        over: Settings and their values, as `Axis` or as text (see `parse_axis`).
        seed: The first tuning seed.
        seeds: Number of tuning seeds that every point gets.
        report: Number of reporting seeds, from 0 up, that the best point is then run with.
        metric: The metric to compare by, such as `focus`, `mean_side_effects` or `auc`.
        minimize: Whether smaller values of the metric are better.
        trials: Search with that many trials of Optuna's TPE instead of running the whole grid.
        plot: The sensitivity plot (.png, .svg or .pdf); by default, a .png in `out`.
        out: Folder that runs are read from and stored in.
        workers: Number of worker processes.
        executor: Where to execute runs instead, see `run_all`.
        cluster: The address of a Dask scheduler to execute the runs instead.
        retry_failed: Whether to execute again what failed before.
        learner: The learner.
        progress: Callback for the fraction done.
        **settings: Further fields of `Discovery`, the same for all points.

    Raises:
        UserError: If an argument is invalid; nothing has run then.
        Interrupted: After Ctrl-C; finished runs are stored.
    """
    given = [over] if isinstance(over, str) else over
    axes = tuple(axis if isinstance(axis, Axis) else parse_axis(axis) for axis in given)
    tuning = tuning_seeds(seeds, seed)
    reporting = reporting_seeds(report) if report else range(0)
    _check_axes(axes, {**settings, "world": world}, trials)
    settings.setdefault("coverage", metric in ("auc", "coverage"))
    base = Discovery(world, objective, seed, learner, **settings)  # pyright: ignore[reportArgumentType]
    points = _grid(axes) if trials is None else []
    for run in map(base.with_settings, points):  # invalid points are reported before anything runs
        if metric not in run.metrics():
            raise unknown("metric", metric, [*run.metrics(), "auc"])
        if metric in ("focus", "control") and not run.make_objective().targeted:
            raise UserError(
                f"{run.objective} skills have no targets, so they have no {metric}; choose another "
                f"--metric, such as auc"
            )
    if plot is not None:
        check_path(Path(plot))
    study, store, status = _new_study(minimize, seed, points), Store(out), JobStatus(0)
    types = base.setting_types()
    from optuna.trial import TrialState  # Optuna is installed: there is a study

    distributions = {
        axis.setting: axis.distribution("int" in types.get(axis.setting, ())) for axis in axes
    }

    def score(points: Sequence[Point], seeds: range, part: Progress) -> list[Score | None]:
        """Run points, and return their scores; None for one whose runs have not all finished."""
        nonlocal status
        runs = [[base.with_settings({**point, "seed": s}) for s in seeds] for point in points]
        status += run_all(
            itertools.chain(*runs), store, workers=workers, executor=executor, cluster=cluster,
            retry_failed=retry_failed, progress=part,
        )  # fmt: skip
        frame = store.frame(itertools.chain(*runs)).filter(pl.col("metric") == metric)
        known = dict(frame.group_by("run").agg(pl.col("value").mean()).iter_rows())
        scored: list[Score | None] = []
        for point, members in zip(points, runs, strict=True):
            values = [known[run.id] for run in members if run.id in known]
            if None in values:
                raise UserError(f"{members[0].label} has no {metric}; choose another --metric")
            complete = len(values) == len(seeds)
            scored.append(Score(point, *mean_interval(values), tuple(values)) if complete else None)
        return scored

    n_points = len(points) if trials is None else trials
    tuned = n_points * seeds / (n_points * seeds + report)  # the share of the runs that tune
    size = n_points if trials is None else BATCH
    scores: list[Score] = []
    for first in range(0, n_points, size):
        last = min(first + size, n_points)
        batch = [study.ask(distributions) for _ in range(first, last)]
        part = part_of(progress, tuned * first / n_points, tuned * last / n_points)
        results = score([trial.params for trial in batch], tuning, part)
        for trial, result in zip(batch, results, strict=True):
            if result is None:
                study.tell(trial, state=TrialState.FAIL)
            else:
                study.tell(trial, result.mean)
                scores.append(result)
    best, reported, path = None, None, None
    if scores:
        best = (min if minimize else max)(scores, key=lambda s: s.mean)
        if reporting:
            (reported,) = score([best.point], reporting, part_of(progress, tuned, 1.0))
        swept = "+".join(axis.setting for axis in axes)
        key = digest(repr((base.with_settings({"seed": 0}).id, axes, metric)).encode())[:8]
        name = file_name(f"sweep_{base.make_world().id}_{objective}_{swept}", f"_{key}.png")
        path = store.folder / name if plot is None else Path(plot)
        _draw(study, axes, metric, path)
    return SweepResult(
        base, axes, metric, minimize, tuning, scores, best, reporting, reported, path, status
    )


def _check_axes(axes: Sequence[Axis], fixed: Mapping[str, Any], trials: int | None) -> None:
    if not axes:
        raise UserError("name what to sweep over, such as --over strength=1,2,4")
    names = [axis.setting for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{name} is swept over twice; give all its values at once")
        if fixed.get(name) is not None:
            raise UserError(f"{name} is swept over, so {name}={fixed[name]} has no effect")
    if "seed" in names:
        raise UserError("seeds are not swept over: --seeds says how many each point gets")
    if trials is not None and trials < 1:
        raise UserError(f"trials must be at least 1, got {trials}")


def _grid(axes: Sequence[Axis]) -> list[Point]:
    for axis in axes:
        if not axis.values:
            raise UserError(
                f"{axis.setting} is a range, and a grid needs values; give values, or --trials to "
                f"search the range"
            )
    if (n_points := math.prod(len(axis.values) for axis in axes)) > MAX_POINTS:
        raise UserError(
            f"the grid has {n_points:,} points, more than {MAX_POINTS:,}; give fewer values, or "
            f"--trials to try some of them"
        )
    names = [axis.setting for axis in axes]
    values = itertools.product(*(axis.values for axis in axes))
    return [dict(zip(names, each, strict=True)) for each in values]


# -------------------------------------------------------------------- Optuna


def _new_study(minimize: bool, seed: int, points: Sequence[Point]) -> Study:
    """Return a study in memory, with the points of a grid enqueued."""
    try:
        import optuna
    except ImportError:
        raise UserError(
            "sweeps need Optuna, which is not installed: pip install 'skillfocus[sweep]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="minimize" if minimize else "maximize", sampler=sampler)
    for point in points:
        study.enqueue_trial(point)
    return study


def _draw(study: Study, axes: Sequence[Axis], metric: str, path: Path) -> None:
    """Draw the metric against every setting."""
    import matplotlib as mpl

    with warnings.catch_warnings(), mpl.rc_context({"backend": "agg"}):
        warnings.simplefilter("ignore")  # Optuna's plots call themselves experimental
        from optuna.visualization.matplotlib import plot_slice

        panels = plot_slice(
            study, params=[axis.setting for axis in axes], target_name=metric.replace("_", " ")
        )
        figure: Any = (panels if len(axes) == 1 else panels[0]).figure  # pyright: ignore[reportAttributeAccessIssue, reportIndexIssue]
    save_figure(figure, path)
