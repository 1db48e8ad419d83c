"""Detailed tables of the comparison with the safety literature."""

from __future__ import annotations

import numpy as np
import polars as pl

from skillfocus.experiments.by_seed import metric_rows
from skillfocus.experiments.formatting import (
    MISSING,
    agent_name,
    format_interval,
    format_mean,
    format_number,
)
from skillfocus.experiments.safety_cases import FLAT, FOCUS, MOVING, SAFETY, SKILL_AGENTS, variant
from skillfocus.experiments.safety_results import (
    ALL_WORLDS,
    NAMES,
    PENALTIES,
    Choice,
    flat_curve,
    penalty_name,
    skill_values,
)
from skillfocus.experiments.safety_runs import BY_VARIABLE, NO_PENALTY, STRENGTHS, TRUE
from skillfocus.report.document import Table
from skillfocus.safety.measures import two_by_two

MEASURED = {
    "completed": "completed", "harmed": "side effect", "steps": "steps",
    "start_unreachability": "start unreachable", "delayed_specification": "delayed specification",
}  # fmt: skip
"""Columns of the table of measures."""
UNBOUNDED = ("steps", "delayed_specification")
"""Measures that are not probabilities."""
CHANGES = {
    "change_at_end": "at the end", "worst_change": "at its worst",
    "change_from_inaction": "from inaction, at the end",
}  # fmt: skip


def detail_tables(frame: pl.DataFrame, best: Choice) -> list[Table]:
    """Return all tables below the answers."""
    return [
        _two_by_two(frame), _measures(frame, best), _changes(frame),
        *(_curve(frame, world) for world in ALL_WORLDS),
    ]  # fmt: skip


def skill_agents(world: str) -> list[tuple[str, str, str]]:
    """Return agents over skills: printed name, objective, baseline of the skills' penalty."""
    agents = [(agent_name(agent), agent, "") for agent in SKILL_AGENTS]
    if world in MOVING:
        agents += [
            (f"{agent_name(FOCUS)}, {baseline}", FOCUS, baseline)
            for baseline in ("inaction", "stepwise")
        ]
    return agents


def _two_by_two(frame: pl.DataFrame) -> Table:
    """Return shares of seeds by side effect and completion."""
    rows = []
    for world in ALL_WORLDS:
        for name, agent, baseline in skill_agents(world):
            done, harm = (
                skill_values(frame, metric, world, agent, baseline)
                for metric in ("completed", "harmed")
            )
            if done:
                cells = two_by_two(np.array(list(done.values())), np.array(list(harm.values())))
                rows.append(
                    [NAMES[world], name, *(format_interval(cell) for cell in cells), str(len(done))]
                )
    columns = [
        "world", "skills", "safe and complete", "safe, not complete", "complete with side effect",
        "side effect, not complete", "seeds",
    ]  # fmt: skip
    note = (
        "Shares of seeds with Clopper's and Pearson's exact 90 % intervals; a seed counts as "
        "complete, or as having a side effect, if its agent does so in more than half of its "
        "episodes."
    )
    return Table("Side effect and completion, agents over skills", columns, rows, note)


def _measures(frame: pl.DataFrame, best: Choice) -> Table:
    """Return measures that no method trains on, of all agents."""
    rows = []
    for world in ALL_WORLDS:
        for name, penalty, place in (
            ("flat, true reward", TRUE, 0), ("flat, proxy", NO_PENALTY, 0),
            (f"flat, {best}", best.penalty, best.place),
        ):  # fmt: skip
            curves = [flat_curve(frame, world, penalty, metric) for metric in MEASURED]
            if all(curves):
                rows.append(
                    [NAMES[world], name, *(format_number(c[place]) for c in curves), "exact"]
                )
        for name, agent, baseline in skill_agents(world):
            values = [skill_values(frame, metric, world, agent, baseline) for metric in MEASURED]
            if values[0]:
                numbers = [
                    format_mean(each, 2, 0, np.inf if metric in UNBOUNDED else 1)
                    for metric, each in zip(MEASURED, values, strict=True)
                ]
                rows.append([NAMES[world], f"{name} skills", *numbers, str(len(values[0]))])
    columns = ["world", "agent", *MEASURED.values(), "seeds"]
    note = (
        "Start unreachable: 1 − R(last state → start). Delayed specification: what 1,000 rewards, "
        "drawn at random once the agent is done, are worth on average from its last state, "
        "relative to the state that as many steps without acting lead to."
    )
    return Table("Measures that no method trains on", columns, rows, note)


def _changes(frame: pl.DataFrame) -> Table:
    """Return changes by variable, of the flat agent with the proxy and of focused skills."""
    rows = []
    for world in ALL_WORLDS:
        for name, agent, label in (
            ("flat, proxy", FLAT, SAFETY), ("focused VIC skills", FOCUS, variant("")),
        ):  # fmt: skip
            found = frame.filter(
                (pl.col("world") == world) & (pl.col("agent") == agent)
                & (pl.col("variant") == label)
                & pl.col("metric").str.starts_with(f"safety/{NO_PENALTY}/{BY_VARIABLE[0]}/")
            )  # fmt: skip
            for metric in found["metric"].unique(maintain_order=True):
                variable = metric.rpartition("/")[2]
                means = []
                for kind in CHANGES:
                    key = f"safety/{NO_PENALTY}/{kind}/{variable}"
                    mean = metric_rows(frame, key, world, agent, label)["value"].mean()
                    means.append(MISSING if mean is None else format_number(float(mean)))  # pyright: ignore[reportArgumentType]
                rows.append([NAMES[world], name, f"`{variable}`", *means])
    columns = ["world", "agent", "variable", *CHANGES.values()]
    note = "Expected distances from the first value, relative to the variable's scale."
    return Table("Change per variable", columns, rows, note)


def _curve(frame: pl.DataFrame, world: str) -> Table:
    """Return every penalty at every strength in a world."""
    rows = []
    for penalty in PENALTIES:
        done, harm = (flat_curve(frame, world, penalty, m) for m in ("completed", "harmed"))
        if penalty.endswith("-inaction") and world not in MOVING:
            continue
        if len(done) == len(STRENGTHS):
            cells = [
                f"{format_number(d)} / {format_number(h)}" for d, h in zip(done, harm, strict=True)
            ]
            rows.append([penalty_name(penalty), *cells])
    columns = ["flat agent with", *(f"β = {strength:g}" for strength in STRENGTHS)]
    still = "" if world in MOVING else " Nothing moves by itself, so inaction is the start."
    note = f"Completed / side effect, exact.{still}"
    return Table(f"{NAMES[world]}: every penalty at every strength", columns, rows, note)
