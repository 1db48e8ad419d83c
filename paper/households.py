"""Mini-BEHAVIOR: discover skills with networks, and learn every task of the world with them.

`HouseholdSkills` discovers skills and then learns the tasks of its world over skills and primitive
actions, from the proxy reward; `HouseholdPrimitives` uses primitive actions only. Metrics, with T a
task and the number of training steps as the step:

    T/success        success rate as the benchmark counts it
    T/true_success   share of episodes that end with success and all side conditions
    T/held/C         among successes, how often the side condition C held at the end

From the first state of the benchmark's episodes, for each variable V and the skill that changes it
most often:

    first/V/changes  share of rollouts in which V changes
    first/V/also/W   among these, how often the variable W changes as well
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from paper.claims import Analysis, Claim, aim_at_fewer, aim_at_least
from paper.formatting import MISSING, Table, agent_name, format_mean
from paper.results import mean_over_seeds, values_by_seed
from paper.settings import PRIMITIVES
from skillfocus.discovery import Discovery, cached_world
from skillfocus.errors import UserError
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Row, Run
from skillfocus.skills.skills import Skills

if TYPE_CHECKING:
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld


HOUSEHOLDS = ("installing-a-printer", "thawing-frozen-food", "cleaning-a-car")
HOUSEHOLD_AGENTS = ("focused-vic", "dusdi-vic", "vic")
MORE = "262 M steps"
"""Variant: longer training."""
VARIED = '{"starts": "varied"}'
"""World settings for discovery: from a single first state, most states are never visited."""
ROLLOUTS = 256
"""Rollouts of each skill from the benchmark's first state."""


@dataclass(frozen=True)
class HouseholdSkills(Discovery):
    """A discovery in a world of Mini-BEHAVIOR, with the success of its skills in the tasks."""

    world_settings: str = VARIED
    task_steps: int = 1_000_000

    version = 5

    def measure(self, skills: Skills, progress: Progress) -> Result:
        """Return the rows of the discovery and of the tasks."""
        found = super().measure(skills, part_of(progress, 0.0, 0.2))
        world = household(self.world, self.world_settings)
        rows = first_state_rows(world, skills, self.seed)
        rows += task_rows(world, skills, self.task_steps, self.seed, part_of(progress, 0.2, 1.0))
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
        world = household(self.world, VARIED)
        return Result(task_rows(world, None, self.task_steps, self.seed, progress))


def task_rows(
    world: RoomWorld, skills: Skills | None, steps: int, seed: int, progress: Progress
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
    from skillfocus.worlds.jax.mini_behavior.tasks import TASKS

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


def first_state_rows(world: RoomWorld, skills: Skills, seed: int) -> list[Row]:
    """Run every skill from the benchmark's first state, and return what the best ones change.

    Args:
        world: The world.
        skills: The skills; only those with one target are judged.
        seed: Seed of the rollouts.
    """
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


def household(name: str, settings: str) -> RoomWorld:
    """Return a world of Mini-BEHAVIOR by name.

    Raises:
        UserError: If the name is of another world.
    """
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

    world = cached_world(name, settings)
    if not isinstance(world, RoomWorld):
        raise UserError(f"{name} is not a world of Mini-BEHAVIOR; try cleaning-a-car")
    return world


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
