"""What decides the paper's numbers: every open decision taken the other way, one at a time.

All readings are run on tuning seeds, and their distance to the paper's numbers is measured. The
distance of a figure is the mean difference from the paper's numbers, each as a share of the scale
of its axis; the distance of a reading is the mean over Figures 2 to 4:

    Figure 2    8 areas of coverage             scale: the largest that 16 skills could have
    Figure 3    27 numbers of steps             scale: the step limit of the task
    Figure 4    16 pairs of proxy and true return

The preset `paper` is the reading with the smallest distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillfocus.experiments import coverage, downstream, underspecified
from skillfocus.experiments.by_seed import values_by_seed
from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import MISSING, agent_name, format_number
from skillfocus.experiments.presets import AGENTS, STEP_LIMITS, WORLD_NAMES, WORLDS
from skillfocus.experiments.readings import DECISIONS, READINGS, TUNING
from skillfocus.experiments.reduce import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_STEPS,
)
from skillfocus.report.document import Block, Heading, Paragraph, Picture, Table
from skillfocus.sweeps.seeds import FIRST_TUNING_SEED, tuning_seeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD = (
    "Every decision that the paper leaves open is taken the other way, one at a time, on tuning "
    "seeds. The distance of a figure is the mean difference from the paper's numbers (8 areas, 27 "
    "numbers of steps, 16 pairs of returns), each as a share of its axis; the distance of a "
    "reading is the mean over the three figures."
)
LARGEST_AREA = 2.66
"""Area that no set of 16 skills can exceed in FourRooms."""
Q_LEARNING_SEEDS = 2
"""Tuning seeds of the readings that learn by Q-learning, which takes ten times as long."""


@dataclass(frozen=True)
class PaperNumber:
    """A number that can be read from one of the paper's figures."""

    figure: int
    world: str
    agent: str
    metric: str
    value: float
    scale: float


def paper_numbers() -> list[PaperNumber]:
    """Return all numbers of Figures 2 to 4."""
    areas = [
        PaperNumber(2, "four-rooms", agent, "auc", value, LARGEST_AREA)
        for agent, value in coverage.PAPER.items()
    ]
    steps = [
        PaperNumber(3, world, agent, TASK_STEPS, value, STEP_LIMITS[world])
        for world in WORLDS
        for agent, value in downstream.PAPER[world].items()
    ]
    returns = [
        PaperNumber(4, world, agent, metric, value, 1.0)
        for world, agents in underspecified.PAPER.items()
        for agent, pair in agents.items()
        for metric, value in zip((PROXY_RETURN, PROXY_TRUE_RETURN), pair, strict=True)
    ]
    return [*areas, *steps, *returns]


# -------------------------------------------------------------------- cases


