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
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import polars as pl

from paper.agents import Case, Setup
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    aim_at_fewer,
    aim_at_least,
    aim_at_most,
    aim_claim,
    aims_outcome,
)
from paper.formatting import MISSING, Table, agent_name, format_interval, format_mean
from paper.results import (
    SeedValues,
    mean_difference,
    mean_over_seeds,
    metric_rows,
    values_by_seed,
)
from paper.rooms import BestInRooms, SkillsInRooms
from paper.settings import FOCUSED, PRIMITIVES
from skillfocus.discovery import Discovery, cached_world
from skillfocus.learners.cost_network.learner import Neural, large_neural
from skillfocus.metrics.summary import skill_records
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Row, Run
from skillfocus.skills.skills import Skills
from skillfocus.world import World

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


@dataclass(frozen=True, kw_only=True)
class HouseholdSkills(Discovery):
    """A discovery in a world of Mini-BEHAVIOR, with the success of its skills in the tasks."""

    world_settings: str = VARIED
    task_steps: int = 1_000_000

    version = 5

    def measure(self, skills: Skills, progress: Progress) -> Result:
        """Return the rows of the discovery and of the tasks."""
        found = super().measure(skills, part_of(progress, 0.0, 0.2))
        rows = first_state_rows(skills, self.seed)
        rows += task_rows(
            skills.world, skills, self.task_steps, self.seed, part_of(progress, 0.2, 1.0)
        )
        return replace(found, rows=[*found.rows, *rows])


@dataclass(frozen=True)
class HouseholdPrimitives(Run):
    """Tasks learned over primitive actions only."""

    world: str
    seed: int
    task_steps: int = 1_000_000

    version = 5

    def execute(self, progress: Progress) -> Result:
        """Learn every task."""
        world = cached_world(self.world, VARIED)
        return Result(task_rows(world, None, self.task_steps, self.seed, progress))


