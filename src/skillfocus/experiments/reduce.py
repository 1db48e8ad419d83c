"""Reduce everything that runs measured to what analyses and figures need.

A `Metric` declares how the rows of a metric become part of the reduced results, which are small
enough to be committed. A metric that nobody declared is kept as it is, so nothing gets lost. Rows
per skill become, per case:

    goal/side_effects, roam/side_effects, any/side_effects    the mean over the skills that target
                                                              a goal, the position, or nothing
    goal/worst/side_effects, …                                the largest
    goal/control                                              how often a goal's best skill
                                                              changes it, the mean over goals
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

import polars as pl

from skillfocus.experiments.cases import Case
from skillfocus.experiments.readings import READING, TASK_READINGS, task_key
from skillfocus.experiments.results import LABELS, RESULTS
from skillfocus.runs.discovery_run import Discovery

TASK_STEPS, TASK_RETURN = "task/true/steps", "task/true/true_return"
"""Reduced learning curves of a task: steps per episode, and its return (1 if accomplished)."""
PROXY_TRUE_RETURN, PROXY_RETURN = "task/proxy/true_return", "task/proxy/proxy_return"
"""Reduced learning curves of an agent that is trained on the proxy reward."""

Reduction = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
"""`reduction(rows, roles)`: from all rows of a metric to its reduced rows, both with the columns
`RESULTS`. `roles` (see `skill_roles`) says what each skill is for."""


# -------------------------------------------------------------------- reductions


def keep(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Keep all rows."""
    del roles
    return rows


