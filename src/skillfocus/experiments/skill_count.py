"""The appendix: FourRooms with 8 skills (tools alone) and 24 (16 for the position)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import (
    Analysis,
    Claim,
    Table,
    agent_name,
    count_shown,
    majority,
    mean_shown,
    successes,
    values,
)
from skillfocus.experiments.downstream import STEP_LIMITS, STEPS, SUCCESS
from skillfocus.experiments.presets import OBJECTIVES, PLAIN

WORLD = "four-rooms"
COUNTS = (8, 16, 24)


def variant(count: int) -> str:
    return "" if count == 16 else f"skills={count}"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return [
        setup.case(WORLD, agent, seed, variant(n), skills=n)
        for seed in seeds
        for agent in OBJECTIVES
        for n in COUNTS
    ]


def analyze(frame: pl.DataFrame) -> Analysis:
    rows, found = [], []
    for agent in OBJECTIVES:
        steps = {n: values(frame, STEPS, WORLD, agent, variant(n)) for n in COUNTS}
        if not steps[8] and not steps[24]:
            continue
        other = steps[8].keys() | steps[24].keys()  # of 16 skills, which have more seeds, these
        steps[16] = {seed: value for seed, value in steps[16].items() if seed in other}
        done = {n: values(frame, SUCCESS, WORLD, agent, variant(n)) for n in COUNTS}
        done[16] = {seed: value for seed, value in done[16].items() if seed in other}
        auc = {n: values(frame, "auc", WORLD, agent, variant(n)) for n in COUNTS}
        rows += [
            [
                agent_name(agent), str(n), mean_shown(steps[n], 1, 0, STEP_LIMITS[WORLD]),
                count_shown(done[n]), mean_shown(auc[n]), str(len(steps[n])),
            ]
            for n in COUNTS
            if steps[n]
        ]  # fmt: skip
        found += [_finding(agent, count, done[count]) for count in (8, 24) if done[count]]
    columns = ["agent", "skills", "steps", "seeds that learn it", "area of coverage", "seeds"]
    return Analysis(found, [Table("FourRooms over the number of skills", columns, rows)])


def _finding(agent: str, count: int, done: dict[int, float]) -> Claim:
    _, n, share = successes(done)
    fails = agent in PLAIN
    return Claim(
        f"skills-{count}-{agent}",
        f"With {count} {agent_name(agent)} skills FourRooms is {'not ' if fails else ''}learned: "
        f"the share of seeds in which it is",
        0.0 if fails else 1.0, share, majority(share, not fails), n,
        f"learned in {count_shown(done)} seeds",
    )  # fmt: skip
