"""Beyond tables: skills learned by networks, compared with exact ones where these exist.

`neural` is for a CPU: FourRooms from its table, and Mini-BEHAVIOR's printer. `neural-large` needs a
GPU: rooms with 16 and 32 tools, MudWorld with visible mud, and the two larger households of
Mini-BEHAVIOR. Metrics beside those of `Discovery` and `paper.rooms`, those for the treasure in
MudWorld of the skill that fetches it most often, with T a task and the number of training steps as
the step:

    treasure/changes   how often the treasure is fetched
    treasure/muddy     how often `muddy` changes
    treasure/tracked   number of new muddy cells
    T/success          success rate as the benchmark counts it
    T/true_success     share of episodes that end with success and all side conditions
    T/held/C           among successes, how often the side condition C held at the end

From the first state of Mini-BEHAVIOR's episodes, for each variable V and the skill that changes it
most often:

    first/V/changes    share of rollouts in which V changes
    first/V/also/W     among these, how often the variable W changes as well

Claims are aims of our own: `scale-…` in `claims.toml`, those after more steps with `-more`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.claims import Analysis, Experiment, aim_claim, aims_outcome, fewer_claim
from paper.results import (
    SeedValues,
    differences,
    mean_over_seeds,
    metric_rows,
    values_by_seed,
)
from paper.rooms import BestInRooms, SkillsInRooms
from paper.settings import FOCUSED, PRIMITIVES, load_data
from skillfocus.discovery import cached_world
from skillfocus.metrics.summary import skill_records
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Row

HOUSEHOLDS = ("installing-a-printer", "thawing-frozen-food", "cleaning-a-car")
HOUSEHOLD_AGENTS = ("focused-vic", "dusdi-vic", "vic")
MORE = "262 M steps"
"""Variant: longer training."""
VARIED = '{"starts": "varied"}'
"""World settings for discovery: from a single first state, most states are never visited."""
ROLLOUTS = 256
"""Rollouts of each skill from the benchmark's first state."""

# -------------------------------------------------------------------- runs


@dataclass(frozen=True)
class TreasureSkills(sf.Discovery):
    """A discovery in a MudWorld that measures the skills for the treasure."""

    version = 5

    def measure(self, skills: sf.Skills, progress: Progress) -> sf.Result:
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
        return sf.Result(rows)


@dataclass(frozen=True, kw_only=True)
class HouseholdSkills(sf.Discovery):
    """A discovery in a world of Mini-BEHAVIOR, with the success of its skills in the tasks."""

    world_settings: str = VARIED
    task_steps: int = 1_000_000

    version = 5

    def measure(self, skills: sf.Skills, progress: Progress) -> sf.Result:
        """Return the rows of the discovery and of the tasks."""
        found = super().measure(skills, part_of(progress, 0.0, 0.2))
        rows = first_state_rows(skills, self.seed)
        rows += task_rows(
            skills.world, skills, self.task_steps, self.seed, part_of(progress, 0.2, 1.0)
        )
        return replace(found, rows=[*found.rows, *rows])


@dataclass(frozen=True)
class HouseholdPrimitives(sf.Run):
    """Tasks learned over primitive actions only."""

    world: str
    seed: int
    task_steps: int = 1_000_000

    version = 5

    def execute(self, progress: Progress) -> sf.Result:
        """Learn every task."""
        world = cached_world(self.world, VARIED)
        return sf.Result(task_rows(world, None, self.task_steps, self.seed, progress))


def task_rows(
    world: sf.World, skills: sf.Skills | None, steps: int, seed: int, progress: Progress
) -> list[Row]:
    """Learn every task of a world from its proxy reward, and return the learning curves.

    Args:
        world: The world.
        skills: The skills; None for primitive actions only.
        steps: Training steps per task.
        seed: Seed of the learning.
        progress: Progress callback.
    """
    from skillfocus.tasks.networks import solve
    from skillfocus.tasks.option_learning import OptionLearning
    from skillfocus.tasks.task import household_task, jax_tasks_of
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

    assert isinstance(world, RoomWorld)
    names = list(jax_tasks_of(world))
    rows: list[Row] = []
    for number, name in enumerate(names):
        solution = solve(
            world, household_task(name), skills, OptionLearning(steps=steps), seed=seed,
            progress=part_of(progress, number / len(names), (number + 1) / len(names)),
        )  # fmt: skip
        for learned, rates in solution.curve.items():
            rows.append((f"{name}/success", learned, rates.success.estimate))
            rows.append((f"{name}/true_success", learned, rates.true_success.estimate))
        for condition, rate in solution.final.side_conditions.items():
            rows.append((f"{name}/held/{condition}", None, rate and rate.estimate))
    return rows


