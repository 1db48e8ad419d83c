"""Continuous skills, evaluated by their side effects and by the tasks of their world.

Metrics, with S one of `random` and `settled` (states in which other skills ended), and T a task:

    from_S/target_change     mean change of skills' targets, relative to the scale
    from_S/side_effects      sum of the changes of non-target variables
    from_S/exceeds           how often a non-target variable changes by more than 0.1
    T/return, T/true_return  returns of an agent over the skills, by number of training decisions
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skillfocus.core.progress import Progress, part_of
from skillfocus.errors import UserError
from skillfocus.learners.continuous import make_continuous_problem
from skillfocus.learners.discovery import discover
from skillfocus.learners.neural.continuous.settings import Actor
from skillfocus.learners.neural.learner import Neural
from skillfocus.metrics.continuous import continuous_side_effects, summarize
from skillfocus.objectives.registry import named_objective
from skillfocus.objectives.skill_layout import Sphere
from skillfocus.objectives.target_text import parse_continuous_targets
from skillfocus.runs.run import Result, Row, Run
from skillfocus.runs.world_cache import cached_world
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.worlds.continuous import ContinuousBase

CURVE_POINTS = 8
"""Stored points of a task's learning curve."""
BATCH_PER_ENVIRONMENT = 5
"""Minibatch size per environment, as in the defaults of `SkillAgent`."""


@dataclass(frozen=True)
class ContinuousStudy(Run):
    """One set of skills in a continuous world: its side effects and its returns in tasks.

    Attributes:
        world: A world's name.
        objective: An objective's name.
        seed: Seed of skills and tasks.
        targets: As for `discover` on the command line; for skills without targets, their number or
            `sphere3`.
        world_settings: The world's arguments as a JSON object.
        rollouts: Rollouts per skill.
        task_rounds: Training rounds per task; 0 skips tasks.
        task_environments: Episodes per round.
        actor: Settings of the actor.
    """

    world: str
    objective: str
    seed: int
    targets: str
    world_settings: str = "{}"
    rollouts: int = 256
    task_rounds: int = 120
    task_environments: int = 64
    actor: Actor = field(default=Actor(), metadata={"prefix": "actor_"})

    version = 1

    def __post_init__(self) -> None:
        self._problem()

    def _problem(self):
        world = cached_world(self.world, self.world_settings)
        if not isinstance(world, ContinuousBase):
            raise UserError(f"{self.world} has no continuous variables; try two-rooms")
        return make_continuous_problem(
            world, named_objective(self.objective), **self._arguments()
        )  # fmt: skip

    def _arguments(self) -> dict:
        if named_objective(self.objective).targeted:
            return {"targets": parse_continuous_targets(self.targets)}
        if self.targets.startswith("sphere"):
            return {"targets": Sphere(int(self.targets.removeprefix("sphere")))}
        return {"n_skills": int(self.targets)}

    def execute(self, progress: Progress, /) -> Result:
        """Discover the skills, measure them, and learn the world's tasks."""
        skills = discover(
            cached_world(self.world, self.world_settings), named_objective(self.objective),
            seed=self.seed, learner=Neural(actor=self.actor),
            progress=part_of(progress, 0.0, 0.6), **self._arguments(),
        )  # fmt: skip
        assert isinstance(skills, ContinuousSkills)
        progress(0.6, "measuring side effects")
        rows = effect_rows(skills, self.rollouts)
        if self.task_rounds:
            rows += self._task_rows(skills, part_of(progress, 0.7, 1.0))
        return Result(rows, skills.to_bytes())

    def _task_rows(self, skills: ContinuousSkills, progress: Progress) -> list[Row]:
        from skillfocus.tasks.neural.continuous import SkillAgent, learn_skill_task
        from skillfocus.tasks.neural.continuous_registry import tasks_of

        n = self.task_environments
        agent = SkillAgent(rounds=self.task_rounds, environments=n, batch=BATCH_PER_ENVIRONMENT * n)
        rows: list[Row] = []
        tasks = tasks_of(skills.world)
        for number, task in enumerate(tasks):
            part = part_of(progress, number / len(tasks), (number + 1) / len(tasks))
            done = learn_skill_task([skills], task, [self.seed], agent, progress=part)[0]
            each = done.decisions // self.task_rounds
            chosen = np.unique(np.linspace(1, self.task_rounds, CURVE_POINTS).astype(int))
            for name, curve, last in (
                ("return", done.returns, done.last_returns),
                ("true_return", done.true_returns, done.last_true_returns),
            ):
                rows += [
                    (f"{task.name}/training_{name}", int(i) * each, float(curve[i - 1]))
                    for i in chosen
                ]
                rows.append((f"{task.name}/{name}", done.decisions, float(last.mean())))
        return rows


def effect_rows(skills: ContinuousSkills, rollouts: int) -> list[Row]:
    """Return the side effects of a set of skills, from random and from settled states."""
    rows: list[Row] = []
    for start in ("random", "settled"):
        rng = np.random.default_rng(0)
        effects = continuous_side_effects(skills, rng=rng, n=rollouts, settled=start == "settled")
        rows += [
            (f"from_{start}/{name}", None, interval.estimate)
            for name, interval in summarize(effects, rng).items()
        ]
    return rows
