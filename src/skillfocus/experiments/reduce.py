"""From everything that runs measured to what the analyses and figures ask for: small enough to
keep beside the code. Numbers per skill become, per case,

    goal/side_effects, roam/side_effects, any/side_effects       the mean over the skills that
                                                                 target a goal, the position,
                                                                 or nothing in particular
    goal/worst/side_effects, …                                   the largest
    goal/control                                                 how often a goal's best skill
                                                                 changes it, the mean over goals
"""

from __future__ import annotations

import polars as pl

from skillfocus.experiments.cases import LABELS, RESULTS, Case
from skillfocus.runs.discovery_run import Discovery

PER_SKILL = ("side_effects", "changes_target")
BY_VARIABLE = "side_effects_by_variable/"
WHOLE = ("auc", "coverage", "mean_side_effects", "identical")
CURVES = ("true/steps", "true/true_return", "proxy/true_return", "proxy/proxy_return")


def reduce_results(frame: pl.DataFrame, cases: list[Case]) -> pl.DataFrame:
    """The part of the cases' results that is analysed. Of the two ways to learn a task, each
    preset keeps its own; of the paths, those of the first seed."""
    metric = pl.col("metric")
    whole = frame.filter(metric.is_in(WHOLE) | metric.str.starts_with("optimum/"))
    own = pl.concat_str(pl.col("preset"), pl.lit("/"))
    curves = frame.filter(
        pl.any_horizontal(metric == own + pl.lit(curve) for curve in CURVES)
    ).with_columns(metric.str.replace(r"^[a-z]+/", "task/"))
    paths = frame.filter(metric.str.starts_with("path/") & (pl.col("seed") == pl.col("seed").min()))
    return pl.concat([whole, curves, _per_skill(frame, cases), paths]).sort(
        *LABELS, "metric", "step", nulls_last=False
    )


def _per_skill(frame: pl.DataFrame, cases: list[Case]) -> pl.DataFrame:
    metric = pl.col("metric")
    chosen = frame.filter(
        metric.is_in(PER_SKILL) | metric.str.starts_with(BY_VARIABLE), pl.col("step").is_not_null()
    )
    kinds = pl.DataFrame(
        [(*case.labels, z, *kind) for case in cases for z, kind in enumerate(_kinds(case))],
        schema={**LABELS, "step": pl.Int64, "of": pl.String, "target": pl.String}, orient="row",
    )  # fmt: skip
    labelled = chosen.join(kinds, on=[*LABELS, "step"], how="inner")
    by = labelled.group_by(*LABELS, "metric", "of", maintain_order=True)
    means = by.agg(pl.col("value").mean()).with_columns(
        metric=pl.concat_str("of", pl.lit("/"), "metric")
    )
    worst = (
        by.agg(pl.col("value").max())
        .filter(metric == "side_effects")
        .with_columns(metric=pl.concat_str("of", pl.lit("/worst/"), "metric"))
    )
    control = (
        labelled.filter((metric == "changes_target") & (pl.col("of") == "goal"))
        .group_by(*LABELS, "target", maintain_order=True)
        .agg(pl.col("value").max())
        .group_by(*LABELS, maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(metric=pl.lit("goal/control"))
    )
    found = [part.select(*LABELS, "metric", "value") for part in (means, worst, control)]
    nowhere = pl.lit(None, dtype=pl.Int64).alias("step")
    return pl.concat(found).with_columns(nowhere).select(*RESULTS)


def _kinds(case: Case) -> list[tuple[str, str]]:
    """What each skill is for, and its targets."""
    run = case.run
    if not isinstance(run, Discovery):
        return []
    world = run.make_world()
    default_target = world.space.index(world.default_target)
    skills = run.assignment().skills
    return [
        ("any" if not s else "roam" if set(s) == {default_target} else "goal", str(sorted(s)))
        for s in skills
    ]