def first_state_rows(skills: sf.Skills, seed: int) -> list[Row]:
    """Run every skill from the benchmark's first state, and return what the best ones change.

    Args:
        skills: The skills in a household; only those with one target are judged.
        seed: Seed of the rollouts.
    """
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

    world = skills.world
    assert isinstance(world, RoomWorld)
    names, rng = world.space.names, np.random.default_rng(seed)
    starts = np.tile(np.array(world.task_start, np.int32), (ROLLOUTS, 1))
    best: dict[str, np.ndarray] = {}
    """What differs at the end of each rollout, by target."""
    for skill, targets in enumerate(skills.targets):
        if len(targets) == 1:
            target, own = targets[0], names.index(targets[0])
            changed = skills.run(np.full(ROLLOUTS, skill), starts, rng).ends != starts
            if target not in best or changed[:, own].sum() > best[target][:, own].sum():
                best[target] = changed
    rows: list[Row] = []
    for target, changed in best.items():
        mine = changed[changed[:, names.index(target)]]
        rows.append((f"first/{target}/changes", None, len(mine) / ROLLOUTS))
        if len(mine):
            shares = zip(names, mine.mean(axis=0).tolist(), strict=True)
            rows += [(f"first/{target}/also/{n}", None, x) for n, x in shares if n != target]
    return rows


# -------------------------------------------------------------------- cases

_DATA = load_data("scale.toml")
TRICKS, ROOMS, MUD, HOUSEHOLD, TASKS = (
    _DATA[name] for name in ("tricks", "rooms", "mud", "household", "task")
)
SKILD = {task: data["skild"] for task, data in TASKS.items() if data}
"""Success of SkiLD (Wang et al., NeurIPS 2024) by task."""
BEST, PLANNED = "best possible", "planned"
"""Variants: the reference in rooms, and exact planning in FourRooms."""
Labelled = tuple[str, str, str, sf.Run]
"""A run with its world, agent and variant."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    small = setup.learner == "neural"
    labelled = [(seed, *run) for seed in seeds for run in (_on_cpu if small else _on_gpu)(seed)]
    for world, data in ROOMS.items() if not small else ():
        best = BestInRooms(world, strength=data["strength"])
        labelled.append((seeds[0], world, "focused-vic", BEST, best))
    return [
        Case(setup.preset, setup.learner, world, agent, variant, seed, run)
        for seed, world, agent, variant, run in labelled
    ]


def _on_cpu(seed: int) -> Iterator[Labelled]:
    world = "four-rooms"
    for agent in FOCUSED:
        yield world, agent, "", sf.Discovery(world, agent, seed, sf.Neural())
        yield world, agent, PLANNED, sf.Discovery(world, agent, seed)
    for variant, changes in TRICKS.items():
        yield (
            world,
            "focused-vic",
            variant,
            sf.Discovery(world, "focused-vic", seed, sf.Neural(**changes)),
        )
    for agent in HOUSEHOLD_AGENTS:
        run = _in_household(HOUSEHOLDS[0], agent, seed, sf.Neural(**HOUSEHOLD["small"]))
        yield HOUSEHOLDS[0], agent, "", run
    yield HOUSEHOLDS[0], PRIMITIVES, "", HouseholdPrimitives(HOUSEHOLDS[0], seed)


def _on_gpu(seed: int) -> Iterator[Labelled]:
    agent = "focused-vic"
    for world, data in ROOMS.items():
        learner = sf.large_neural(**data["learner"])
        run = SkillsInRooms(world, agent, seed, learner, strength=data["strength"])
        yield world, agent, "", run
    yield "visible-mud", agent, "", TreasureSkills("visible-mud", agent, seed, sf.large_neural())
    for world in HOUSEHOLDS[1:]:
        for agent, (variant, budget) in product(HOUSEHOLD_AGENTS, (("", "usual"), (MORE, "more"))):
            if agent != "vic" or not variant:
                learner = sf.large_neural(**HOUSEHOLD["large"], **HOUSEHOLD[budget])
                yield world, agent, variant, _in_household(world, agent, seed, learner)
        yield world, PRIMITIVES, "", HouseholdPrimitives(world, seed)


def _in_household(world: str, agent: str, seed: int, learner: sf.Neural) -> HouseholdSkills:
    strength = HOUSEHOLD["strength"] if agent in FOCUSED else None
    return HouseholdSkills(world, agent, seed, learner, strength=strength)


# -------------------------------------------------------------------- analysis

KINDS = ("all", "fair", "clear")
EFFECTS = "goal/side_effects"


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare networks' skills with exact ones, and tasks with and without skills.

    Returns:
        Claims, and a table per kind of world; those without results are left out.
    """
    parts = (_four_rooms, _rooms, _mud, _household_skills, _first_state, _household_tasks)
    return sum((part(frame) for part in parts), Analysis())


