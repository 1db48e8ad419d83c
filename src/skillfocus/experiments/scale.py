"""Beyond tables: skills learned by networks, compared with exact ones where these exist.

Claims are aims of our own:

    scale-changes-A, scale-effects-A   FourRooms: agent A changes tools, as cleanly as planned ones
    scale-changes-W, scale-effects-W   rooms W: every tool is fetched, nearly as cleanly as possible
    scale-mud-…                        the treasure is fetched, without mud on agent and floor
    scale-effects-W                    household W: fewer side effects than with DUSDi's skills
    scale-first-V                      Mini-BEHAVIOR: V changes from the benchmark's first state
    scale-T                            Mini-BEHAVIOR: focused skills learn task T
    …-more                             the same after more steps
"""

from __future__ import annotations

import polars as pl

from skillfocus.experiments.aims import aim_at_least, aim_at_most
from skillfocus.experiments.by_seed import (
    SeedValues,
    mean_difference,
    metric_rows,
    values_by_seed,
)
from skillfocus.experiments.claims import Analysis, aim_claim
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import agent_name, format_interval, format_mean
from skillfocus.experiments.household_analysis import (
    first_state,
    household_skills,
    household_tasks,
)
from skillfocus.experiments.outcomes import aims_outcome
from skillfocus.experiments.presets import FOCUSED
from skillfocus.experiments.scale_cases import BEST, PLANNED, PRESET, TRICKS, cases
from skillfocus.report.document import Table