def study_setups() -> dict[str, Setup]:
    """Return all readings by their label, with the learners they need."""
    return {TUNING: Setup("paper")} | {
        name: Setup(name, reading.learner) for name, reading in READINGS.items()
    }


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every agent in every world with every reading, on a tenth as many tuning seeds."""
    if setup != Setup("paper") or len(seeds) < 10:
        return []
    listed = []
    for label, reading in study_setups().items():
        own = tuning_seeds(len(seeds) // 10)
        own = own if reading.learner == "planning" else own[:Q_LEARNING_SEEDS]
        for seed in own:
            for world in WORLDS:
                for agent in AGENTS:
                    case = reading.case(world, agent, seed)
                    listed.append(Case(label, "planning", world, agent, "", seed, case.run))
    return listed


# -------------------------------------------------------------------- distances


def readings_in(frame: pl.DataFrame) -> list[str]:
    """Return the readings that have results, the base first."""
    present = set(frame.filter(pl.col("seed") >= FIRST_TUNING_SEED)["preset"].unique())
    return [label for label in study_setups() if label in present]


def measured(frame: pl.DataFrame, label: str) -> dict[PaperNumber, float]:
    """Return our mean over tuning seeds of every number of the paper that a reading has."""
    own = frame.filter((pl.col("preset") == label) & (pl.col("seed") >= FIRST_TUNING_SEED))
    ours = {}
    for number in paper_numbers():
        if values := values_by_seed(own, number.metric, number.world, number.agent):
            ours[number] = float(np.mean(list(values.values())))
    return ours


def distances(ours: dict[PaperNumber, float]) -> dict[int, float]:
    """Return the distance of each figure (2 to 4) that has numbers."""
    by_figure: dict[int, list[float]] = {}
    for number, value in ours.items():
        by_figure.setdefault(number.figure, []).append(abs(value - number.value) / number.scale)
    return {figure: float(np.mean(parts)) for figure, parts in sorted(by_figure.items())}


def distance(ours: dict[PaperNumber, float]) -> float:
    """Return the distance of a reading, the mean over figures."""
    return float(np.mean(list(distances(ours).values())))


# -------------------------------------------------------------------- report


def analyze(frame: pl.DataFrame) -> Analysis:
    """Return nothing: readings are compared across setups, at the end of the section."""
    del frame
    return Analysis()


def study_blocks(frame: pl.DataFrame) -> list[Block]:
    """Return the table of distances, the figure and the numbers; nothing without results.

    Args:
        frame: Reduced results of all setups.
    """
    labels = readings_in(frame)
    if len(labels) < 2:
        return []
    ours = {label: measured(frame, label) for label in labels}
    return [
        Paragraph(METHOD),
        _distance_table(ours, frame),
        Picture("reading-study", "What decides the paper's numbers: the distance of every reading "
                "to Figures 2, 3 and 4. Left is nearer.", study_figure(ours)),
        Heading("Decisions", 3),
        _decision_table(),
        Heading("The numbers behind the figures", 3),
        *_number_tables(ours),
    ]  # fmt: skip


def _distance_table(ours: dict[str, dict[PaperNumber, float]], frame: pl.DataFrame) -> Table:
    order = sorted(ours, key=lambda label: distance(ours[label]))
    rows = []
    for label in order:
        by_figure = distances(ours[label])
        seeds = frame.filter((pl.col("preset") == label) & (pl.col("seed") >= FIRST_TUNING_SEED))
        rows.append(
            [
                reading_name(label), format_number(distance(ours[label]), 3),
                *(format_number(by_figure[f], 3) if f in by_figure else MISSING for f in (2, 3, 4)),
                str(seeds["seed"].n_unique()),
            ]
        )  # fmt: skip
    columns = ["reading", "distance", "Figure 2", "Figure 3", "Figure 4", "tuning seeds"]
    return Table("Distance to the paper's numbers, nearest first", columns, rows)


def _decision_table() -> Table:
    rows = []
    for decision in DECISIONS:
        choices = "; ".join(f"`{name}` {text}" for name, text in decision.choices.items())
        rows.append([f"`{decision.name}`", decision.question, choices, decision.reason])
    columns = ["setting", "question", "choices, the default first", "why that default"]
    return Table("What the paper leaves open", columns, rows)


def _number_tables(ours: dict[str, dict[PaperNumber, float]]) -> list[Block]:
    """One table per metric and world: agents in columns, the paper and every reading in rows."""
    tables: list[Block] = []
    numbers = paper_numbers()
    groups = dict.fromkeys((n.figure, n.world, n.metric) for n in numbers)
    titles = {"auc": "area of coverage", TASK_STEPS: "steps", PROXY_RETURN: "proxy return",
              PROXY_TRUE_RETURN: "true return, told the proxy"}  # fmt: skip
    for figure, world, metric in groups:
        mine = [n for n in numbers if (n.figure, n.world, n.metric) == (figure, world, metric)]
        digits = 1 if metric == TASK_STEPS else 2
        rows = [["the paper", *(format_number(n.value, digits) for n in mine)]]
        rows += [
            [reading_name(label),
             *(format_number(values[n], digits) if n in values else MISSING for n in mine)]
            for label, values in ours.items()
        ]  # fmt: skip
        title = f"Figure {figure}, {WORLD_NAMES[world]}: {titles[metric]}"
        tables.append(Table(title, ["reading", *(agent_name(n.agent) for n in mine)], rows))
    return tables


def reading_name(label: str) -> str:
    """Return how tables name a reading."""
    return "`paper`" if label == TUNING else f"`{label}`"


def study_figure(ours: dict[str, dict[PaperNumber, float]]) -> Figure:
    """Draw the distances of all readings, nearest first, stacked by figure."""
    from matplotlib.figure import Figure

    order = sorted(ours, key=lambda label: distance(ours[label]), reverse=True)
    figure = Figure(figsize=(7.2, 0.32 * len(order) + 1.1), layout="constrained")
    panel = figure.subplots()
    left = np.zeros(len(order))
    for number, colour in ((2, "#498fc1"), (3, "#3fa291"), (4, "#5f569f")):
        parts = np.array([distances(ours[label]).get(number, 0.0) / 3 for label in order])
        panel.barh(range(len(order)), parts, left=left, color=colour, label=f"Figure {number}")
        left += parts
    if TUNING in ours:
        panel.axvline(distance(ours[TUNING]), color="#444", linewidth=0.8, linestyle=":")
    names = ["paper" if label == TUNING else label for label in order]
    panel.set_yticks(range(len(order)), names)
    panel.set_xlabel("distance to the paper's numbers")
    panel.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper right", ncols=3, fontsize=8, frameon=False)  # pyright: ignore[reportCallIssue]
    return figure


EXPERIMENT = Experiment(
    "reading-study",
    "What decides the paper's numbers",
    cases,
    analyze,
    presets=("paper",),
    closing=study_blocks,
)
