"""Frames of results with known answers, as `reduce_results` would return them."""

from __future__ import annotations

import numpy as np
import polars as pl

from paper.results import COSTS, LABELS, RESULTS
from paper.settings import STEP_LIMITS


def make_results(rows, preset="paper", learner="planning") -> pl.DataFrame:
    """Results from rows (world, agent, variant, metric, step, values by seed)."""
    return pl.DataFrame(
        [
            (preset, learner, world, agent, variant, seed, metric, step, float(value))
            for world, agent, variant, metric, step, values in rows
            for seed, value in enumerate(values)
        ],
        schema=RESULTS, orient="row",
    )  # fmt: skip


def make_costs(frame: pl.DataFrame) -> pl.DataFrame:
    """Costs of the cases of some results: an hour and 100 MB each."""
    cases = frame.select(*LABELS).unique(maintain_order=True)
    values = {"python": "3.11", "skillfocus": "0", "numpy": "2", "numba": "0", "jax": None,
              "device": None, "cpu_seconds": 3600.0, "peak_memory_mb": 100.0}  # fmt: skip
    costs = cases.with_columns(**{k: pl.lit(v) for k, v in values.items()})
    return costs.select(*COSTS).cast(COSTS)  # pyright: ignore[reportArgumentType]


AREAS = {"focused-vic": [2.0, 2.2], "vic": [0.4, 0.5], "dusdi-vic": [2.0, 2.1]}
"""Areas of coverage in `sample_results`."""


def sample_results() -> pl.DataFrame:
    """A little of every experiment: three agents that use skills and one that does not, 2 seeds."""
    rows = [("four-rooms", agent, "", "auc", None, v) for agent, v in AREAS.items()]
    for agent, areas in AREAS.items():
        rows += [
            ("four-rooms", agent, "", "coverage", n, [v * n / 10 for v in areas])
            for n in range(1, 6)
        ]
        for world, limit in STEP_LIMITS.items():
            rows += _task_rows(world, limit, agent, good=agent == "focused-vic")
    for world, limit in STEP_LIMITS.items():
        rows += [
            (world, "primitives", "", "task/true/steps", 800, [limit, limit]),
            (world, "primitives", "", "task/true/true_return", 800, [0, 0]),
            (world, "primitives", "", "optimum/true/steps", None, [19.5, 19.5]),
            (world, "primitives", "", "optimum/true/success", None, [1, 1]),
        ]
    return make_results(rows)


def _task_rows(world, limit, agent, good):
    fail = [limit, limit]
    rows = [
        (world, agent, "", "mean_side_effects", None, [0.01, 0.02] if good else [1.0, 1.1]),
        (world, agent, "", "task/true/steps", 400, fail),
        (world, agent, "", "task/true/steps", 800, [20, 21] if good else fail),
        (world, agent, "", "task/true/true_return", 800, [1, 1] if good else [0, 0]),
    ]
    if world == "four-rooms":
        return rows
    true = [0.9, 0.95] if good else [0, 0.01]
    return [
        *rows,
        (world, agent, "", "task/proxy/true_return", 800, true),
        (world, agent, "", "task/proxy/proxy_return", 800, [0.95, 0.95]),
    ]


def replace_values(frame: pl.DataFrame, agent: str, metric: str, value) -> pl.DataFrame:
    """The same results but for one metric of an agent; `value` is a number or an expression."""
    mine = (pl.col("agent") == agent) & (pl.col("metric") == metric)
    return frame.with_columns(value=pl.when(mine).then(value).otherwise("value"))


def claims_by_id(analysis) -> dict:
    """The claims of an analysis by their ids."""
    return {claim.id: claim for claim in analysis.claims}


def line_data(panel, label: str) -> tuple[np.ndarray, np.ndarray]:
    """The x and y of the only line of a panel whose label begins like this."""
    (line,) = [x for x in panel.get_lines() if x.get_label().startswith(label)]
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