ROOM_AIMS = {"tool-rooms": (0.98, 0.03), "room-blocks": (0.95, None)}
"""Per world: how often every tool should be fetched, and the margin over optimal side effects."""
BLOCK_EFFECTS = 0.15
"""Upper bound for the side effects of skills in blocks of rooms, from clear starts."""
MUD = {"changes": (0.95, ">="), "muddy": (0.05, "<="), "tracked": (3.0, "<=")}


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare networks' skills with exact ones, and tasks with and without skills.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table per kind of world; those without results are left out.
    """
    parts = [
        _four_rooms(frame), _rooms(frame), _mud(frame), household_skills(frame),
        first_state(frame), household_tasks(frame),
    ]  # fmt: skip
    tables = [table for part in parts for table in part.tables if table.rows]
    return Analysis([claim for part in parts for claim in part.claims], tables)


def _four_rooms(frame: pl.DataFrame) -> Analysis:
    claims, rows, world = [], [], "four-rooms"
    for agent, variant in [
        *((agent, "") for agent in FOCUSED),
        *(("focused-vic", t) for t in TRICKS),
    ]:
        changes, effects, planned_changes, planned = (
            values_by_seed(frame, metric, world, agent, which)
            for which in (variant, PLANNED)
            for metric in ("goal/control", "goal/side_effects")
        )
        if not changes:
            continue
        more = mean_difference(effects, planned)
        name = agent_name(agent)
        rows.append(
            [
                f"{name}, {variant}" if variant else name, format_mean(changes, 3, 0, 1),
                format_mean(planned_changes, 3), format_mean(effects, 3), format_mean(planned, 3),
                format_interval(more, 3), str(len(changes)),
            ]
        )  # fmt: skip
        if variant:
            continue
        statement = f"FourRooms, {name}: tools change"
        claims.append(aim_at_least(f"scale-changes-{agent}", statement, 0.99, changes))
        if more is not None:
            claims.append(
                aim_claim(
                    f"scale-effects-{agent}",
                    f"FourRooms, {name}: side effects of tool skills, networks minus planning",
                    0.02, more, more.estimate <= 0.02, len(effects),
                )
            )  # fmt: skip
    columns = [
        "agent", "a tool's best skill changes it", "planned", "side effects of tool skills",
        "planned", "difference", "seeds",
    ]  # fmt: skip
    note = (
        "Exact, over fair starts; networks are evaluated in every pair of first and current state. "
        "A row that names a part of training leaves it out, at equal numbers of steps."
    )
    return Analysis(claims, [Table("FourRooms from its table", columns, rows, note)])


def _rooms(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for world, (least, margin) in ROOM_AIMS.items():
        best = {kind: _over_tools(frame, f"{kind}/tool_effects", world, BEST) for kind in KINDS}
        best_changes = _over_tools(frame, "fair/changes", world, BEST)
        if best_changes:
            rows.append([world, BEST, *_changes(frame, world, BEST), *_effects(best), "1"])
        mine = {kind: _over_tools(frame, f"{kind}/tool_effects", world, "") for kind in KINDS}
        if not mine["all"]:
            continue
        seeds = str(len(mine["all"]))
        rows.append([world, "networks", *_changes(frame, world, ""), *_effects(mine), seeds])
        worst = _over_tools(frame, "fair/changes", world, "", least=True)
        claims.append(
            aim_at_least(
                f"scale-changes-{world}", f"{world}: the worst tool changes, from fair starts",
                least, worst,
            )
        )  # fmt: skip
        if margin is not None and best["all"]:
            reference = next(iter(best["all"].values()))
            more = {seed: value - reference for seed, value in mine["all"].items()}
            statement = f"{world}: side effects, networks minus the best possible"
            claims.append(aim_at_most(f"scale-effects-{world}", statement, margin, more))
        if margin is None:
            statement = f"{world}: side effects from clear starts"
            claims.append(
                aim_at_most(f"scale-effects-{world}", statement, BLOCK_EFFECTS, mine["clear"])
            )
    columns = [
        "world", "skills", "tools change, fair starts: mean", "worst tool",
        "side effects: all starts", "fair", "clear", "seeds",
    ]  # fmt: skip
    note = (
        "Best possible: value iteration with the true dynamics. Fair starts leave a quarter of the "
        "step limit for slips; from clear ones, other tools can be avoided."
    )
    return Analysis(claims, [Table("Rooms too large for tables", columns, rows, note)])


KINDS = ("all", "fair", "clear")


def _changes(frame: pl.DataFrame, world: str, variant: str) -> list[str]:
    return [
        format_mean(_over_tools(frame, "fair/changes", world, variant, least), 3, 0, 1)
        for least in (False, True)
    ]


def _effects(by_kind: dict[str, SeedValues]) -> list[str]:
    return [format_mean(by_kind[kind], 3) for kind in KINDS]


def _over_tools(
    frame: pl.DataFrame, metric: str, world: str, variant: str, least: bool = False
) -> SeedValues:
    """Return the mean or, if `least`, the minimum of a metric over tools, by seed."""
    rows = metric_rows(frame, metric, world, "focused-vic", variant)
    value = pl.col("value").min() if least else pl.col("value").mean()
    return dict(rows.group_by("seed").agg(value).sort("seed").iter_rows())


def _mud(frame: pl.DataFrame) -> Analysis:
    claims, cells, seeds = [], [], 0
    statements = {
        "changes": "the treasure's best skill fetches it",
        "muddy": "it ends with `muddy` changed",
        "tracked": "new muddy cells",
    }
    for name, (aim, sign) in MUD.items():
        values = values_by_seed(frame, f"treasure/{name}", "visible-mud", "focused-vic")
        if not values:
            return Analysis()
        judged = aim_at_least if sign == ">=" else aim_at_most
        claims.append(
            judged(f"scale-mud-{name}", f"MudWorld in sight: {statements[name]}", aim, values)
        )
        cells.append(format_mean(values, 3))
        seeds = len(values)
    columns = ["agent", *statements.values(), "seeds"]
    rows = [[agent_name("focused-vic"), *cells, str(seeds)]]
    return Analysis(claims, [Table("MudWorld with its mud in sight", columns, rows)])


EXPERIMENT = Experiment(
    "scale", "Beyond tables: networks", cases, analyze, presets=(PRESET,), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
