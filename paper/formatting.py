"""Numbers, intervals and agents as the report prints them and figures draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
    OUR_AGENTS,
    PRIMITIVES,
    STEP_LIMITS,
    TWO_TARGETS,
    WITH_MEMORY,
)
from skillfocus.figures import draw_mean_curve
from skillfocus.metrics.statistics import Interval

LEARNER_NAMES = {"q-learning": "Q-learning", "literal": "literal Q-learning"}
"""Printed names of learners; the others print as they are called."""
SETTINGS_NAMES = {"paper": "the paper's settings", "best": "the best settings"}
NETWORK_NAMES = {"neural": "networks for a CPU", "neural-large": "networks for a GPU"}
MISSING = "–"
"""What a table shows where there is no value."""


def number(value: float, digits: int = 2) -> str:
    """Format a number with fixed digits, a typographic minus (none for zero), and `∞`."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:z.{digits}f}".replace("-", "−")


def interval(found: Interval | None, digits: int = 2) -> str:
    """Format an interval as `1.85 (1.80 to 1.90)`; one seed has an estimate alone, `1.85`."""
    if found is None:
        return MISSING
    if not np.isfinite(found.low):
        return number(found.estimate, digits)
    estimate, low, high = (number(value, digits) for value in found)
    return f"{estimate} ({low} to {high})"


def mean(values: SeedValues, digits: int = 2, low: float = -np.inf, high: float = np.inf) -> str:
    """Format the mean over seeds with its interval, clipped to `low` and `high`."""
    return interval(mean_over_seeds(values, low, high), digits) if values else MISSING


def estimate(values: SeedValues, digits: int = 2) -> str:
    """Format the mean over seeds without its interval."""
    return number(mean_over_seeds(values).estimate, digits) if values else MISSING


def count(values: SeedValues, threshold: float = 0.5) -> str:
    """Format how many seeds exceed a threshold: `50 of 50 (0.94 to 1.00)`."""
    if not values:
        return MISSING
    successes, n, share = count_successes(values, threshold)
    return f"{successes} of {n} ({number(share.low)} to {number(share.high)})"


def extent(numbers: Iterable[float], digits: int = 0) -> str:
    """Format the smallest and the largest number: `5 to 50`, or `5` if they are equal."""
    found = [*numbers] or [0]
    return " to ".join(dict.fromkeys(number(edge, digits) for edge in (min(found), max(found))))


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
    settings = SETTINGS_NAMES.get(setup.preset, f"the {setup.preset} settings")
    learner = LEARNER_NAMES.get(setup.learner, setup.learner)
    return NETWORK_NAMES.get(setup.learner, f"{settings}, {learner}")


def setup_title(setup: Setup) -> str:
    """Return the title of a setup's column: its learner, or `best` for the best settings."""
    learner = "Q-learning" if setup.learner == "q-learning" else setup.learner
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

    @classmethod
    def of(cls, title: str, records: Iterable[Mapping[str, str]], note: str = "") -> Table:
        """Return the table of these rows, each by column.

        Spaces at the end of a column's name tell it from another one of the same name.
        """
        listed = list(records)
        columns = [name.rstrip() for name in listed[0]] if listed else []
        return cls(title, columns, [list(record.values()) for record in listed], note)

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
OUR_COLOURS = {agent: data["color"] for agent, data in OUR_AGENTS.items()}
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


Content = TypeVar("Content")


def draw_grid(
    contents: Sequence[Content],
    draw: Callable[[Axes, Content], object],
    size: tuple[float, float],
    rows: int = 1,
    **sharing: Any,
) -> Figure:
    """Draw a grid of panels, row by row.

    Args:
        contents: What the panels show.
        draw: Draws the content of a panel.
        size: Width and height in inches.
        rows: Number of rows.
        **sharing: Whether panels share axes (`sharex`, `sharey`).
    """
    figure = Figure(figsize=size, layout="constrained")
    columns = len(contents) // rows
    panels = figure.subplots(rows, columns, squeeze=False, **sharing)
    for panel, content in zip(panels.ravel(), contents, strict=True):
        draw(panel, content)
    return figure


def add_legend(
    figure: Figure,
    handles: Sequence[Artist] = (),
    loc: str = "outside right",
    fontsize: float = 7.5,
    **style: Any,
) -> None:
    """Draw a legend beside the panels: of these handles, or of what the first panel labels."""
    listed = handles or figure.axes[0].get_legend_handles_labels()[0]
    if listed:
        figure.legend(handles=listed, loc=loc, fontsize=fontsize, **style)  # pyright: ignore[reportCallIssue, reportArgumentType]


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
