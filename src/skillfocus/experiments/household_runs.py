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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.core.progress import Progress, part_of
from skillfocus.errors import UserError
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Result, Row, Run
from skillfocus.runs.world_cache import cached_world
from skillfocus.skills.skills import Skills

if TYPE_CHECKING:
    from skillfocus.worlds.jax.mini_behavior.room import RoomWorld

VARIED = '{"starts": "varied"}'
"""World settings for discovery: from a single first state, most states are never visited."""
ROLLOUTS = 256
"""Rollouts of each skill from the benchmark's first state."""


@dataclass(frozen=True)
class HouseholdSkills(Discovery):
    """A discovery in a world of Mini-BEHAVIOR, with the success of its skills in the tasks."""

    world_settings: str = VARIED
    task_steps: int = 1_000_000

    version = Discovery.version

    def measure(self, skills: Skills, progress: Progress, /) -> list[Row]:
        """Return the rows of the discovery and of the tasks."""
        rows = super().measure(skills, progress)
        world = household(self.world, self.world_settings)
        rows += first_state_rows(world, skills, self.seed)
        return rows + task_rows(
            world, skills, self.task_steps, self.seed, part_of(progress, 0.85, 1.0)
        )


@dataclass(frozen=True)
class HouseholdPrimitives(Run):
    """Tasks learned over primitive actions only."""

    world: str
    seed: int
    task_steps: int = 1_000_000

    version = Discovery.version

    def execute(self, progress: Progress, /) -> Result:
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
    from skillfocus.tasks.neural.settings import OptionLearning
    from skillfocus.tasks.neural.solving import solve
    from skillfocus.tasks.neural.task import household_task
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
    changed: dict[str, np.ndarray] = {}
    for skill, targets in enumerate(skills.targets):
        if len(targets) != 1:
            continue
        paths, _ = skills.run(np.full(ROLLOUTS, skill), starts, rng)
        mine, before = paths[:, -1] != starts, changed.get(target := targets[0])
        own = names.index(target)
        if before is None or mine[:, own].sum() > before[:, own].sum():
            changed[target] = mine
    rows: list[Row] = []
    for target, best in changed.items():
        own = names.index(target)
        rows.append((f"first/{target}/changes", None, float(best[:, own].mean())))
        for j, name in enumerate(names):
            if j != own and best[:, own].any():
                also = float(best[best[:, own], j].mean())
                rows.append((f"first/{target}/also/{name}", None, also))
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
