"""Results of cases as frames: collected from runs, reduced, saved, and read by seed.

Analyses see results as a long frame with the columns

    preset, learner, world, agent, variant, seed | metric, step, value

and compare agents by paired differences and ratios: a seed counts only if both agents have it.
`reduce_results` makes these results, which are small enough to be committed, from what runs
measured. Rows per skill become, per case:

    goal/side_effects, roam/side_effects, any/side_effects    the mean over the skills that target
                                                              a goal, the position, or nothing
    goal/worst/side_effects, …                                the largest
    goal/control                                              how often a goal's best skill
                                                              changes it, the mean over goals
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import skillfocus as sf
from paper.agents import Case, Pipeline, Setup
from paper.settings import READING, TASK_READINGS, task_key
from skillfocus.files import require_writable_folder, write_atomically
from skillfocus.metrics.statistics import (
    Interval,
    bootstrap_interval,
    interquartile_mean,
    mean_interval,
    success_interval,
)

LABELS = {
    "preset": pl.String, "learner": pl.String, "world": pl.String, "agent": pl.String,
    "variant": pl.String, "seed": pl.Int64,
}  # fmt: skip
RESULTS = {**LABELS, "metric": pl.String, "step": pl.Int64, "value": pl.Float64}
VERSIONS = ("python", "skillfocus", "numpy", "numba", "jax", "device")
"""What runs record of where they were executed; JAX and its device are null without networks."""
COSTS = {
    **LABELS, **dict.fromkeys(VERSIONS, pl.String),
    "cpu_seconds": pl.Float64, "peak_memory_mb": pl.Float64,
}  # fmt: skip
FILES = {"results.parquet": RESULTS, "costs.parquet": COSTS}
"""The files of saved results, with their schemas."""
VERSION_FILE = "version.json"
"""Says which version of the runs saved results are of."""
TASK_STEPS, TASK_RETURN = "task/true/steps", "task/true/true_return"
"""Reduced learning curves of a task: steps per episode, and its return (1 if accomplished)."""
PROXY_TRUE_RETURN, PROXY_RETURN = "task/proxy/true_return", "task/proxy/proxy_return"
"""Reduced learning curves of an agent that is trained on the proxy reward."""
SeedValues = dict[int, float]
"""A value per seed."""
BOOTSTRAP_SEED = 20250
MIN_BOOTSTRAP_SEEDS = 10
"""With fewer seeds, a bootstrap interval is too narrow."""


# -------------------------------------------------------------------- collecting and saving


def collect_results(store: sf.Store, cases: Sequence[Case]) -> pl.DataFrame:
    """Return everything that the finished ones of these cases measured.

    Args:
        store: The folder of runs.
        cases: The cases; several may share a run, whose rows then appear under each label.
    """
    frame = store.frame([case.run for case in cases]).select("run", "metric", "step", "value")
    joined = _run_labels(cases).join(frame, on="run", how="inner", maintain_order="left_right")
    return joined.select(*RESULTS)


def collect_costs(store: sf.Store, cases: Sequence[Case]) -> pl.DataFrame:
    """Return time, memory and package versions of the finished ones of these cases."""
    records = store.records([case.run for case in cases])
    every = pl.DataFrame(schema={"run": pl.String, **COSTS}).drop(*LABELS)
    records = pl.concat([every, records], how="diagonal_relaxed")  # not all runs use JAX
    return _run_labels(cases).join(records, on="run", how="inner").select(*COSTS)


def _run_labels(cases: Sequence[Case]) -> pl.DataFrame:
    rows = {case.labels: case.run.id for case in cases}
    return pl.DataFrame(
        [(*labels, run) for labels, run in rows.items()],
        schema={**LABELS, "run": pl.String}, orient="row",
    )  # fmt: skip


def save_results(
    folder: Path, results: pl.DataFrame, costs: pl.DataFrame, replaced: Sequence[Setup] = ()
) -> None:
    """Add reduced results and costs to those saved in a folder, in single precision.

    Args:
        folder: The folder; it is created.
        results: Reduced results (`reduce_results`).
        costs: Costs (`collect_costs`).
        replaced: Setups whose saved results are all replaced, and with them any of another version.

    Raises:
        UserError: If the saved results are of another version of the runs, or cannot be read.
    """
    require_writable_folder(folder)
    tables = [results, costs]
    if (folder / VERSION_FILE).exists():
        saved = json.loads((folder / VERSION_FILE).read_text()).get("results")
        if saved == Pipeline.version:
            pairs = zip(load_results(folder), tables, strict=True)
            tables = [_merged(old, new, replaced) for old, new in pairs]
        elif not replaced:
            raise sf.UserError(
                f"the results in {folder} are of version {saved}, and these of version "
                f"{Pipeline.version}: save those of all experiments, or use another folder"
            )
    for name, table in zip(FILES, tables, strict=True):
        buffer = io.BytesIO()
        compact = table.with_columns(pl.col(pl.Float64).cast(pl.Float32))
        compact.write_parquet(buffer, compression="zstd", compression_level=19)
        write_atomically(folder / name, buffer.getvalue())
    version = {"results": Pipeline.version, "skillfocus": sf.__version__}
    write_atomically(folder / VERSION_FILE, (json.dumps(version) + "\n").encode())


def _merged(saved: pl.DataFrame, new: pl.DataFrame, replaced: Sequence[Setup]) -> pl.DataFrame:
    """Return saved rows with those of the same cases replaced, sorted."""
    others = saved.join(new.select(*LABELS).unique(), on=list(LABELS), how="anti")
    for setup in replaced:
        own = (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
        others = others.filter(~own)
    both = pl.concat([others, new.cast(others.schema)])  # pyright: ignore[reportArgumentType]
    order = [name for name in (*LABELS, "metric", "step") if name in both.columns]
    return both.sort(*order, nulls_last=False)


def load_results(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the results and costs that `save_results` saved.

    Raises:
        UserError: If a file is missing or unreadable, or has other columns.
    """
    tables = []
    for name, schema in FILES.items():
        path = folder / name
        if not path.is_file():
            raise sf.UserError(f"there is no {name} in {folder}; name a folder such as results")
        try:
            tables.append(pl.read_parquet(path).select(*schema).cast(schema))  # pyright: ignore[reportArgumentType]
        except (OSError, pl.exceptions.PolarsError) as error:
            raise sf.UserError(f"{path} does not hold saved results: {error}") from None
    return tables[0], tables[1]


