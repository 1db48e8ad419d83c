"""The report's contents, from condensed results and costs alone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import VERSIONS, Setup
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.findings import (
    DIRECTION,
    MISSED,
    NOT,
    REACHED,
    REPRODUCED,
    UNDECIDED,
    Finding,
    Table,
    n_seeds,
    number,
    shown,
)
from skillfocus.experiments.reproduction import Section, analyse
from skillfocus.figures.paper import FIGURES, frontier_figure
from skillfocus.report.document import Block, Heading, Paragraph, Picture
from skillfocus.report.explanations import explanation
from skillfocus.runs import Report

TITLE = "Focused skill discovery, reproduced"
TITLES = {
    "trajectories": "Trajectories (Figure 1)",
    "coverage": "State coverage (Figure 2)",
    "downstream": "Downstream tasks (Figure 3)",
    "underspecified": "Under-specified goals (Figure 4)",
    "ablation": "The penalty's strength (Figure 5)",
    "skill-count": "The number of skills (appendix)",
    "side-effects": "Side effects (Equation 1)",
    "controls": "Controls",
}
SETUPS = {
    ("paper", "planning"): "the paper's settings, planning",
    ("best", "planning"): "the best settings, planning",
    ("paper", "q-learning"): "the paper's settings, Q-learning",
    ("best", "q-learning"): "the best settings, Q-learning",
}


def silent(fraction: float, what: str) -> None:
    del fraction, what


def build(
    frame: pl.DataFrame, costs: pl.DataFrame, names: Sequence[str], report: Report = silent
) -> tuple[list[Block], list[Section]]:
    """The blocks of the report, and what they were made from."""
    sections = analyse(frame, names)
    blocks: list[Block] = [Heading(TITLE, 1), *_opening(frame, costs), *_claims(sections)]
    for place, name in enumerate(names):
        report(place / len(names), f"drawing {name}")
        mine = [section for section in sections if section.experiment == name]
        blocks += [Heading(TITLES[name]), *_experiment(name, mine, frame)]
    return blocks + _closing(costs), sections


def setup_name(setup: Setup) -> str:
    return SETUPS[setup.preset, setup.learner]


def _opening(frame: pl.DataFrame, costs: pl.DataFrame) -> list[Block]:
    rows = []
    for (preset, learner), about in SETUPS.items():
        mine = frame.filter((pl.col("preset") == preset) & (pl.col("learner") == learner))
        if not mine.is_empty():
            counts = mine.filter(pl.col("variant") == "").group_by("world", "agent").agg(
                pl.col("seed").n_unique()
            )["seed"]  # fmt: skip
            span = n_seeds([range(n) for n in counts])
            cost = costs.filter((pl.col("preset") == preset) & (pl.col("learner") == learner))
            rows.append(
                [
                    about,
                    str(len(cost)),
                    span,
                    f"{number(float(cost['cpu_seconds'].sum()) / 3600, 1)} h",
                ]
            )
    return [
        Paragraph(
            "Every number below was computed from the runs' results by the command that wrote "
            "this page. Intervals are 90 %: Student's for means over seeds, bootstrap for ratios, "
            "Clopper and Pearson's for counts. A claim is **reproduced** if its direction holds "
            "and its size is the paper's within the interval and the reading error, **direction "
            "only** if the direction alone holds, else **not reproduced**. An **aim** is our own."
        ),
        Table("Runs", ["settings", "runs", "seeds per agent", "CPU time"], rows,
              "Runs that two settings share are counted in both."),
    ]  # fmt: skip


def _claims(sections: list[Section]) -> list[Block]:
    blocks: list[Block] = [Heading("Claims and verdicts")]
    order = (REPRODUCED, DIRECTION, NOT, UNDECIDED, REACHED, MISSED)
    rows = []
    groups = itertools.groupby(sections, key=lambda section: section.setup)
    by_setup = [(setup, list(members)) for setup, members in groups]
    for setup, members in by_setup:
        counts = Counter(f.verdict for section in members for f in section.analysis.findings)
        rows.append([setup_name(setup), *(str(counts[name]) for name in order)])
    blocks.append(Table("Verdicts", ["settings", *order], rows))
    for setup, members in by_setup:
        found = [f for section in members for f in section.analysis.findings]
        if found:
            blocks += [Heading(setup_name(setup).capitalize(), 3), _finding_table(found)]
            blocks += _causes(found, setup)
    return blocks


def _finding_table(found: list[Finding]) -> Table:
    rows = [
        [
            f.statement, "–" if f.paper is None else f"{f.paper:g}", shown(f.ours, _digits(f)),
            f.compared or "–", f.verdict, str(f.seeds),
        ]
        for f in found
    ]  # fmt: skip
    columns = ["claim", "paper, or aim", "ours", "evidence", "verdict", "seeds"]
    return Table("Claims", columns, rows)


def _digits(finding: Finding) -> int:
    return 1 if abs(finding.ours.estimate) >= 10 else 2


def _causes(found: list[Finding], setup: Setup) -> list[Block]:
    """Why, where a verdict falls short; each cause once."""
    causes: dict[str, list[str]] = {}
    for f in found:
        short = f.verdict in (NOT, DIRECTION, MISSED)
        if short and (why := explanation(f.id, setup.learner)):
            causes.setdefault(why, []).append(f.id)
    lines = [f"- {why} ({', '.join(f'`{name}`' for name in ids)})" for why, ids in causes.items()]
    return [Heading("Causes", 4), Paragraph("\n".join(lines))] if lines else []


def _experiment(name: str, sections: list[Section], frame: pl.DataFrame) -> list[Block]:
    blocks: list[Block] = []
    for section in sections:
        tables = [table for table in section.analysis.tables if table.rows]
        about = setup_name(section.setup)
        flags = f"--preset {section.setup.preset} --learner {section.setup.learner}"
        pictures = [
            Picture(f"{section.setup.preset}-{section.setup.learner}-{picture}",
                    f"{TITLES[name]}; {about}.", draw(section.frame))
            for picture, draw in FIGURES.get(name, {}).items()
        ]  # fmt: skip
        if not tables and name != "trajectories":
            continue
        blocks += [Heading(about.capitalize(), 3)]
        blocks += [Paragraph(f"`skillfocus reproduce {name} {flags}`"), *pictures, *tables]
    if name == "coverage" and blocks:
        blocks += _frontier(frame)
    return blocks


def _frontier(frame: pl.DataFrame) -> list[Block]:
    return [
        Heading("What could be reached", 3),
        Paragraph(
            "Let every tool's skill fetch its tool and return, faultlessly, and count the states "
            "that chains of five end in. What is left open is where position skills end. If each "
            "ends in one cell, whatever the first, chains of any length come to as many cells as "
            "there are position skills. If each ends in one cell per first cell, chains multiply "
            "cells, but a chain of five that spends four links on tools has one left for the "
            "position. If each ends anywhere in a region, every link is worth the whole region, "
            "since each of the many chains that end in it draws its own cell: that is the most "
            "that single-target skills can do, and it costs no side effects, because the position "
            "is their target. Skills with a tool and a position as targets need no link of their "
            "own to move."
        ),
        Picture("frontier", "Area of coverage against exact side effects per skill, for all "
                "settings; hollow: Q-learning, DUSDi or plain.", frontier_figure(frame)),
    ]  # fmt: skip


def _closing(costs: pl.DataFrame) -> list[Block]:
    cost = (
        costs.group_by("preset", "learner", "world", "agent")
        .agg(pl.len(), pl.col("cpu_seconds").mean(), pl.col("peak_memory_mb").max())
        .sort("preset", "learner", "world", "agent")
    )
    rows = [
        [
            preset,
            learner,
            world,
            agent,
            str(n),
            number(cpu, 1),
            "–" if mb is None else number(mb, 0),
        ]
        for preset, learner, world, agent, n, cpu, mb in cost.iter_rows()
    ]
    columns = ["preset", "learner", "world", "agent", "runs", "CPU s per run", "peak MB"]
    found = [[name, ", ".join(sorted(set(costs[name])))] for name in VERSIONS]
    return [
        Heading("Deviations from the paper"),
        Paragraph("\n".join(f"{n}. {text}" for n, text in enumerate(DEVIATIONS, 1))),
        Paragraph("Each is explained in [deviations](deviations.md)."),
        Heading("Versions and cost"),
        Table("Versions", ["of", "found"], found),
        Table("Cost", columns, rows),
    ]
