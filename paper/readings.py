"""What decides the paper's numbers: every open decision taken the other way, one at a time.

All readings are run on tuning seeds, and their distance to the paper's numbers is measured. The
distance of a figure is the mean difference from the paper's numbers, each as a share of the scale
of its axis; the distance of a reading is the mean over Figures 2 to 4:

    Figure 2    8 areas of coverage             scale: the largest that 16 skills could have
    Figure 3    27 numbers of steps             scale: the step limit of the task
    Figure 4    16 pairs of proxy and true return

The preset `paper` is the nearest reading; docs/readings.md says how it was chosen.

A statement compares our means over tuning seeds with each other, not with the paper's numbers:
"plain VIC fails in FourRooms". Those that the paper's own numbers do not support are left out. A
reading *flips* a claim of the paper if it changes the number of statements that hold by a third of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from paper import figure_2, figures_3_and_4
from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.claims import Analysis, Experiment
from paper.results import PROXY_RETURN, PROXY_TRUE_RETURN, TASK_STEPS, values_by_seed
from paper.settings import (
    AGENTS,
    DECISIONS,
    DUSDI,
    FOCUSED,
    PLAIN,
    PRIMITIVES,
    READING,
    READINGS,
    STEP_LIMITS,
    TASK_READINGS,
    WORLD_NAMES,
    WORLDS,
)
from skillfocus.sweep import tuning_seeds

# -------------------------------------------------------------------- the paper's numbers

LARGEST_AREA = 2.66
"""Area that no set of 16 skills can exceed in FourRooms."""


class PaperNumber(NamedTuple):
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
        for agent, value in figure_2.PAPER.items()
    ]
    steps = [
        PaperNumber(3, world, agent, TASK_STEPS, value, STEP_LIMITS[world])
        for world in WORLDS
        for agent, value in figures_3_and_4.PAPER_STEPS[world].items()
    ]
    returns = [
        PaperNumber(4, world, agent, metric, value, 1.0)
        for world, agents in figures_3_and_4.PAPER_RETURNS.items()
        for agent, pair in agents.items()
        for metric, value in zip((PROXY_RETURN, PROXY_TRUE_RETURN), pair, strict=True)
    ]
    return [*areas, *steps, *returns]


def panels() -> dict[tuple[int, str, str], list[PaperNumber]]:
    """Return the numbers by figure, world and metric."""
    by_panel: dict[tuple[int, str, str], list[PaperNumber]] = {}
    for number in paper_numbers():
        by_panel.setdefault((number.figure, number.world, number.metric), []).append(number)
    return by_panel


DISCOVERY_SEEDS = {"planning": 2, "q-learning": 1, "literal": 1}
"""Most tuning seeds of readings that discover skills of their own, by learner. Those that differ in
how a task is learned share the runs of `paper`, and have more."""


# -------------------------------------------------------------------- cases


def study_setups() -> dict[str, Setup]:
    """Return all readings by name, with the learners they need; `paper` comes first."""
    return {"paper": Setup("paper")} | {
        name: Setup(name, reading.learner) for name, reading in READINGS.items()
    }


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return every agent in every world with every reading, on a tenth as many tuning seeds."""
    if setup != Setup("paper") or len(seeds) < 10:
        return []
    listed = []
    for name, reading in study_setups().items():
        most = len(seeds) // 10
        if name not in TASK_READINGS:
            most = min(most, DISCOVERY_SEEDS[reading.learner])
        for seed, world, agent in product(tuning_seeds(most), WORLDS, AGENTS):
            case = reading.case(world, agent, seed, f"{READING}{name}")
            listed.append(replace(case, preset=setup.preset, learner=setup.learner))
    return listed


# -------------------------------------------------------------------- distances

Numbers = Mapping[PaperNumber, float]
"""Our mean over tuning seeds of each of the paper's numbers."""


def measured(frame: pl.DataFrame, name: str) -> Numbers:
    """Return the numbers that a reading has."""
    variant = f"{READING}{name}"
    mine = frame.filter(pl.col("variant") == variant)
    numbers = paper_numbers() if len(mine) else ()
    by_seed = {n: values_by_seed(mine, n.metric, n.world, n.agent, variant) for n in numbers}
    return {n: float(np.mean(list(values.values()))) for n, values in by_seed.items() if values}


def measured_readings(frame: pl.DataFrame) -> dict[str, Numbers]:
    """Return the numbers of every reading that has all of them."""
    found = {name: measured(frame, name) for name in study_setups()}
    return {name: ours for name, ours in found.items() if len(ours) == len(paper_numbers())}