# -------------------------------------------------------------------- reducing

DROPPED = (
    r"^(control|focus|coverage_exact|changes_alone|best_possible|avoidable|steps|starts|exact"
    r"|side_effects_interval(/.*)?|mean_change_by_variable/.*|all_starts/.*)$"
)
"""Metrics that no analysis needs; the runs still have them."""
PER_SKILL = r"^(side_effects|changes_target|side_effects_by_variable/.*)$"
LEARNED = rf"^({'|'.join(TASK_READINGS)})/(true|proxy)/"
"""Learning curves by the way in which a task is learned: see `TASK_READINGS`."""


def reduce_results(frame: pl.DataFrame, cases: Sequence[Case]) -> pl.DataFrame:
    """Return the reduced results of cases, sorted.

    Metrics per skill are averaged by the role of skills. Paths are those of the first seed. Of the
    ways in which every run learns its task, each case keeps its own. Others are kept as they are.

    Args:
        frame: Everything that the cases measured (`collect_results`).
        cases: The cases.
    """
    metric, seed = pl.col("metric"), pl.col("seed")
    per_skill, learned = metric.str.contains(PER_SKILL), metric.str.contains(LEARNED)
    path = metric.str.starts_with("path/")
    frame = frame.filter(~metric.str.contains(DROPPED))
    paths = frame.filter(path)
    parts = [
        frame.filter(~(per_skill | learned | path)),
        paths.filter(seed == seed.min()),
        _own_task(frame.filter(learned & ~metric.str.ends_with("/proxy/steps"))),
        *_by_role(frame.filter(per_skill), skill_roles(cases)),
    ]
    reduced = pl.concat(part.select(*RESULTS) for part in parts)
    return reduced.sort(*LABELS, "metric", "step", nulls_last=False)