def _four_rooms(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for agent, variant in [(agent, "") for agent in FOCUSED] + [("focused-vic", t) for t in TRICKS]:
        of = partial(values_by_seed, frame, world="four-rooms", agent=agent)
        changes, effects = of("goal/control", variant=variant), of(EFFECTS, variant=variant)
        planned, name = of(EFFECTS, variant=PLANNED), fmt.agent_name(agent)
        more = differences(effects, planned)
        if changes:
            row = {
                "agent": f"{name}, {variant}" if variant else name,
                "a tool's best skill changes it": fmt.mean(changes, 3, 0, 1),
                "planned": fmt.mean(of("goal/control", variant=PLANNED), 3),
                "side effects of tool skills": fmt.mean(effects, 3),
                "planned ": fmt.mean(planned, 3),
                "difference": fmt.mean(more, 3),
                "seeds": str(len(changes)),
            }
            rows.append(row)
        if changes and not variant:
            claims += aim_claim("scale-changes", 0.99, changes, agent=agent)
            claims += aim_claim("scale-effects", 0.02, more, -1, agent=agent)
    note = (
        "Exact, over fair starts; networks are evaluated in every pair of first and current state. "
        "A row that names a part of training leaves it out, at equal numbers of steps."
    )
    return Analysis(claims, [fmt.Table.of("FourRooms from its table", rows, note)])


def _rooms(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for world, data in ROOMS.items():
        found: dict[str, dict[str, SeedValues]] = {}
        for variant, name in ((BEST, BEST), ("", "networks")):
            of = partial(_over_tools, frame, world, variant)
            effects = found[variant] = {kind: of(f"{kind}/tool_effects") for kind in KINDS}
            worst = of("fair/changes", least=True)
            if effects["all"]:
                row = {
                    "world": world,
                    "skills": name,
                    "tools change, fair starts: mean": fmt.mean(of("fair/changes"), 3, 0, 1),
                    "worst tool": fmt.mean(worst, 3, 0, 1),
                    "side effects: all starts": fmt.mean(effects["all"], 3),
                    "fair": fmt.mean(effects["fair"], 3),
                    "clear": fmt.mean(effects["clear"], 3),
                    "seeds": str(len(effects["all"])),
                }
                rows.append(row)
            if effects["all"] and not variant:
                claims += aim_claim("scale-rooms", data["fetched"], worst, world=world)
        best, mine = found[BEST]["all"], found[""]
        if "effects" in data:
            detail, aim = "scale-blocks-effects", data["effects"]
            claims += aim_claim(detail, aim, mine["clear"], -1, world=world)
        elif best:
            more = differences(mine["all"], dict.fromkeys(mine["all"], next(iter(best.values()))))
            claims += aim_claim("scale-rooms-effects", data["margin"], more, -1, world=world)
    note = (
        "Best possible: value iteration with the true dynamics. Fair starts leave a quarter of the "
        "step limit for slips; from clear ones, other tools can be avoided."
    )
    return Analysis(claims, [fmt.Table.of("Rooms too large for tables", rows, note)])


def _over_tools(
    frame: pl.DataFrame, world: str, variant: str, metric: str, least: bool = False
) -> SeedValues:
    """Return the mean or, if `least`, the minimum of a metric over tools, by seed."""
    rows = metric_rows(frame, metric, world, "focused-vic", variant)
    value = pl.col("value").min() if least else pl.col("value").mean()
    return dict(rows.group_by("seed").agg(value).sort("seed").iter_rows())


def _mud(frame: pl.DataFrame) -> Analysis:
    claims, row, values = [], {"agent": fmt.agent_name("focused-vic")}, {}
    for metric, data in MUD.items():
        values = values_by_seed(frame, f"treasure/{metric}", "visible-mud", "focused-vic")
        what, sign = data["what"], data["sign"]
        claims += aim_claim("scale-mud", data["aim"], values, sign, metric=metric, what=what)
        row[what] = fmt.mean(values, 3)
    rows = [{**row, "seeds": str(len(values))}] if claims else []
    return Analysis(claims, [fmt.Table.of("MudWorld with its mud in sight", rows)])


# -------------------------------------------------------------------- households

HOUSEHOLD_VARIANTS = [(world, variant) for world in HOUSEHOLDS for variant in ("", MORE)]
LISTED = 0.05
"""Smallest share of rollouts with which another variable's change is listed."""


def _household_skills(frame: pl.DataFrame) -> Analysis:
    """Compare what skills change from varied starts, and their side effects with DUSDi's."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        of = partial(values_by_seed, frame, world=world, variant=variant)
        effects = {
            agent: of(f"{'any' if agent == 'vic' else 'goal'}/side_effects", agent=agent)
            for agent in HOUSEHOLD_AGENTS
        }
        rows += [
            {
                "world": world,
                "skills": fmt.agent_name(agent),
                "variant": variant,
                "a variable's best skill changes it": fmt.mean(
                    of("goal/control", agent=agent), 3, 0, 1
                ),
                "side effects": fmt.mean(values, 3),
                "seeds": str(len(values)),
            }
            for agent, values in effects.items()
            if values
        ]
        pair, names = (effects["focused-vic"], effects["dusdi-vic"]), _longer(variant)
        claims += fewer_claim("scale-household", *pair, world=world, **names)
    note = (
        "From varied starts, in some of which a variable cannot change; means over all variables "
        "but the agent's position. Side effects: how many other variables change, including "
        "unavoidable ones."
    )
    return Analysis(claims, [fmt.Table.of("What skills change in Mini-BEHAVIOR", rows, note)])


def _first_state(frame: pl.DataFrame) -> Analysis:
    """Tabulate what each variable's best skill changes, from the benchmark's first state."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        here = frame.filter(world=world, variant=variant)
        metrics = sorted(name for name in here["metric"].unique() if name.startswith("first/"))
        for target in dict.fromkeys(name.split("/")[1] for name in metrics):
            row = {"world": world, "variant": variant, "variable": f"`{target}`"}
            seeds, prefix = 0, f"first/{target}/also/"
            for agent in ("focused-vic", "dusdi-vic"):
                of = partial(values_by_seed, here, world=world, agent=agent, variant=variant)
                changes = of(f"first/{target}/changes")
                also = {name: of(name) for name in metrics if name.startswith(prefix)}
                shares = {name: mean_over_seeds(v).estimate for name, v in also.items() if v}
                listed = [
                    f"`{name.removeprefix(prefix)}` {share:.2f}"
                    for name, share in shares.items()
                    if share >= LISTED
                ]
                space = "" if agent == "focused-vic" else " "
                row[f"{fmt.agent_name(agent)} changes it"] = fmt.mean(changes, 2, 0, 1)
                row[f"also changed{space}"] = ", ".join(listed) or fmt.MISSING
                seeds = max(seeds, len(changes))
                if agent == "focused-vic" and target in HOUSEHOLD["first"]:
                    names = {"world": world, "variable": target, **_longer(variant)}
                    aim = HOUSEHOLD["first"][target]
                    claims += aim_claim("scale-first", aim, changes, **names)
            rows.append({**row, "seeds": str(seeds)})
    note = (
        "Each variable's best skill, from the first state of the benchmark's episodes. Also "
        "changed: other variables that differ at the end, as shares of the rollouts that change "
        f"the variable; shares below {LISTED:g} are left out."
    )
    return Analysis(claims, [fmt.Table.of("From Mini-BEHAVIOR's first state", rows, note)])


def _household_tasks(frame: pl.DataFrame) -> Analysis:
    """Compare success in the benchmark's tasks with our aims and SkiLD's success."""
    claims, rows = [], []
    agents = (*HOUSEHOLD_AGENTS, PRIMITIVES)
    for task, (world, variant), agent in product(TASKS, HOUSEHOLD_VARIANTS, agents):
        of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
        if success := of(f"{task}/success"):
            row = {
                "task": task,
                "agent": fmt.agent_name(agent),
                "variant": variant,
                "success": fmt.mean(success, 3, 0, 1),
                "true success": fmt.mean(of(f"{task}/true_success"), 3, 0, 1),
                "SkiLD's success": f"{SKILD[task]:g}" if task in SKILD else fmt.MISSING,
                "seeds": str(len(success)),
            }
            rows.append(row)
        if agent == "focused-vic" and TASKS[task]:
            aim = TASKS[task]["aim"]
            claims += aim_claim("scale-task", aim, success, task=task, **_longer(variant))
    note = (
        "The reward pays for success alone: the task's condition holds at some step. True success: "
        "it holds at the end, and so do the task's side conditions, such as a closed fridge. SkiLD "
        "(Wang et al., NeurIPS 2024): read off its figure to about 0.02."
    )
    return Analysis(claims, [fmt.Table.of("Tasks of Mini-BEHAVIOR", rows, note)])


def _longer(variant: str) -> dict[str, Any]:
    """Return what says, in a claim's id and statement, that training took longer."""
    return {"more": "-more", "variant": f", {variant}"} if variant else {"more": "", "variant": ""}


EXPERIMENT = Experiment(
    "scale", "Beyond tables: networks", cases, analyze, presets=("scale",), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