def distances(ours: Numbers) -> dict[int, float]:
    """Return the distance of each figure (2 to 4) that has numbers."""
    by_figure: dict[int, list[float]] = {}
    for number, value in ours.items():
        by_figure.setdefault(number.figure, []).append(abs(value - number.value) / number.scale)
    return {figure: float(np.mean(parts)) for figure, parts in sorted(by_figure.items())}


def distance(ours: Numbers) -> float:
    """Return the distance of a reading, the mean over figures."""
    return float(np.mean(list(distances(ours).values())))


# -------------------------------------------------------------------- statements

FAILED_SHARE = 0.9
"""Steps, as a share of the step limit, from which on an agent has failed."""
MUCH_MORE = 2.0
"""How many times as much focused skills must cover."""
COMPARABLE = 1.6
"""Largest ratio, either way, of what is comparable: the paper calls 93 and 145 steps so."""
FLIP_SHARE = 1 / 3


def statements(ours: Numbers) -> dict[str, list[bool]]:
    """Return which statements of each claim hold, by the claim's name.

    Args:
        ours: Our means of all of the paper's numbers.
    """
    held, in_paper = _all_statements(ours), _all_statements({n: n.value for n in ours})
    return {
        name: [ok for ok, true in zip(of, in_paper[name], strict=True) if true]
        for name, of in held.items()
    }


def _all_statements(ours: Numbers) -> dict[str, list[bool]]:
    """All statements, also those that the paper's numbers do not support."""
    area = {n.agent: mean for n, mean in ours.items() if n.metric == "auc"}
    steps = {(n.world, n.agent): mean for n, mean in ours.items() if n.metric == TASK_STEPS}
    fails = {key: mean >= FAILED_SHARE * STEP_LIMITS[key[0]] for key, mean in steps.items()}

    def comparable(ratio: float) -> bool:
        return 1 / COMPARABLE <= ratio <= COMPARABLE

    def as_the_paper_says(world: str, focused: float, dusdi: float) -> bool:
        return comparable(focused / dusdi) if world == "four-rooms" else focused < 0.95 * dusdi

    bases = [agent.removeprefix("dusdi-") for agent in DUSDI]
    return {
        "coverage": [area[f"focused-{base}"] >= MUCH_MORE * area[base] for base in PLAIN],
        "coverage-dusdi": [
            comparable(area[f"focused-{base}"] / area[f"dusdi-{base}"]) for base in bases
        ],
        "tasks": [not fails[key] for key in product(WORLDS, FOCUSED)],
        "failures": [fails[key] for key in product(WORLDS, (*PLAIN, PRIMITIVES))],
        "dusdi": [
            as_the_paper_says(w, steps[w, f"focused-{base}"], steps[w, f"dusdi-{base}"])
            for base, w in product(bases, WORLDS)
        ],
        "proxy": [
            (mean >= 0.5) == (n.agent in FOCUSED)
            for n, mean in ours.items()
            if n.metric == PROXY_TRUE_RETURN
        ],
    }


def claims_table(readings: Mapping[str, Numbers]) -> fmt.Table:
    """Return how many statements of each claim hold under each reading."""
    rows = [
        {
            "reading": f"`{reading}`",
            **{name: f"{sum(held)} of {len(held)}" for name, held in statements(ours).items()},
        }
        for reading, ours in readings.items()
    ]
    note = (
        f"A statement compares means over tuning seeds: an agent fails from {FAILED_SHARE:.0%} of "
        f"the step limit on, covers much more at {MUCH_MORE:g} times as much, and is comparable "
        f"within a factor of {COMPARABLE:g}; a return is earned from 0.5 on."
    )
    return fmt.Table.of("Statements that hold, by claim and reading", rows, note)


def flips(readings: Mapping[str, Numbers]) -> dict[str, list[str]]:
    """Return the readings that flip each claim, with what they change: `ties=random (3 → 9 of 12)`.

    Args:
        readings: Our numbers by reading; without `paper` there is nothing to compare with.
    """
    if "paper" not in readings:
        return {}
    base = statements(readings["paper"])
    found: dict[str, list[str]] = {}
    for reading, ours in readings.items():
        if reading.startswith("order="):  # it changes the learner too
            continue
        for name, held in statements(ours).items():
            before, after, n = sum(base[name]), sum(held), len(held)
            if abs(after - before) >= FLIP_SHARE * n:
                found.setdefault(name, []).append(f"{reading} ({before} → {after} of {n})")
    return found


