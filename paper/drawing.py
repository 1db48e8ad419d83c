"""What the experiments' figures share: a style per agent, learning curves, reference lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from paper.formatting import agent_name
from paper.results import TASK_STEPS, SeedValues, curves_by_seed, values_by_seed
from paper.settings import (
    PRIMITIVES,
    SCATTERED,
    SCATTERED_DIAYN,
    SCATTERED_LSD,
    STEP_LIMITS,
    TWO_TARGETS,
)
from skillfocus.figures.style import draw_mean_curve

COLOURS = {"vic": "#4393c3", "diayn": "#35978f", "lsd": "#5e4fa2"}
"""By objective."""
LINES = {"focused": "-", "dusdi": (0, (5, 1.5)), "": (0, (1, 1.2))}
"""By variant: focused, DUSDi, plain."""
GREY = "#8c8c8c"
OUR_COLOURS = {
    SCATTERED: "#d6604d",
    SCATTERED_DIAYN: "#bf812d",
    SCATTERED_LSD: "#c51b7d",
    SCATTERED + TWO_TARGETS: "#b2182b",
    "focused-vic" + TWO_TARGETS: "#f4a582",
}
"""Of agents that the paper does not have."""


def agent_style(agent: str) -> dict[str, Any]:
    """Return an agent's line: solid if focused, dashed for DUSDi, dotted if plain.

    Agents without an objective of the paper are solid grey.
    """
    variant, _, base = agent.removesuffix(TWO_TARGETS).rpartition("-")
    if base not in COLOURS:
        return {"color": GREY, "linestyle": "-"}
    line = LINES[variant.removeprefix("scattered-").removeprefix("permuted-")]
    return {"color": COLOURS[base], "linestyle": line}


def draw_task_curve(panel: Axes, frame: pl.DataFrame, metric: str, world: str, agent: str) -> None:
    """Draw a learning curve of a task: steps, or a return.

    Before the first episode an agent counts as one that fails.
    """
    limit = STEP_LIMITS[world]
    untrained, upper = (limit, limit) if metric == TASK_STEPS else (0, 1)
    _, episodes, curves = curves_by_seed(frame, metric, world, agent)
    if len(curves):
        curves = np.concatenate([np.full((len(curves), 1), untrained), curves], axis=1)
        x = np.concatenate([[0], episodes])
        draw_mean_curve(panel, x, curves, agent_style(agent), agent_name(agent), upper)


def draw_optimum(panel: Axes, frame: pl.DataFrame, metric: str, world: str) -> None:
    """Draw a line at what the best policy over primitive actions reaches."""
    optimum = values_by_seed(frame, f"optimum/{metric}", world, PRIMITIVES)
    if optimum:
        best = next(iter(optimum.values()))
        panel.axhline(best, color="black", lw=0.8, ls=(0, (4, 2)), label="optimum")


def draw_setting_curve(
    panel: Axes, agent: str, values: Mapping[float, SeedValues], upper: float
) -> None:
    """Draw an agent's values over a setting, using the seeds that all values of it have.

    Args:
        panel: Axes to draw on.
        agent: The agent.
        values: Values by seed, by position on the x axis.
        upper: Largest possible value.
    """
    values = {x: by_seed for x, by_seed in values.items() if by_seed}
    seeds = sorted(set.intersection(*map(set, values.values()))) if values else []
    if seeds:
        curves = np.array([[by_seed[seed] for by_seed in values.values()] for seed in seeds])
        x, style = np.array(list(values)), agent_style(agent)
        draw_mean_curve(panel, x, curves, style, agent_name(agent), upper, markers=True)
