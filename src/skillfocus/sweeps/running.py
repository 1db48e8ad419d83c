"""`sweep`: execute a grid or a search over settings, pick the best point, and report it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from skillfocus._internal.checks import shown
from skillfocus._internal.file_names import file_name
from skillfocus.core.progress import Progress, no_progress, part_of
from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path
from skillfocus.learners.base import Learner
from skillfocus.learners.registry import as_learner
from skillfocus.runs.discovery_run import PLANNING, Discovery, format_settings
from skillfocus.runs.folder_store import Store
from skillfocus.runs.job import Job
from skillfocus.runs.run import settings_of
from skillfocus.runs.status import JobStatus
from skillfocus.sweeps.grid import Axis, Point, grid_points, parse_axis
from skillfocus.sweeps.optuna_search import open_study, search, sqlite_url
from skillfocus.sweeps.paper_grids import paper_axis
from skillfocus.sweeps.scores import Score, SweepSpec, best_score, metric_by_run, score_point
from skillfocus.sweeps.seeds import FIRST_TUNING_SEED, reporting_seeds, tuning_seeds
from skillfocus.sweeps.sensitivity import draw_sensitivity

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SweepResult:
    """The outcome of a sweep.

    Attributes:
        spec: What was compared.
        scores: The points that have all their runs, in the order they were tried.
        best: The best of them; None if there are none.
        reporting_seeds: Seeds that the best point was reported on; may be empty.
        report: The best point on those seeds; None if there are none, or a run failed.
        plot: The sensitivity plot; None without a best point.
        status: How the runs went.
    """

    spec: SweepSpec
    scores: list[Score]
    best: Score | None
    reporting_seeds: range
    report: Score | None
    plot: Path | None
    status: JobStatus

    @property
    def title(self) -> str:
        """What was swept: objective, world, learner and fixed settings that are not the default."""
        return _title(self.spec)

    def as_json(self) -> dict[str, object]:
        """Return the document that `sweep --json` prints."""
        return {
            "base": settings_of(self.spec.base),
            "metric": self.spec.metric,
            "minimise": self.spec.minimise,
            "tuning_seeds": list(self.spec.seeds),
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
    over: Sequence[Axis | str] | str = (),
    paper: Sequence[str] = (),
    seed: int = FIRST_TUNING_SEED,
    seeds: int = 3,
    report: int = 0,
    metric: str = "focus",
    minimise: bool = False,
    trials: int | None = None,
    storage: str | None = None,
    study: str | None = None,
    plot: str | Path | None = None,
    out: str | Path = "out",
    executor: Executor | None = None,
    workers: int | None = None,
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
        paper: Names of searches of the paper's appendix (see `PAPER_GRIDS`).
        seed: The first tuning seed.
        seeds: Number of tuning seeds that every point gets.
        report: Number of reporting seeds, from 0 up, that the best point is then run with.
        metric: The metric to compare by, such as `focus`, `mean_side_effects` or `auc`.
        minimise: Whether smaller values of the metric are better.
        trials: Search with that many Optuna trials instead of running the whole grid.
        storage: SQLAlchemy URL of the search's database; by default, SQLite in `out`.
        study: Name of the search in the database; by default, derived from what is searched.
        plot: The sensitivity plot (.png, .svg or .pdf); by default, a .png in `out`.
        out: Folder that runs are read from and stored in.
        executor: Where runs are executed, see `runs.executors`.
        workers: Number of worker processes of this machine; by default, one per core.
        cluster: The address of a Dask scheduler to execute the runs instead.
        retry_failed: Whether to execute again what failed before.
        learner: The learner.
        progress: Callback for the fraction done.
        **settings: Further fields of `Discovery`, the same for all points.

    Returns:
        All scores, the best one and how it does on the reporting seeds.

    Raises:
        UserError: If an argument is invalid; nothing has run then.
        Interrupted: After Ctrl-C, once finished runs are stored.
    """
    over = [over] if isinstance(over, str) else over
    if isinstance(over, Mapping):
        raise UserError(f"over is a list such as ['strength=1,2,4'], got {shown(over)}")
    learner = as_learner(learner)
    tuning = tuning_seeds(seeds, seed)
    reporting = reporting_seeds(report) if report else range(0)
    axes = sweep_axes(over, paper, objective, learner.name)
    _check_conflicts(axes, settings, world)
    settings.setdefault("coverage", metric in ("auc", "coverage"))
    base = Discovery(world, objective, seed, learner, **settings)
    if plot is not None:
        check_path(Path(plot))
    if trials is None and (storage or study):
        raise UserError("--storage and --study belong to a search; add --trials")
    points = grid_points(axes) if trials is None else []
    spec = SweepSpec(base, tuple(axes), tuple(tuning), metric, minimise)
    for point in points:  # invalid points are reported before anything runs
        spec.runs(point)
    n_points = len(points) if trials is None else trials
    tuned = n_points * seeds / max(1, n_points * seeds + report)
    store = Store(out)
    with Job(
        store, executor=executor, workers=workers, cluster=cluster, retry_failed=retry_failed
    ) as job:
        if trials is None:
            results = _score_points(job, spec, points, tuning, part_of(progress, 0.0, tuned))
            scores = [score for score in results if score is not None]
        else:
            name = study or f"{objective}_{metric}_{spec.digest}"
            url = storage or sqlite_url(store.folder)
            scores = _search(job, spec, trials, name, url, part_of(progress, 0.0, tuned))
        best = best_score(scores, minimise) if scores else None
        reported = None
        if best and reporting:
            rest = part_of(progress, tuned, 1.0)
            (reported,) = _score_points(job, spec, [best.point], reporting, rest)
    path = None
    if best is not None:
        path = store.folder / _plot_name(spec) if plot is None else Path(plot)
        title = f"{_title(spec)}, {len(tuning)} tuning seed{'s' if len(tuning) > 1 else ''}"
        draw_sensitivity(path, title, metric, axes, scores, best)
    return SweepResult(spec, scores, best, reporting, reported, path, job.status)


def sweep_axes(
    over: Sequence[Axis | str], paper: Sequence[str], objective: str, learner: str
) -> list[Axis]:
    """Return the axes that `sweep` varies, those of the paper's searches first."""
    from_paper = [paper_axis(name, objective, learner) for name in paper]
    return from_paper + [axis if isinstance(axis, Axis) else parse_axis(axis) for axis in over]


def _check_conflicts(axes: Sequence[Axis], settings: dict[str, Any], world: str) -> None:
    """Refuse a fixed value for a setting that is swept over: it would be ignored."""
    defaults = {field.name: field.default for field in fields(Discovery)}
    fixed = {name: value for name, value in settings.items() if value != defaults.get(name)}
    fixed["world"] = world
    for axis in axes:
        if axis.setting in fixed:
            raise UserError(
                f"{axis.setting} is swept over, so {axis.setting}={fixed[axis.setting]} has no "
                f"effect; leave one of them out"
            )


def _score_points(
    job: Job,
    spec: SweepSpec,
    points: Sequence[Point],
    seeds: Sequence[int],
    progress: Progress,
) -> list[Score | None]:
    """Execute the runs of these points; None for a point that does not have all of them."""
    by_point = [spec.runs(point, seeds) for point in points]
    runs = [run for members in by_point for run in members]
    job.execute(runs, progress)
    values = metric_by_run(job.store.frame(runs), spec.metric)
    return [
        score_point(values, members, point) for members, point in zip(by_point, points, strict=True)
    ]


def _search(
    job: Job, spec: SweepSpec, trials: int, name: str, url: str, progress: Progress
) -> list[Score]:
    """Score the points that Optuna draws; those that cannot be run are logged and left out."""
    if trials < 1:
        raise UserError(f"trials is {trials}; it must be at least 1")
    job.store.prepare()
    scored = 0

    def score(points: list[Point]) -> list[Score | None]:
        nonlocal scored
        possible = []
        for point in points:
            try:
                spec.runs(point)
                possible.append(point)
            except UserError as error:
                _logger.warning("left out %s: %s", point, error)
        part = part_of(progress, scored / trials, min(1.0, (scored + len(points)) / trials))
        scored += len(points)
        scores = iter(_score_points(job, spec, possible, spec.seeds, part))
        return [next(scores) if point in possible else None for point in points]

    with open_study(url, name, spec) as study:
        drawn = len(study.get_trials(deepcopy=False))
        _logger.info("study %s: %d trials drawn so far", name, drawn)
        return search(
            study, spec, trials=trials, seed=spec.base.seed, score=score,
            retry_failed=job.retry_failed,
        )  # fmt: skip


def _title(spec: SweepSpec) -> str:
    swept = [axis.setting for axis in spec.axes]
    base = spec.base
    skills = "objectives" if "objective" in swept else base.objective
    hidden = (*swept, "coverage")  # whether coverage is measured follows from the metric
    fixed = {k: v for k, v in base.non_default_settings().items() if k not in hidden}
    suffix = "".join(f", {part}" for part in format_settings(fixed))
    return f"{skills} in {base.make_world().id} by {base.learner.name}{suffix}"


def _plot_name(spec: SweepSpec) -> str:
    swept = "+".join(axis.setting for axis in spec.axes)
    label = f"sweep_{spec.base.make_world().id}_{spec.base.objective}_{swept}"
    return file_name(label, f"_{spec.digest}.png")