def task_rows(
    world: World, skills: Skills | None, steps: int, seed: int, progress: Progress
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
    from skillfocus.tasks.sampled import OptionLearning, household_task
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld
    from skillfocus.worlds.jax.mini_behavior.tasks import TASKS

    assert isinstance(world, RoomWorld)
    names = [name for name, task in TASKS.items() if isinstance(world, task.world)]
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


def first_state_rows(skills: Skills, seed: int) -> list[Row]:
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


# -------------------------------------------------------------------- households

SKILD = {
    "install-printer": 0.93, "thaw-olive": 0.22, "thaw-fish": 0.52, "thaw-date": 0.66,
    "soak-rag": 1.0, "clean-car": 0.17, "clean-rag": 0.04,
}  # fmt: skip
"""Success of SkiLD (Wang et al., NeurIPS 2024), read off its figure to about 0.02."""
TASK_AIMS: dict[str, float | None] = {
    "install-printer": 1.0, "thaw-olive": 0.9, "thaw-fish": 0.9, "thaw-date": 0.9, "thaw-all": None,
    "soak-rag": 1.0, "clean-car": 0.9, "clean-rag": 0.5,
}  # fmt: skip
"""Success to aim at by task; None for a task that is not SkiLD's."""
SKILL_AIMS = {"car_stain": 0.9, "bucket_soaped": 0.9}
"""How often the best skill should change a variable from the benchmark's first state."""
HOUSEHOLD_VARIANTS = [(world, variant) for world in HOUSEHOLDS for variant in ("", MORE)]
LISTED = 0.05
"""Smallest share of rollouts with which another variable's change is listed."""
SHORT_OF_ONE = 0.005
"""Tolerance of aims at a success rate of 1."""


def household_skills(frame: pl.DataFrame) -> Analysis:
    """Compare what skills change from varied starts, and their side effects with DUSDi's."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        of = partial(values_by_seed, frame, world=world, variant=variant)
        effects = {
            agent: of(f"{'any' if agent == 'vic' else 'goal'}/side_effects", agent=agent)
            for agent in HOUSEHOLD_AGENTS
        }
        rows += [
            [
                world, agent_name(agent), variant,
                format_mean(of("goal/control", agent=agent), 3, 0, 1), format_mean(values, 3),
                str(len(values)),
            ]
            for agent, values in effects.items()
            if values
        ]  # fmt: skip
        statement = f"{world}: side effects, focused minus DUSDi's skills"
        fewer = effects["focused-vic"], effects["dusdi-vic"]
        claims += _named(aim_at_fewer(f"scale-effects-{world}", statement, *fewer), variant)
    columns = [
        "world", "skills", "variant", "a variable's best skill changes it", "side effects", "seeds",
    ]  # fmt: skip
    note = (
        "From varied starts, in some of which a variable cannot change; means over all variables "
        "but the agent's position. Side effects: how many other variables change, including "
        "unavoidable ones."
    )
    return Analysis(claims, [Table("What skills change in Mini-BEHAVIOR", columns, rows, note)])


def first_state(frame: pl.DataFrame) -> Analysis:
    """Tabulate what each variable's best skill changes, from the benchmark's first state."""
    claims, rows = [], []
    for world, variant in HOUSEHOLD_VARIANTS:
        here = frame.filter((pl.col("world") == world) & (pl.col("variant") == variant))
        metrics = sorted(name for name in here["metric"].unique() if name.startswith("first/"))
        for target in dict.fromkeys(name.split("/")[1] for name in metrics):
            cells, seeds, prefix = [], 0, f"first/{target}/also/"
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
                cells += [format_mean(changes, 2, 0, 1), ", ".join(listed) or MISSING]
                seeds = max(seeds, len(changes))
                if agent == "focused-vic" and changes and target in SKILL_AIMS:
                    statement = f"{world}: `{target}` changes from the first state"
                    name, aim = f"scale-first-{target}", SKILL_AIMS[target]
                    claims += _named([aim_at_least(name, statement, aim, changes)], variant)
            rows.append([world, variant, f"`{target}`", *cells, str(seeds)])
    columns = [
        "world", "variant", "variable", "focused VIC changes it", "also changed",
        "DUSDi VIC changes it", "also changed", "seeds",
    ]  # fmt: skip
    note = (
        "Each variable's best skill, from the first state of the benchmark's episodes. Also "
        "changed: other variables that differ at the end, as shares of the rollouts that change "
        f"the variable; shares below {LISTED:g} are left out."
    )
    return Analysis(claims, [Table("From Mini-BEHAVIOR's first state", columns, rows, note)])


def household_tasks(frame: pl.DataFrame) -> Analysis:
    """Compare success in the benchmark's tasks with our aims and SkiLD's success."""
    claims, rows = [], []
    agents = (*HOUSEHOLD_AGENTS, PRIMITIVES)
    for task, (world, variant), agent in product(TASK_AIMS, HOUSEHOLD_VARIANTS, agents):
        of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
        if success := of(f"{task}/success"):
            rows.append(
                [
                    task, agent_name(agent), variant, format_mean(success, 3, 0, 1),
                    format_mean(of(f"{task}/true_success"), 3, 0, 1),
                    f"{SKILD[task]:g}" if task in SKILD else MISSING, str(len(success)),
                ]
            )  # fmt: skip
            aim = TASK_AIMS[task]
            if agent == "focused-vic" and aim is not None:
                statement = f"Mini-BEHAVIOR, {task}: success with focused skills"
                least = aim - SHORT_OF_ONE if aim == 1 else aim
                claims += _named(
                    [aim_at_least(f"scale-{task}", statement, least, success)], variant
                )
    columns = ["task", "agent", "variant", "success", "true success", "SkiLD's success", "seeds"]
    note = (
        "The reward pays for success alone: the task's condition holds at some step. True success: "
        "it holds at the end, and so do the task's side conditions, such as a closed fridge. SkiLD "
        "(Wang et al., NeurIPS 2024): read off its figure to about 0.02."
    )
    return Analysis(claims, [Table("Tasks of Mini-BEHAVIOR", columns, rows, note)])


def _named(claims: list[Claim], variant: str) -> list[Claim]:
    """Return claims with longer training in their ids and statements, if that is the variant."""
    if not variant:
        return claims
    return [
        replace(claim, id=f"{claim.id}-more", statement=f"{claim.statement}, {variant}")
        for claim in claims
    ]


EXPERIMENT = Experiment(
    "scale", "Beyond tables: networks", cases, analyze, presets=(PRESET,), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
