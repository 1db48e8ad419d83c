"""Numbers, intervals and agents as the report prints them and figures draw them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from paper.agents import Setup
from paper.results import (
    TASK_STEPS,
    SeedValues,
    count_successes,
    curves_by_seed,
    mean_over_seeds,
    values_by_seed,
)
from paper.settings import (
    PRIMITIVES,
    SCATTERED,
    SCATTERED_DIAYN,
    SCATTERED_LSD,
    STEP_LIMITS,
    TWO_TARGETS,
    WITH_MEMORY,
)
from skillfocus.figures import draw_mean_curve
from skillfocus.metrics.statistics import Interval

SETUP_NAMES = {
    ("paper", "planning"): "the paper's settings, planning",
    ("best", "planning"): "the best settings, planning",
    ("paper", "q-learning"): "the paper's settings, Q-learning",
    ("best", "q-learning"): "the best settings, Q-learning",
    ("paper", "literal"): "the paper's settings, literal Q-learning",
    ("scale", "neural"): "networks for a CPU",
    ("scale", "neural-large"): "networks for a GPU",
}
LEARNER_NAMES = {"q-learning": "Q-learning"}
"""Printed names of learners; the others print as they are called."""
MISSING = "–"
"""What a table shows where there is no value."""


def format_number(value: float, digits: int = 2) -> str:
    """Format a number with fixed digits, a typographic minus (none for zero), and `∞`."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:z.{digits}f}".replace("-", "−")


def format_interval(interval: Interval | None, digits: int = 2) -> str:
    """Format an interval as `1.85 (1.80 to 1.90)`; one seed has an estimate alone, `1.85`."""
    if interval is None:
        return MISSING
    if not np.isfinite(interval.low):
        return format_number(interval.estimate, digits)
    low, high = format_number(interval.low, digits), format_number(interval.high, digits)
    return f"{format_number(interval.estimate, digits)} ({low} to {high})"


def format_mean(
    values: SeedValues, digits: int = 2, low: float = -np.inf, high: float = np.inf
) -> str:
    """Format the mean over seeds with its interval, clipped to `low` and `high`."""
    return format_interval(mean_over_seeds(values, low, high), digits) if values else MISSING


def format_count(values: SeedValues, threshold: float = 0.5) -> str:
    """Format how many seeds exceed a threshold: `50 of 50 (0.94 to 1.00)`."""
    if not values:
        return MISSING
    count, n, share = count_successes(values, threshold)
    return f"{count} of {n} ({format_number(share.low)} to {format_number(share.high)})"


def format_range(numbers: Iterable[int]) -> str:
    """Format the range of some numbers: `5`, or `5 to 50` if they differ."""
    ordered = sorted(numbers)
    if not ordered or ordered[0] == ordered[-1]:
        return str(ordered[0] if ordered else 0)
    return f"{ordered[0]} to {ordered[-1]}"


def agent_name(agent: str) -> str:
    """Return the printed name of an agent: `focused-vic` is `focused VIC`."""
    words = agent.removesuffix(TWO_TARGETS).removesuffix(WITH_MEMORY).split("-")
    names = {"vic": "VIC", "diayn": "DIAYN", "lsd": "LSD", "metra": "METRA", "dusdi": "DUSDi"}
    name = " ".join(names.get(word, word) for word in words)
    name = "primitives only" if agent == PRIMITIVES else name
    if agent.endswith(WITH_MEMORY):
        return f"{name} with memory"
    return f"{name}, two targets each" if agent.endswith(TWO_TARGETS) else name


def setup_name(setup: Setup) -> str:
    """Return the printed name of a setup."""
    default = f"the {setup.preset} settings, {LEARNER_NAMES.get(setup.learner, setup.learner)}"
    return SETUP_NAMES.get((setup.preset, setup.learner), default)


def setup_title(setup: Setup) -> str:
    """Return the title of a setup's column: its learner, or `best` for the best settings."""
    learner = LEARNER_NAMES.get(setup.learner, setup.learner)
    if setup.preset == "paper":
        return learner
    return setup.preset if setup.learner == "planning" else f"{setup.preset}, {learner}"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def capitalize(text: str) -> str:
    """Return a text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Table:
    """A table of text with a title, and a note below it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        cells = [
            [" ".join(cell.splitlines()).replace("|", "\\|") for cell in line] for line in lines
        ]
        text = "\n".join(f"| {' | '.join(line)} |" for line in cells)
        return "\n\n".join(filter(None, (f"**{self.title}**", text, self.note)))


# -------------------------------------------------------------------- in figures

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
