"""Beyond tables: skills learned by networks, compared with exact ones where these exist.

`neural` is for a CPU: FourRooms from its table, and Mini-BEHAVIOR's printer. `neural-large` needs a
GPU: rooms with 16 and 32 tools, MudWorld with visible mud, and the two larger households of
Mini-BEHAVIOR. Of the skills for the treasure in MudWorld with visible mud, the metrics are those of
the skill that fetches it most often: `treasure/changes`, how often it does; `treasure/muddy`, how
often `muddy` changes; `treasure/tracked`, the number of new muddy cells.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from paper.agents import Case, Setup
from paper.claims import Analysis, aim_at_least, aim_at_most, aim_claim, aims_outcome
from paper.experiment import Experiment
from paper.formatting import Table, agent_name, format_interval, format_mean
from paper.households import (
    HOUSEHOLD_AGENTS,
    HOUSEHOLDS,
    MORE,
    HouseholdPrimitives,
    HouseholdSkills,
    first_state,
    household_skills,
    household_tasks,
)
from paper.results import SeedValues, mean_difference, metric_rows, values_by_seed
from paper.rooms import BestInRooms, SkillsInRooms
from paper.settings import FOCUSED, PRIMITIVES
from skillfocus.discovery import Discovery
from skillfocus.learners.cost_network.learner import Neural, large_neural
from skillfocus.metrics.summary import skill_records
from skillfocus.progress import Progress
from skillfocus.runs import Result, Row, Run
from skillfocus.skills.skills import Skills

PRESET, SMALL, LARGE = "scale", "neural", "neural-large"
BEST, PLANNED = "best possible", "planned"
"""Variants: the reference in rooms, and exact planning in FourRooms."""
TRICKS: dict[str, dict[str, object]] = {
    "rewards not held": {"warmup_fraction": 0.0, "owned_share": 0.5},
    "no earlier starts": {"relabel_starts": 0},
}
"""Ablations by variant, with equal numbers of steps."""
ROOM_STRENGTH = {"tool-rooms": 2.5, "room-blocks": 5.0}
"""Distances are relative to the largest, which is longer in blocks of rooms. At strength 2.5, the
last step home is worth less there than the network's error, and skills stop before it."""
BLOCK_STEPS = 491_520_000
"""Errands in blocks of rooms are longer. With the default number, some skills still lose their
way."""
HOUSEHOLD_STRENGTH = 1.0
"""Cleaning a car soaks and dirties the rag. At the default strength, that costs more than the
target is worth, and a focused skill does nothing."""
HELD = 1.0
"""Rewards are held fixed to the end where errands are long. A discriminator that is released before
a skill has learned its errand learns that the skill stays at home, and then rewards it for that."""
HOUSEHOLD_COST = 0.05
"""Cost of a step in households, twice the default of `large_neural`: turns are steps too, and more
paths have nearly equal lengths."""
HOUSEHOLD_TEMPERATURE = 0.1
"""Households are deterministic, and greedy skills loop between actions of nearly equal cost."""
HOUSEHOLD_STEPS: dict[str, object] = {"environments": 1250, "steps": 20_000_000}
"""20 million steps, SkiLD's budget for learning skills."""
MORE_STEPS: dict[str, object] = {"environments": 8192, "steps": 262_144_000}
"""262 million steps, with twice the updates."""
Labelled = tuple[str, str, str, Run]
"""A run with its world, agent and variant."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    runs = _on_cpu if setup.learner == SMALL else _on_gpu
    labelled = [(seed, *run) for seed in seeds for run in runs(seed)]
    if setup.learner == LARGE:
        for world, strength in ROOM_STRENGTH.items():
            best = BestInRooms(world, strength=strength)
            labelled.append((seeds[0], world, "focused-vic", BEST, best))
    return [
        Case(setup.preset, setup.learner, world, agent, variant, seed, run)
        for seed, world, agent, variant, run in labelled
    ]


def _on_cpu(seed: int) -> Iterator[Labelled]:
    world = "four-rooms"
    for agent in FOCUSED:
        yield world, agent, "", Discovery(world, agent, seed, Neural())
        yield world, agent, PLANNED, Discovery(world, agent, seed)
    for variant, changes in TRICKS.items():
        learner = Neural(**changes)  # pyright: ignore[reportArgumentType]
        yield world, "focused-vic", variant, Discovery(world, "focused-vic", seed, learner)
    learner = Neural(warmup_fraction=HELD, temperature=HOUSEHOLD_TEMPERATURE)
    for agent in HOUSEHOLD_AGENTS:
        yield HOUSEHOLDS[0], agent, "", _in_household(HOUSEHOLDS[0], agent, seed, learner)
    yield HOUSEHOLDS[0], PRIMITIVES, "", HouseholdPrimitives(HOUSEHOLDS[0], seed)


def _on_gpu(seed: int) -> Iterator[Labelled]:
    learners = {
        "tool-rooms": large_neural(),
        "room-blocks": large_neural(warmup_fraction=HELD, steps=BLOCK_STEPS),
    }
    for world, learner in learners.items():
        strength = ROOM_STRENGTH[world]
        run = SkillsInRooms(world, "focused-vic", seed, learner, strength=strength)
        yield world, "focused-vic", "", run
    run = TreasureSkills("visible-mud", "focused-vic", seed, large_neural())
    yield "visible-mud", "focused-vic", "", run
    settings = {
        "warmup_fraction": HELD, "step_cost": HOUSEHOLD_COST, "temperature": HOUSEHOLD_TEMPERATURE,
    }  # fmt: skip
    learner = large_neural(**settings, **HOUSEHOLD_STEPS)
    longer = large_neural(**settings, **MORE_STEPS)
    for world in HOUSEHOLDS[1:]:
        for agent in HOUSEHOLD_AGENTS:
            yield world, agent, "", _in_household(world, agent, seed, learner)
            if agent != "vic":
                yield world, agent, MORE, _in_household(world, agent, seed, longer)
        yield world, PRIMITIVES, "", HouseholdPrimitives(world, seed)


def _in_household(world: str, agent: str, seed: int, learner: Neural) -> HouseholdSkills:
    strength = HOUSEHOLD_STRENGTH if agent in FOCUSED else None
    return HouseholdSkills(world, agent, seed, learner, strength=strength)


@dataclass(frozen=True)
class TreasureSkills(Discovery):
    """A discovery in a MudWorld that measures the skills for the treasure."""

    version = 5

    def measure(self, skills: Skills, progress: Progress) -> Result:
        """Return the metrics of the best skill for the treasure."""
        progress(0.0, "measuring side effects")
        mine = [each for each in skill_records(skills) if each["targets"] == ["treasure"]]
        best = max(mine, key=lambda record: record["changes_target"])
        effects = best["side_effects_by_variable"]
        tracked = sum(value for name, value in effects.items() if name.startswith("mud_"))
        rows: list[Row] = [
            ("treasure/changes", None, best["changes_target"]),
            ("treasure/muddy", None, effects["muddy"]),
            ("treasure/tracked", None, tracked),
        ]
        return Result(rows)


ROOM_AIMS = {"tool-rooms": (0.98, 0.03), "room-blocks": (0.95, None)}
"""Per world: how often every tool should be fetched, and the margin over optimal side effects."""
BLOCK_EFFECTS = 0.15
"""Upper bound for the side effects of skills in blocks of rooms, from clear starts."""
MUD = {
    "changes": ("the treasure's best skill fetches it", 0.95, aim_at_least),
    "muddy": ("it ends with `muddy` changed", 0.05, aim_at_most),
    "tracked": ("new muddy cells", 3.0, aim_at_most),
}
"""Statement, aim and its direction, by metric."""


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
    claims, rows = [], []
    for agent, variant in [(agent, "") for agent in FOCUSED] + [("focused-vic", t) for t in TRICKS]:
        of = partial(values_by_seed, frame, world="four-rooms", agent=agent)
        changes, effects = of("goal/control", variant=variant), of(EFFECTS, variant=variant)
        planned = of(EFFECTS, variant=PLANNED)
        if not changes:
            continue
        more, name = mean_difference(effects, planned), agent_name(agent)
        rows.append(
            [
                f"{name}, {variant}" if variant else name, format_mean(changes, 3, 0, 1),
                format_mean(of("goal/control", variant=PLANNED), 3), format_mean(effects, 3),
                format_mean(planned, 3), format_interval(more, 3), str(len(changes)),
            ]
        )  # fmt: skip
        if not variant:
            statement = f"FourRooms, {name}: tools change"
            claims.append(aim_at_least(f"scale-changes-{agent}", statement, 0.99, changes))
        if not variant and more is not None:
            statement = f"FourRooms, {name}: side effects of tool skills, networks minus planning"
            holds, n = more.estimate <= 0.02, len(effects)
            claims.append(aim_claim(f"scale-effects-{agent}", statement, 0.02, more, holds, n))
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
        found: dict[str, dict[str, SeedValues]] = {}
        for variant, name in ((BEST, BEST), ("", "networks")):
            of = partial(_over_tools, frame, world, variant)
            effects = found[variant] = {kind: of(f"{kind}/tool_effects") for kind in KINDS}
            if effects["all"]:
                changes = of("fair/changes"), of("fair/changes", least=True)
                cells = [format_mean(values, 3, 0, 1) for values in changes]
                cells += [format_mean(values, 3) for values in effects.values()]
                rows.append([world, name, *cells, str(len(effects["all"]))])
        best, mine = found[BEST]["all"], found[""]
        if not mine["all"]:
            continue
        statement = f"{world}: the worst tool changes, from fair starts"
        worst = _over_tools(frame, world, "", "fair/changes", least=True)
        claims.append(aim_at_least(f"scale-changes-{world}", statement, least, worst))
        name = f"scale-effects-{world}"
        if margin is None:
            statement = f"{world}: side effects from clear starts"
            claims.append(aim_at_most(name, statement, BLOCK_EFFECTS, mine["clear"]))
        elif best:
            reference = next(iter(best.values()))
            more = {seed: value - reference for seed, value in mine["all"].items()}
            statement = f"{world}: side effects, networks minus the best possible"
            claims.append(aim_at_most(name, statement, margin, more))
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
EFFECTS = "goal/side_effects"


def _over_tools(
    frame: pl.DataFrame, world: str, variant: str, metric: str, least: bool = False
) -> SeedValues:
    """Return the mean or, if `least`, the minimum of a metric over tools, by seed."""
    rows = metric_rows(frame, metric, world, "focused-vic", variant)
    value = pl.col("value").min() if least else pl.col("value").mean()
    return dict(rows.group_by("seed").agg(value).sort("seed").iter_rows())


def _mud(frame: pl.DataFrame) -> Analysis:
    claims, cells, seeds = [], [], 0
    for name, (statement, aim, judged) in MUD.items():
        values = values_by_seed(frame, f"treasure/{name}", "visible-mud", "focused-vic")
        if not values:
            return Analysis()
        claims.append(judged(f"scale-mud-{name}", f"MudWorld in sight: {statement}", aim, values))
        cells.append(format_mean(values, 3))
        seeds = len(values)
    columns = ["agent", *(statement for statement, _, _ in MUD.values()), "seeds"]
    rows = [[agent_name("focused-vic"), *cells, str(seeds)]]
    return Analysis(claims, [Table("MudWorld with its mud in sight", columns, rows)])


EXPERIMENT = Experiment(
    "scale", "Beyond tables: networks", cases, analyze, presets=(PRESET,), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
