"""Results of cases as frames: collected from runs, reduced, saved, and read by seed.

Analyses see results as a long frame with the columns

    preset, learner, world, agent, variant, seed | metric, step, value

and compare agents by paired differences and ratios: a seed counts only if both agents have it.
`REDUCTIONS` says how what runs measured becomes these results, which are small enough to be
committed. Rows per skill become, per case:

    goal/side_effects, roam/side_effects, any/side_effects    the mean over the skills that target
                                                              a goal, the position, or nothing
    goal/worst/side_effects, …                                the largest
    goal/control                                              how often a goal's best skill
                                                              changes it, the mean over goals
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import polars as pl

import skillfocus as sf
from paper.agents import Case, Pipeline, Setup
from paper.settings import READING, TASK_READINGS, task_key
from skillfocus.errors import UserError
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
    if records.is_empty():
        return pl.DataFrame(schema=COSTS)
    unknown = [name for name in VERSIONS if name not in records.columns]
    records = records.with_columns(pl.lit(None, pl.String).alias(name) for name in unknown)
    records = records.select("run", *VERSIONS, "cpu_seconds", "peak_memory_mb")
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
            raise UserError(
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
            raise UserError(f"there is no {name} in {folder}; name a folder such as results")
        try:
            tables.append(pl.read_parquet(path).select(*schema).cast(schema))  # pyright: ignore[reportArgumentType]
        except (OSError, pl.exceptions.PolarsError) as error:
            raise UserError(f"{path} does not hold saved results: {error}") from None
    return tables[0], tables[1]


# -------------------------------------------------------------------- reducing

Reduction = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
"""`reduction(rows, roles)`: from all rows of a metric to its reduced rows, both with the columns
`RESULTS`. `roles` (see `skill_roles`) says what each skill is for."""


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


REDUCTIONS: dict[str, Reduction] = {
    # per run
    "auc": keep, "coverage": keep, "mean_side_effects": keep, "optimum/*": keep, "identical": keep,
    "control": drop, "focus": drop, "coverage_exact": drop,
    # per skill
    "side_effects": mean_and_worst_by_role,
    "changes_target": mean_by_role_and_control,
    "side_effects_by_variable/*": mean_by_role,
    **dict.fromkeys(
        ("side_effects_interval/*", "side_effects_interval", "mean_change_by_variable/*",
         "changes_alone", "best_possible", "avoidable", "steps", "starts", "exact", "all_starts/*"),
        drop,
    ),
    # paths, and learning curves by the way in which the task is learned
    "path/*": first_seed,
    **{f"{name}/proxy/steps": drop for name in TASK_READINGS},
    **{f"{name}/{kind}/*": own_preset for name in TASK_READINGS for kind in ("true", "proxy")},
}  # fmt: skip
"""By metric of runs, or pattern; the first that matches applies, and any other metric is kept."""


def reduce_results(frame: pl.DataFrame, cases: Sequence[Case]) -> pl.DataFrame:
    """Return the reduced results of cases, sorted.

    Args:
        frame: Everything that the cases measured (`collect_results`).
        cases: The cases.
    """
    roles = skill_roles(cases)
    names: dict[Reduction, list[str]] = {}
    for name in frame["metric"].unique().sort():
        found = next((r for pattern, r in REDUCTIONS.items() if fnmatchcase(name, pattern)), keep)
        names.setdefault(found, []).append(name)
    parts = [
        reduction(frame.filter(pl.col("metric").is_in(mine)), roles).select(*RESULTS)
        for reduction, mine in names.items()
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
    if not isinstance(run, sf.Discovery):
        return []
    world = run.make_world()
    default = {world.space.index(world.default_target)}
    return [
        ("any" if not targets else "roam" if set(targets) == default else "goal",
         str(sorted(targets)))
        for targets in run.assignment().skills
    ]  # fmt: skip


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
