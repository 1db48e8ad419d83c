"""The runs behind the paper's figures: each is the whole pipeline of one seed.

`Pipeline` discovers skills and measures everything that any experiment needs, so that experiments
share their runs; `Primitives` is the agent without skills. Both learn their world's task with the
settings of every preset and, on tuning seeds, of every reading, from its true reward and, if there
is one, from its proxy reward. Metrics beside those of `Discovery`:

    paper/true/steps, best/proxy/true_return, …    learning curves; step: number of episodes
    ties=random/true/steps, …                      on tuning seeds, at the end of learning alone
    path/3                                         state numbers on the likeliest path of skill 3
                                                   from the world's showcase; step: time
    optimum/true/steps, …                          the optimum over primitive actions
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.progress import Progress
from skillfocus.core.world import World
from skillfocus.experiments.presets import (
    OBJECTIVES,
    PRIMITIVES,
    discovery_learner,
    task_learner,
)
from skillfocus.experiments.readings import PRESETS, TASK_READINGS
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Result, Row, Run, Setting
from skillfocus.runs.world_cache import cached_mdp, cached_world
from skillfocus.skills.skills import Skills
from skillfocus.sweeps.seeds import FIRST_TUNING_SEED
from skillfocus.tasks.smdp_q_learning import solve
from skillfocus.tasks.task import highest_return, optimum, task_of
from skillfocus.worlds.grid import GridWorld


@dataclass(frozen=True)
class Pipeline(Discovery):
    """A discovery, and what its skills are worth for the world's task."""

    version = 100 * Discovery.version + 1

    @property
    def keeps_skills(self) -> bool:
        """Whether the gallery shows these skills: the first seed's of the preset `paper`. Those of
        fifty seeds would fill a disk."""
        return (
            self.seed == 0
            and self.objective in OBJECTIVES
            and self.learner == discovery_learner("paper", "planning", self.objective)
            and self.non_default_settings().keys() <= {"coverage", "memory"}
        )

    def record(self, frame: pl.DataFrame) -> dict[str, object]:
        """Return the record of the discovery, without paths and learning curves."""
        extra = [pl.col("metric").str.starts_with(f"{part}/") for part in ("path", *TASK_READINGS)]
        return super().record(frame.filter(~pl.any_horizontal(extra)))

    def measure(self, skills: Skills, report: Progress) -> list[Row]:
        """Return the rows of the discovery, of the skills' paths, and of the task."""
        rows = super().measure(skills, report)
        report(0.95, "learning the task")
        rows += _path_rows(skills)
        return rows + _task_rows(self.make_world(), skills.mdp, skills, self.objective, self.seed)


@dataclass(frozen=True)
class Primitives(Run):
    """The agent that has the primitive actions alone, and the optimum of its task."""

    world: str
    seed: int

    version = Pipeline.version + 1

    def settings(self) -> dict[str, Setting]:
        """Return the settings that identify the run."""
        return {"world": self.make_world().id, "objective": PRIMITIVES, "seed": self.seed}

    def make_world(self) -> World:
        """Return the world."""
        return cached_world(self.world, "{}")

    def execute(self, report: Progress) -> Result:
        """Compute the optimum, and learn the task."""
        world, mdp = self.make_world(), cached_mdp(self.world, "{}")
        report(0.0, "learning the task")
        task, rows = task_of(world, mdp), []
        for kind in task.kinds:
            steps, success = optimum(mdp, task, kind)
            rows += [(f"optimum/{kind}/steps", None, steps)]
            rows += [(f"optimum/{kind}/success", None, success)]
            rows += [(f"optimum/{kind}/return", None, highest_return(mdp, task, kind))]
        return Result(rows + _task_rows(world, mdp, None, PRIMITIVES, self.seed))


def _task_rows(
    world: World, mdp: TabularMDP, skills: Skills | None, agent: str, seed: int
) -> list[Row]:
    """Learning curves of the task with the settings of presets or all readings, and every kind of
    reward."""
    task = task_of(world, mdp)
    rows: list[Row] = []
    for name in TASK_READINGS if seed >= FIRST_TUNING_SEED else PRESETS:
        settings = task_learner(name, world.id, agent)
        if name not in PRESETS:
            settings = replace(settings, evaluations=1)
        for kind in task.kinds:
            solution = solve(mdp, task, skills, seed=seed, reward=kind, settings=settings)
            curves = {"steps": solution.steps, "true_return": solution.true_return}
            if kind == "proxy":
                curves["proxy_return"] = solution.proxy_return
            rows += [
                (f"{name}/{kind}/{curve}", int(episode), float(value))
                for curve, values in curves.items()
                for episode, value in zip(solution.episodes, values, strict=True)
            ]
    return rows


def _path_rows(skills: Skills) -> list[Row]:
    if not isinstance(skills.world, GridWorld):
        return []
    mdp, start = skills.mdp, skills.world.showcase
    return [
        (f"path/{z}", t, float(mdp.number(state)))
        for z in range(len(skills))
        for t, state in enumerate(skills.likely_path(z, start))
    ]