def _own_task(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep `NAME/…` of the way in which each case's own preset learns a task, as `task/…`.

    Every run learns its task in several ways, so that presets and readings can share runs.
    """
    metric, reading = pl.col("metric"), pl.col("variant").str.strip_prefix(READING)
    own = pl.when(reading != pl.col("variant")).then(reading).otherwise(pl.col("preset"))
    rows = rows.with_columns(own=own)
    keys = {name: task_key(name) for name in rows["own"].unique()}
    way = pl.col("own").replace_strict(keys, return_dtype=pl.String)
    mine = rows.filter(metric.str.starts_with(pl.concat_str(way, pl.lit("/"))))
    return mine.with_columns(metric.str.replace(r"^[^/]+/", "task/"))


def _by_role(rows: pl.DataFrame, roles: pl.DataFrame) -> list[pl.DataFrame]:
    """Return means as `ROLE/metric`, the largest side effects, and the control over goals.

    Rows of skills without a known role are kept as they are.
    """
    skill, metric, value = [*LABELS, "step"], pl.col("metric"), pl.col("value")
    known = rows.join(roles, on=skill, how="inner")
    by_role = known.group_by(*LABELS, "metric", "role", maintain_order=True)
    best = known.filter((metric == "changes_target") & (pl.col("role") == "goal"))
    best = best.group_by(*LABELS, "target", maintain_order=True).agg(value.max())
    control = best.group_by(*LABELS, maintain_order=True).agg(value.mean())
    reduced = [
        by_role.agg(value.mean()).with_columns(metric=pl.concat_str("role", pl.lit("/"), "metric")),
        by_role.agg(value.max())
        .filter(metric == "side_effects")
        .with_columns(metric=pl.concat_str("role", pl.lit("/worst/"), "metric")),
        control.with_columns(metric=pl.lit("goal/control")),
    ]
    without_step = [part.with_columns(step=pl.lit(None, dtype=pl.Int64)) for part in reduced]
    return [*without_step, rows.join(roles, on=skill, how="anti")]


def skill_roles(cases: Sequence[Case]) -> pl.DataFrame:
    """Return the role and the targets of every skill, by case and skill (`step`).

    A skill has the role `any` without targets, `roam` if its only target is the world's default
    (the position), and `goal` otherwise.
    """
    rows = []
    for case in cases:
        if isinstance(case.run, sf.Discovery):
            world = case.run.make_world()
            default = {world.space.index(world.default_target)}
            for skill, targets in enumerate(case.run.problem.skills.skills):
                role = "any" if not targets else "roam" if set(targets) == default else "goal"
                rows.append((*case.labels, skill, role, str(sorted(targets))))
    schema = {**LABELS, "step": pl.Int64, "role": pl.String, "target": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


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


def values_by_agent(
    frame: pl.DataFrame, metric: str, world: str, agents: Iterable[str]
) -> dict[str, SeedValues]:
    """Return a metric by agent and seed (see `values_by_seed`)."""
    return {agent: values_by_seed(frame, metric, world, agent) for agent in agents}


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
    metrics = [f"{role}/worst/side_effects" for role in ("goal", "roam", "any")]
    rows = pl.concat(metric_rows(frame, metric, world, agent, variant) for metric in metrics)
    return dict(rows.group_by("seed").agg(pl.max("value")).sort("seed").iter_rows())


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


def differences(first: SeedValues, second: SeedValues) -> SeedValues:
    """Return first - second by seed, for the seeds that both have."""
    return {seed: value - second[seed] for seed, value in first.items() if seed in second}


def mean_ratio(first: SeedValues, second: SeedValues, *, log: bool = False) -> Interval | None:
    """Return the geometric mean of first / second over common seeds.

    Args:
        first: Values by seed.
        second: Values to divide by.
        log: Whether to return the mean of log(first / second) instead.

    Returns:
        The mean with its interval; None without common seeds, or if a value is not positive.
    """
    pairs = np.array([(value, second[seed]) for seed, value in first.items() if seed in second])
    if not pairs.size or pairs.min() <= 0:
        return None
    logs = mean_interval(np.log(pairs[:, 0] / pairs[:, 1]))
    return logs if log else Interval(*(float(np.exp(x)) for x in logs))


def count_successes(values: SeedValues, threshold: float = 0.5) -> tuple[int, int, Interval]:
    """Return how many seeds exceed a threshold, of how many, and the interval of their share."""
    count = sum(value > threshold for value in values.values())
    return count, len(values), success_interval(count, len(values))