def drop(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Drop all rows: no analysis needs them, and the runs still have them."""
    del roles
    return rows.clear()


def first_seed(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows of the first seed."""
    del roles
    return rows.filter(pl.col("seed") == pl.col("seed").min())


def own_preset(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Keep `NAME/…` of the way in which each case's own preset learns a task, as `task/…`.

    Every run learns its task in several ways, so that presets and readings can share runs.
    """
    del roles
    reading = pl.col("variant").str.strip_prefix(READING)
    names = pl.when(reading != pl.col("variant")).then(reading).otherwise(pl.col("preset"))
    rows = rows.with_columns(own=names)
    keys = {name: task_key(name) for name in rows["own"].unique()}
    metric = pl.col("metric")
    own = pl.concat_str(pl.col("own").replace_strict(keys, return_dtype=pl.String), pl.lit("/"))
    mine = rows.filter(metric.str.starts_with(own)).drop("own")
    return mine.with_columns(metric.str.replace(r"^[^/]+/", "task/"))


def mean_by_role(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Average a metric per skill over the skills of a role, as `ROLE/metric`.

    Rows of runs whose skills have no known role are kept as they are.
    """
    unassigned = rows.join(roles, on=[*LABELS, "step"], how="anti")
    return pl.concat([_by_role(rows, roles, pl.col("value").mean(), "/"), unassigned])


def mean_and_worst_by_role(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """As `mean_by_role`; also the largest value, as `ROLE/worst/metric`."""
    worst = _by_role(rows, roles, pl.col("value").max(), "/worst/")
    return pl.concat([mean_by_role(rows, roles), worst])


def mean_by_role_and_control(rows: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """As `mean_by_role`; also the best skill of a goal, averaged over goals, as `goal/control`."""
    control = (
        rows.join(roles.filter(pl.col("role") == "goal"), on=[*LABELS, "step"], how="inner")
        .group_by(*LABELS, "target", maintain_order=True)
        .agg(pl.col("value").max())
        .group_by(*LABELS, maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(metric=pl.lit("goal/control"), step=pl.lit(None, dtype=pl.Int64))
    )
    return pl.concat([mean_by_role(rows, roles), control.select(*RESULTS)])


def _by_role(
    rows: pl.DataFrame, roles: pl.DataFrame, statistic: pl.Expr, separator: str
) -> pl.DataFrame:
    labelled = rows.join(roles, on=[*LABELS, "step"], how="inner")
    by_role = labelled.group_by(*LABELS, "metric", "role", maintain_order=True).agg(statistic)
    return by_role.with_columns(
        metric=pl.concat_str("role", pl.lit(separator), "metric"),
        step=pl.lit(None, dtype=pl.Int64),
    ).select(*RESULTS)


# -------------------------------------------------------------------- metrics


@dataclass(frozen=True)
class Metric:
    """How a metric of runs becomes part of the reduced results, and of the report.

    register_metric(Metric("novelty", mean_by_role, title="Novelty of skills"))
    """

    name: str
    """Its name in runs, or a pattern such as `optimum/*`."""
    reduction: Reduction = keep
    title: str = ""
    """The title of a table of this metric in the report; empty if its experiments show it."""

    def matches(self, name: str) -> bool:
        """Return whether this declares the metric of that name."""
        return fnmatchcase(name, self.name)

    def matches_reduced(self, name: str) -> bool:
        """Return whether a metric of reduced results comes from this one, such as `goal/…`."""
        return self.matches(name) or fnmatchcase(name, f"*/{self.name}")


def _curve_metrics(name: str) -> list[Metric]:
    metric = partial(Metric, reduction=own_preset)
    curves = ("true/steps", "true/true_return", "proxy/true_return", "proxy/proxy_return")
    return [*(metric(f"{name}/{c}") for c in curves), Metric(f"{name}/proxy/steps", drop)]


METRICS: list[Metric] = [
    # Per run: `Discovery`, `Ideal`, `Primitives`, `NoStrength`.
    Metric("auc"),
    Metric("coverage"),
    Metric("mean_side_effects"),
    Metric("optimum/*"),
    Metric("identical"),
    Metric("control", drop),
    Metric("focus", drop),
    Metric("coverage_exact", drop),
    # Per skill: `Discovery`.
    Metric("side_effects", mean_and_worst_by_role),
    Metric("changes_target", mean_by_role_and_control),
    Metric("side_effects_by_variable/*", mean_by_role),
    Metric("side_effects_interval/*", drop),
    Metric("side_effects_interval", drop),
    Metric("mean_change_by_variable/*", drop),
    Metric("changes_alone", drop),
    Metric("best_possible", drop),
    Metric("avoidable", drop),
    Metric("steps", drop),
    Metric("starts", drop),
    Metric("exact", drop),
    Metric("all_starts/*", drop),
    # `Pipeline`, and learning curves of `Primitives`.
    Metric("path/*", first_seed),
    *(metric for name in TASK_READINGS for metric in _curve_metrics(name)),
]
"""All declared metrics. The first one that matches a name applies."""
UNDECLARED = Metric("*", keep)


def register_metric(metric: Metric) -> None:
    """Declare a metric, before all others; one of the same name is replaced."""
    unregister_metric(metric.name)
    METRICS.insert(0, metric)


def unregister_metric(name: str) -> None:
    """Remove the declaration of a metric."""
    METRICS[:] = [metric for metric in METRICS if metric.name != name]


def find_metric(name: str) -> Metric:
    """Return the declaration of a metric, or one that keeps it as it is."""
    return next((metric for metric in METRICS if metric.matches(name)), UNDECLARED)


# -------------------------------------------------------------------- reducing


def reduce_results(frame: pl.DataFrame, cases: Sequence[Case]) -> pl.DataFrame:
    """Reduce the results of cases, each metric as it is declared.

    Args:
        frame: Everything that the cases measured (`results.collect_results`).
        cases: The cases.

    Returns:
        Reduced results with the same columns, sorted.
    """
    roles = skill_roles(cases)
    names: dict[Metric, list[str]] = {}
    for name in frame["metric"].unique().sort():
        names.setdefault(find_metric(name), []).append(name)
    parts = [
        metric.reduction(frame.filter(pl.col("metric").is_in(mine)), roles).select(*RESULTS)
        for metric, mine in names.items()
    ]
    reduced = pl.concat(parts) if parts else frame
    return reduced.sort(*LABELS, "metric", "step", nulls_last=False)


def skill_roles(cases: Sequence[Case]) -> pl.DataFrame:
    """Return the role and the targets of every skill, by case and skill (`step`).

    A skill has the role `any` without targets, `roam` if its only target is the world's default
    (the position), and `goal` otherwise.
    """
    rows = [
        (*case.labels, skill, role, target)
        for case in cases
        for skill, (role, target) in enumerate(_roles_of(case))
    ]
    schema = {**LABELS, "step": pl.Int64, "role": pl.String, "target": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _roles_of(case: Case) -> list[tuple[str, str]]:
    run = case.run
    if not isinstance(run, Discovery):
        return []
    world = run.make_world()
    default = {world.space.index(world.default_target)}
    return [
        ("any" if not targets else "roam" if set(targets) == default else "goal",
         str(sorted(targets)))
        for targets in run.assignment().skills
    ]  # fmt: skip