# -------------------------------------------------------------------- report

METHOD = (
    "Every decision that the paper leaves open is taken the other way, one at a time, on tuning "
    "seeds. The distance of a figure is the mean difference from the paper's numbers (8 areas, 27 "
    "numbers of steps, 16 pairs of returns), each as a share of its axis; the distance of a "
    "reading is the mean over the three figures. With fewer seeds, means scatter more, and "
    "distances are larger."
)
FIGURE_COLOURS = {2: "#498fc1", 3: "#3fa291", 4: "#5f569f"}


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare all readings.

    Returns:
        Tables of distances, of claims by reading, of decisions, and of all numbers.
    """
    ours = measured_readings(frame)
    if len(ours) < 2:
        return Analysis()
    tables = [_distance_table(ours, frame), claims_table(ours), decision_table()]
    return Analysis([], tables + _number_tables(ours))


def _distance_table(ours: Mapping[str, Numbers], frame: pl.DataFrame) -> fmt.Table:
    skills = frame.filter(pl.col("agent") != PRIMITIVES)
    rows = [
        {
            "reading": f"`{name}`",
            "distance": fmt.number(distance(ours[name]), 3),
            **{f"Figure {n}": fmt.number(part, 3) for n, part in distances(ours[name]).items()},
            "tuning seeds": str(skills.filter(variant=f"{READING}{name}")["seed"].n_unique()),
        }
        for name in sorted(ours, key=lambda name: distance(ours[name]))
    ]
    return fmt.Table.of("Distance to the paper's numbers, nearest first", rows, METHOD)


def decision_table() -> fmt.Table:
    """Return all decisions, as the report and docs/readings.md show them."""
    rows = [
        {
            "setting": f"`{decision.name}`",
            "question": decision.question,
            "choices, the default first": "; ".join(
                f"`{name}` {text}" for name, text in decision.choices.items()
            ),
            "why that default": decision.reason,
        }
        for decision in DECISIONS
    ]
    return fmt.Table.of("What the paper leaves open", rows)


def _number_tables(ours: Mapping[str, Numbers]) -> list[fmt.Table]:
    """One table per metric and world: agents in columns, the paper and every reading in rows."""
    titles = {"auc": "area of coverage", TASK_STEPS: "steps", PROXY_RETURN: "proxy return",
              PROXY_TRUE_RETURN: "true return, told the proxy"}  # fmt: skip
    tables = []
    for (figure, world, metric), mine in panels().items():
        readings = {"the paper": {n: n.value for n in mine}}
        readings |= {f"`{name}`": values for name, values in ours.items()}
        digits = 1 if metric == TASK_STEPS else 2
        rows = [
            {"reading": name, **{fmt.agent_name(n.agent): fmt.number(of[n], digits) for n in mine}}
            for name, of in readings.items()
        ]
        title = f"Figure {figure}, {WORLD_NAMES[world]}: {titles[metric]}"
        tables.append(fmt.Table.of(title, rows))
    return tables


def figure(frame: pl.DataFrame) -> Figure:
    """Draw the distances of all readings, nearest first, stacked by figure."""
    ours = measured_readings(frame)
    order = sorted(ours, key=lambda name: distance(ours[name]), reverse=True)
    drawn = Figure(figsize=(7.2, 0.3 * len(order) + 1.2), layout="constrained")
    panel = drawn.subplots()
    left = np.zeros(len(order))
    for number, colour in FIGURE_COLOURS.items():
        parts = np.array([distances(ours[name])[number] / len(FIGURE_COLOURS) for name in order])
        panel.barh(range(len(order)), parts, left=left, color=colour, label=f"Figure {number}")
        left += parts
    if "paper" in ours:
        panel.axvline(distance(ours["paper"]), color="#444", linewidth=0.8, linestyle=":")
    panel.set_yticks(range(len(order)), order)
    panel.set_xlabel("distance to the paper's numbers")
    panel.spines[["top", "right"]].set_visible(False)
    fmt.add_legend(drawn, loc="outside upper right", fontsize=8, ncols=3, frameon=False)
    return drawn


EXPERIMENT = Experiment(
    "reading-study",
    "What decides the paper's numbers",
    cases,
    analyze,
    figure,
    presets=("paper",),
    page="readings",
    caption="The distance of every reading to the numbers of Figures 2, 3 and 4; left is nearer, "
    "and the dotted line is the preset `paper`.",
)
