"""The runs behind the paper's figures: each is one seed's whole pipeline.

`Pipeline` discovers skills and measures everything that any experiment asks of them, so that all
experiments share their runs; `Primitives` is the agent without skills. Both learn their world's
task as every preset says, from its true reward and, where that is another, from its proxy:

    paper/true/steps, best/proxy/true_return, …      step: episodes learned from so far
    path/3                                           step: time; the states' numbers on skill 3's
                                                     likeliest way from the world's showcase
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.progress import Progress
from skillfocus.core.world import World
from skillfocus.experiments.presets import PRESETS, PRIMITIVES, task_learner
from skillfocus.runs.discovery_run import PLANNING, Discovery, cached_mdp, cached_world
from skillfocus.runs.run import Result, Row, Run, Setting
from skillfocus.skills.skills import Skills
from skillfocus.tasks.smdp_q_learning import solve
from skillfocus.tasks.task import highest_return, optimum, task_of
from skillfocus.worlds.grid import GridWorld


@dataclass(frozen=True)
class Pipeline(Discovery):
    """A discovery, and what its skills are good for."""

    version = 100 * Discovery.version + 1

    def execute(self, report: Progress) -> Result:
        """With the skills of the one seed that the gallery shows: fifty would fill a disk."""
        result = super().execute(report)
        usual = self.learner == PLANNING and self.non_default_settings().keys() <= {"coverage"}
        return result if usual and self.seed == 0 else Result(result.rows)

    def record(self, frame: pl.DataFrame) -> dict[str, object]:
        """What the skills do, without their ways and what was learned with them."""
        beside = [pl.col("metric").str.starts_with(f"{part}/") for part in ("path", *PRESETS)]
        return super().record(frame.filter(~pl.any_horizontal(beside)))

    def measure(self, skills: Skills, report: Progress) -> list[Row]:
        rows = super().measure(skills, report)
        report(0.95, "learning the task")
        rows += _paths(skills)
        return rows + _task_rows(self.make_world(), skills.mdp, skills, self.objective, self.seed)


@dataclass(frozen=True)
class Primitives(Run):
    """The agent that has the primitive moves alone, and the optimum of its task."""

    world: str
    seed: int

    version = Pipeline.version + 1

    def settings(self) -> dict[str, Setting]:
        return {"world": self.make_world().id, "objective": PRIMITIVES, "seed": self.seed}

    def make_world(self) -> World:
        return cached_world(self.world, "{}")

    def execute(self, report: Progress) -> Result:
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
    task = task_of(world, mdp)
    rows: list[Row] = []
    for preset in PRESETS:
        settings = task_learner(preset, world.id, agent)
        for kind in task.kinds:
            found = solve(mdp, task, skills, seed=seed, reward=kind, settings=settings)
            curves = {"steps": found.steps, "true_return": found.true_return}
            if kind == "proxy":
                curves["proxy_return"] = found.proxy_return
            rows += [
                (f"{preset}/{kind}/{name}", int(episode), float(value))
                for name, curve in curves.items()
                for episode, value in zip(found.episodes, curve, strict=True)
            ]
    return rows


def _paths(skills: Skills) -> list[Row]:
    if not isinstance(skills.world, GridWorld):
        return []
    mdp, start = skills.mdp, skills.world.showcase
    return [
        (f"path/{z}", t, float(mdp.number(state)))
        for z in range(len(skills))
        for t, state in enumerate(skills.likely_path(z, start))
    ]
