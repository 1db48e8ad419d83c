"""Equation 1 for every family and world: the paper argues that focused skills have the fewest side
effects; here they are counted, exactly where the world allows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.cases import Case, Setup, main_cases
from skillfocus.experiments.claims import (
    Analysis,
    Claim,
    Table,
    agent_name,
    difference,
    judged,
    mean_of,
    mean_shown,
    n_pairs,
    shown,
    values,
    worst_skill,
)
from skillfocus.experiments.downstream import NAMES
from skillfocus.experiments.presets import DUSDI, FOCUSED, OBJECTIVES, PLAIN, WORLDS

BY_VARIABLE = "goal/side_effects_by_variable/"


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    return main_cases(setup, WORLDS, OBJECTIVES, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
    found, tables = [], []
    for world in WORLDS:
        every = {a: values(frame, "mean_side_effects", world, a) for a in OBJECTIVES}
        goal = {a: values(frame, "goal/side_effects", world, a) for a in (*FOCUSED, *DUSDI)}
        for agent in FOCUSED:
            base = agent.removeprefix("focused-")
            found += _fewer(world, agent, f"dusdi-{base}", goal)
            found += _fewer(world, agent, base, every)
        tables += [_table(frame, world, every), _by_variable(frame, world)]
    return Analysis(found, [table for table in tables if table.rows])


def _fewer(world: str, agent: str, other: str, effects: dict[str, dict]) -> list[Claim]:
    less = difference(effects[agent], effects.get(other, {}))
    if less is None:
        return []
    n = n_pairs(effects[agent], effects[other])
    which = "skills for goals" if other in DUSDI else "skills"
    counted = "" if other in DUSDI else " (which have no targets, so that all they change counts)"
    return [
        Claim(
            f"effects-{world}-{agent}-{other}",
            f"{NAMES[world]}: {agent_name(agent)} {which} have fewer side effects than those of "
            f"{agent_name(other)}{counted}: the difference per skill",
            None, less, judged(less, -1, True, n), n,
            f"{mean_shown(effects[agent], 3)} and {mean_shown(effects[other], 3)}",
        )
    ]  # fmt: skip


def _table(frame: pl.DataFrame, world: str, every: dict[str, dict[int, float]]) -> Table:
    rows = []
    for agent in OBJECTIVES:
        if not every[agent]:
            continue
        parts = ["any"] if agent in PLAIN else ["goal", "roam"]
        shares = [mean_shown(values(frame, f"{p}/side_effects", world, agent), 3) for p in parts]
        worst = worst_skill(frame, world, agent)
        rows.append(
            [
                agent_name(agent), mean_shown(values(frame, "goal/control", world, agent), 3, 0, 1),
                shown(mean_of(every[agent]), 3), *(["–", "–"] if agent in PLAIN else shares),
                mean_shown(worst, 3), str(len(every[agent])),
            ]
        )  # fmt: skip
    columns = [
        "agent", "a goal's best skill changes it", "side effects per skill", "of goals' skills",
        "of position's skills", "of the worst skill", "seeds",
    ]  # fmt: skip
    note = "A plain skill has no target: every variable that it changes is counted."
    if world == "mud-world":
        note += (
            " MudWorld hides which cells are muddy, so its numbers are sampled, 4,000 runs a "
            "skill. Nobody can take the treasure without tracking mud: a focused skill that takes "
            "it changes muddy_cells always."
        )
    return Table(f"{NAMES[world]}: expected number of other variables changed", columns, rows, note)


def _by_variable(frame: pl.DataFrame, world: str) -> Table:
    mine = frame.filter((pl.col("world") == world) & pl.col("metric").str.starts_with(BY_VARIABLE))
    names = mine["metric"].str.strip_prefix(BY_VARIABLE).unique().sort().to_list()
    rows = []
    for agent in (*FOCUSED, *DUSDI):
        found = [values(frame, BY_VARIABLE + name, world, agent) for name in names]
        if any(found):
            rows.append([agent_name(agent), *(mean_shown(by_seed, 3) for by_seed in found)])
    title = f"{NAMES[world]}: how often a goal's skill changes each other variable"
    note = "The mean over a goal's skills, of which one mostly leaves it alone and changes nothing."
    return Table(title, ["agent", *names], rows, note)
