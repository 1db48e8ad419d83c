"""Figure 3 and its tables: how tasks are learned with skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillfocus.experiments.by_seed import (
    SeedValues,
    curves_by_seed,
    interquartile_mean_over_seeds,
    values_by_seed,
)
from skillfocus.experiments.formatting import (
    MISSING,
    agent_name,
    format_count,
    format_interval,
    format_mean,
    format_number,
)
from skillfocus.experiments.presets import AGENTS, PRIMITIVES, STEP_LIMITS, WORLD_NAMES, WORLDS
from skillfocus.experiments.reduce import TASK_RETURN, TASK_STEPS
from skillfocus.report.document import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def episodes_needed(frame: pl.DataFrame, world: str, agent: str) -> SeedValues:
    """Return the number of episodes until the steps are close to the final ones.

    Close means that three evaluations in a row are within 10 % of the last.

    Returns:
        Episodes by seed, of the seeds that learn the task.
    """
    returns = values_by_seed(frame, TASK_RETURN, world, agent)
    seeds, episodes, steps = curves_by_seed(frame, TASK_STEPS, world, agent)
    needed = {}
    for seed, curve in zip(seeds, steps, strict=True):
        if returns.get(seed, 0.0) > 0.5:
            close = curve <= 1.1 * curve[-1]
            three = close[:-2] & close[1:-1] & close[2:]
            needed[seed] = float(episodes[np.argmax(three) if three.any() else -1])
    return needed


def task_table(
    frame: pl.DataFrame,
    world: str,
    paper: Mapping[str, float],
    steps: Mapping[str, SeedValues],
    returns: Mapping[str, SeedValues],
) -> Table:
    """Return a table of final steps and successes, an agent per row.

    Args:
        frame: Reduced results of one setup.
        world: Short name of the world.
        paper: The paper's steps by agent.
        steps: Our final steps by agent and seed.
        returns: Our final returns by agent and seed.
    """
    limit = STEP_LIMITS[world]
    rows = [
        [
            agent_name(agent),
            format_number(paper[agent], 1) if agent in paper else MISSING,
            format_mean(steps[agent], 1, 0, limit),
            format_interval(interquartile_mean_over_seeds(steps[agent]), 1),
            format_mean(returns[agent], 2, 0, 1), format_count(returns[agent]),
            format_mean(episodes_needed(frame, world, agent), 0, 0, 20_000),
            str(len(steps[agent])),
        ]
        for agent in steps
        if steps[agent]
    ]  # fmt: skip
    columns = [
        "agent", "steps, paper", "steps, ours", "their interquartile mean", "success",
        "seeds that learn it", "episodes to within 10 %", "seeds",
    ]  # fmt: skip
    note = (
        f"The cap is {limit} steps, and counts for a failure. A seed learns the "
        f"task if its final policy accomplishes it in more than half of 1,000 runs; of those "
        f"seeds, the episodes after which three evaluations in a row are within 10 % of the "
        f"final steps."
    ) + _optimum_note(frame, world)
    return Table(f"{WORLD_NAMES[world]}: the task after 20,000 episodes", columns, rows, note)


def _optimum_note(frame: pl.DataFrame, world: str) -> str:
    """A sentence about the best policy over primitive actions, if it was computed."""
    optimum = values_by_seed(frame, "optimum/true/steps", world, PRIMITIVES)
    if not optimum:
        return ""
    success = values_by_seed(frame, "optimum/true/success", world, PRIMITIVES)
    steps, probability = (next(iter(values.values())) for values in (optimum, success))
    note = (
        f" The best policy over primitive moves needs {format_number(steps, 1)}"
        f" steps and succeeds with probability {format_number(probability, 3)}."
    )
    if world == "mud-world":
        note += (
            " That is an upper bound: the model that it is computed in takes every tracked "
            "cell for a new one, and agents do a little better."
        )
    return note


def learning_figure(frame: pl.DataFrame) -> Figure:
    """Draw steps while the task is learned, a panel per world.

    Args:
        frame: Reduced results of one setup.
    """
    from matplotlib.figure import Figure

    from skillfocus.experiments.drawing import draw_optimum, draw_task_curve
    from skillfocus.figures.style import label_panel

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, world in zip(panels, WORLDS, strict=True):
        for agent in AGENTS:
            draw_task_curve(panel, frame, TASK_STEPS, world, agent)
        draw_optimum(panel, frame, "true/steps", world)
        label_panel(panel, WORLD_NAMES[world], "episodes", "steps")
        panel.set_ylim(0, STEP_LIMITS[world] * 1.03)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure
