"""The report's contents, from condensed results and costs alone."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from skillfocus.core.progress import Progress, no_progress
from skillfocus.experiments.cases import VERSIONS, Setup
from skillfocus.experiments.claims import (
    COMPARABLE,
    DIRECTION,
    MISSED,
    NOT,
    REACHED,
    REPRODUCED,
    TOLERANCE,
    UNDECIDED,
    Claim,
    Table,
    n_seeds,
    number,
    shown,
)
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.explanations import explanation
from skillfocus.experiments.presets import OBJECTIVES
from skillfocus.experiments.reproduction import Section, analyze
from skillfocus.figures.frontier import frontier_figure
from skillfocus.figures.paper import FIGURES
from skillfocus.report.document import Block, Heading, Listing, Paragraph, Picture, Player

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
SETUP_NAMES = {
    ("paper", "planning"): "the paper's settings, planning",
    ("best", "planning"): "the best settings, planning",
    ("paper", "q-learning"): "the paper's settings, Q-learning",
    ("best", "q-learning"): "the best settings, Q-learning",
}

CAPTION = (
    "Lines are means over the seeds of the tables, bands their 90 % intervals, faint lines single "
    "seeds."
)
CAPTIONS = {
    "trajectories": "The first seed's skills, as they go if nothing slips.",
    "side-effects": "Bars are means over seeds, points single seeds.",
}
WATCH = (
    "`skillfocus view --gallery` writes one page on which the skills of all eight algorithms can "
    "be watched in all three worlds, from any start and with any slips."
)
GROUPS = {
    "coverage-(?!dusdi)": "Focused skills cover more states than plain ones",
    "coverage-dusdi": "Focused and DUSDi skills cover comparable shares",
    "downstream": "Tasks are learned with focused skills",
    "steps-.*-dusdi": "… in fewer steps than with DUSDi skills (FourRooms: comparable)",
    "steps-(?!.*dusdi)": "… in fewer steps than with plain skills",
    "fails-": "Tasks are not learned without focused skills",
    "proxy-.*-focused": "Told the proxy, focused skills earn the true return",
    "proxy-(?!.*focused)": "Told the proxy, other skills do not",
    "ablation-": "The penalty's strength matters",
    "skills-": "With 8 or 24 skills the same",
    "effects-": "Focused skills have fewer side effects than DUSDi's and plain ones",
    "control-": "Controls",
    "aim-": "Our own aims",
}


def build(
    frame: pl.DataFrame,
    costs: pl.DataFrame,
    names: Sequence[str],
    report: Progress = no_progress,
    players: Sequence[Player] = (),
) -> tuple[list[Block], list[Section]]:
    """The blocks of the report, and what they were made from. Players, if there are skills to
    watch, stand beside the trajectories."""
    sections = analyze(frame, names)
    blocks: list[Block] = _claims(sections)
    for place, name in enumerate(names):
        report(place / len(names), f"drawing {name}")
        mine = [section for section in sections if section.experiment == name]
        blocks += [Heading(TITLES[name]), *_experiment(name, mine, frame)]
        if name == "trajectories":
            blocks += [Heading("The skills, moving", 3), Paragraph(WATCH), *players]
    blocks += _closing(costs)
    contents = [
        f"[{h.text}](#{h.anchor})" for h in blocks if isinstance(h, Heading) and h.level == 2
    ]
    opening = [Heading(TITLE, 1), *_opening(sections, costs), Listing(contents)]
    return opening + blocks, sections


def setup_name(setup: Setup) -> str:
    return SETUP_NAMES[setup.preset, setup.learner]


def _first_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _opening(sections: list[Section], costs: pl.DataFrame) -> list[Block]:
    rows = []
    for setup, frame in {section.setup: section.frame for section in sections}.items():
        main = (pl.col("variant") == "") & pl.col("agent").is_in(OBJECTIVES)
        counts = frame.filter(main).group_by("world", "agent").agg(pl.col("seed").n_unique())
        cost = costs.filter(
            (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
        )
        hours = number(float(cost["cpu_seconds"].sum()) / 3600, 1)
        seeds = n_seeds(counts["seed"].to_list())
        rows.append([setup_name(setup), str(len(cost)), seeds, f"{hours} h"])
    return [
        Paragraph(
            "Every number below was computed from the runs' results by the command that wrote "
            "this page. Intervals are 90 %: Student's for means over seeds, for paired differences "
            "and for the logarithms of ratios; Clopper and Pearson's for counts; a bootstrap for "
            "interquartile means."
        ),
        Paragraph(
            "A claim is **reproduced** if our interval shows its direction and our estimate has "
            f"its size, give or take {TOLERANCE:.0%} of the paper's number and the error of "
            "reading it off a figure; doing better than the paper counts. **Direction only**: the "
            "size falls short. **Undecided**: our interval holds both no difference and the "
            "paper's, or there is one seed. **Not reproduced**: anything else. "
            f"*Comparable* asks for a ratio within {COMPARABLE:g} either way; that seeds *fail*, "
            "or *learn*, for an interval of their share on one side of a half. An **aim** is our "
            "own, and reached by the mean."
        ),
        Paragraph(
            "The learners' own defaults were chosen in earlier versions while looking at seeds 0 "
            "to 4, for what focused skills do in discovery; what the preset `best` adds was chosen "
            "on tuning seeds, from 1000 up."
        ),
        Table("Runs", ["settings", "runs", "seeds per agent", "CPU time"], rows,
              "Runs that two settings share are counted in both."),
    ]  # fmt: skip


def _claims(sections: list[Section]) -> list[Block]:
    blocks: list[Block] = [Heading("In short")]
    order = (REPRODUCED, DIRECTION, NOT, UNDECIDED, REACHED, MISSED)
    groups = itertools.groupby(sections, key=lambda section: section.setup)
    by_setup = [(setup, list(members)) for setup, members in groups]
    rows = []
    for (pattern, claim), (setup, members) in itertools.product(GROUPS.items(), by_setup):
        found = [f for section in members for f in section.analysis.findings]
        counts = Counter(f.verdict for f in found if re.match(pattern, f.id))
        if counts:
            rows.append([claim, setup_name(setup), *(str(counts[name] or "") for name in order)])
    blocks += [Table("Verdicts", ["claims", "settings", *order], rows), Heading("Every claim")]
    for setup, members in by_setup:
        found = [f for section in members for f in section.analysis.findings]
        if found:
            blocks += [Heading(_first_capital(setup_name(setup)), 3), _finding_table(found)]
            blocks += _causes(found, setup)
    return blocks


def _finding_table(found: list[Claim]) -> Table:
    rows = [
        [
            f"`{f.id}`", f.statement, "–" if f.reference is None else f"{f.reference:g}",
            shown(f.ours, _digits(f)), f.compared or "–", f.verdict, str(f.seeds),
        ]
        for f in found
    ]  # fmt: skip
    columns = ["name", "claim", "paper, or aim", "ours", "evidence", "verdict", "seeds"]
    return Table("Claims", columns, rows)


def _digits(finding: Claim) -> int:
    return 1 if abs(finding.ours.estimate) >= 10 else 2


def _causes(found: list[Claim], setup: Setup) -> list[Block]:
    """Why, where a verdict falls short; each cause once."""
    causes: dict[str, list[str]] = {}
    for f in found:
        if f.verdict in (NOT, DIRECTION, MISSED):
            causes.setdefault(explanation(f.id, setup.learner, setup.preset), []).append(f.id)
    items = [f"{why} ({', '.join(f'`{name}`' for name in ids)})" for why, ids in causes.items()]
    return [Heading("Where it falls short", 4), Listing(items)] if items else []


def _experiment(name: str, sections: list[Section], frame: pl.DataFrame) -> list[Block]:
    blocks: list[Block] = []
    for section in sections:
        tables = [table for table in section.analysis.tables if table.rows]
        if not tables and name != "trajectories":
            continue
        setup, about = section.setup, setup_name(section.setup)
        seeds = section.frame.filter(pl.col("agent").is_in(OBJECTIVES))["seed"].n_unique()
        flags = f"--preset {setup.preset} --learner {setup.learner} --seeds {seeds}"
        blocks += [Heading(_first_capital(about), 3)]
        blocks += [Paragraph(f"`skillfocus reproduce {name} {flags}`")]
        if name in FIGURES:
            picture, draw = FIGURES[name]
            caption = f"{TITLES[name]}; {about}. {CAPTIONS.get(name, CAPTION)}"
            file = f"{setup.preset}-{setup.learner}-{picture}"
            blocks += [Picture(file, caption, draw(section.frame))]
        blocks += tables
    if name == "coverage" and not frame.filter(pl.col("agent") == "ideal").is_empty():
        blocks += _frontier(frame)
    return blocks


def _frontier(frame: pl.DataFrame) -> list[Block]:
    return [
        Heading("What could be reached", 3),
        Paragraph(
            "Let every tool's skill fetch its tool and return, faultlessly, and count the states "
            "that chains of up to five end in (the table of ideal skills, exactly, by the same "
            "recursion as for learned ones). What is left open is where position skills end. If "
            "each ends in one cell, whatever the first, chains of any length come to no more "
            "cells than the first and one per position skill. If each ends in one cell per first "
            "cell, chains multiply cells, but a chain of five that spends four links on tools has "
            "one left for the position. If each ends anywhere in a region, that one link is worth "
            "the whole region, since each of the many chains that take it draws its own cell. It "
            "costs no side effects, because the position is their target. Skills with a tool and "
            "a position as targets need no link of their own to move, and go beyond the table."
        ),
        Picture("frontier", "Area of coverage against exact side effects, the mean over skills, "
                "for all settings and seeds. Hollow: DUSDi and plain. Small: Q-learning.",
                frontier_figure(frame)),
    ]  # fmt: skip


def _closing(costs: pl.DataFrame) -> list[Block]:
    cost = (
        costs.group_by("preset", "learner", "world", "agent")
        .agg(pl.len(), pl.col("cpu_seconds").mean(), pl.col("peak_memory_mb").max())
        .sort("preset", "learner", "world", "agent")
    )
    rows = [
        [*names, str(n), number(cpu, 1), "–" if mb is None else number(mb, 0)]
        for *names, n, cpu, mb in cost.iter_rows()
    ]
    columns = ["preset", "learner", "world", "agent", "runs", "CPU s per run", "peak MB"]
    found = [[name, ", ".join(sorted(set(costs[name])))] for name in VERSIONS]
    return [
        Heading("Deviations from the paper"),
        Listing(list(DEVIATIONS), numbered=True),
        Paragraph("Each is explained in [deviations](deviations.md)."),
        Heading("Versions and cost"),
        Table("Versions", ["of", "found"], found),
        Table("Cost", columns, rows),
    ]
