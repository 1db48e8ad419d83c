"""Results with known answers, as `reduce_results` would give them."""

from __future__ import annotations

import polars as pl

from skillfocus.experiments.cases import COSTS, LABELS, RESULTS


def results(rows, preset="paper", learner="planning") -> pl.DataFrame:
    """rows: (world, agent, variant, metric, step, values by seed)"""
    return pl.DataFrame(
        [
            (preset, learner, world, agent, variant, seed, metric, step, float(value))
            for world, agent, variant, metric, step, values in rows
            for seed, value in enumerate(values)
        ],
        schema=RESULTS, orient="row",
    )  # fmt: skip


def costs(frame: pl.DataFrame) -> pl.DataFrame:
    cases = frame.select(*LABELS).unique(maintain_order=True)
    known = {"python": "3.11", "skillfocus": "0", "numpy": "2", "numba": "0", "cpu_seconds": 3600.0,
             "peak_memory_mb": 100.0}  # fmt: skip
    return cases.with_columns(**{k: pl.lit(v) for k, v in known.items()}).select(*COSTS)


AUC = {"focused-vic": [2.0, 2.2], "vic": [0.4, 0.5], "dusdi-vic": [2.0, 2.1]}


def whole() -> pl.DataFrame:
    """A little of every experiment."""
    rows = [("four-rooms", agent, "", "auc", None, v) for agent, v in AUC.items()]
    for agent, values in AUC.items():
        rows += [
            ("four-rooms", agent, "", "coverage", n, [v * n / 10 for v in values])
            for n in range(1, 6)
        ]
        for world, max_episode_steps in (
            ("four-rooms", 320),
            ("forage-world", 60),
            ("mud-world", 60),
        ):
            good = agent == "focused-vic"
            rows += [
                (world, agent, "", "mean_side_effects", None, [0.01, 0.02] if good else [1.0, 1.1]),
                (world, agent, "", "task/true/steps", 400, [max_episode_steps, max_episode_steps]),
                (
                    world,
                    agent,
                    "",
                    "task/true/steps",
                    800,
                    [20, 21] if good else [max_episode_steps, max_episode_steps],
                ),
                (world, agent, "", "task/true/true_return", 800, [1, 1] if good else [0, 0]),
            ]
            if world != "four-rooms":
                rows += [
                    (
                        world,
                        agent,
                        "",
                        "task/proxy/true_return",
                        800,
                        [0.9, 0.95] if good else [0, 0.01],
                    ),
                    (world, agent, "", "task/proxy/proxy_return", 800, [0.95, 0.95]),
                ]
    for world, max_episode_steps in (("four-rooms", 320), ("forage-world", 60), ("mud-world", 60)):
        rows += [
            (
                world,
                "primitives",
                "",
                "task/true/steps",
                800,
                [max_episode_steps, max_episode_steps],
            ),
            (world, "primitives", "", "task/true/true_return", 800, [0, 0]),
            (world, "primitives", "", "optimum/true/steps", None, [19.5, 19.5]),
            (world, "primitives", "", "optimum/true/success", None, [1, 1]),
        ]
    return results(rows)
