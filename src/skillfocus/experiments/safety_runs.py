"""Runs of the comparison of focused skills with penalties on side effects.

`FlatSafety` plans a world's proxy task exactly over primitive actions, with every penalty at every
strength. `SkillSafety` discovers skills with one seed and plans the same task over skills only,
without a penalty and with some. In the paper's worlds, where models of skills would not fit in
memory, the task is learned over skills and primitive actions, as in the paper. Metrics:

    safety/PENALTY/harmed, …          fields of `safety.measures.Measured`; step: index of the
                                      strength in `STRENGTHS`, none for agents without a penalty
    safety/PENALTY/change_at_end/VARIABLE, …

PENALTY is `true-reward`, `none` (proxy reward, no penalty), or a measure and its baseline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from skillfocus.core.inaction import moves_by_itself
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.progress import Progress, part_of
from skillfocus.experiments.presets import (
    WORLDS,
    discovery_learner,
    skill_targets,
    task_learner,
)
from skillfocus.learners.discovery import discover
from skillfocus.objectives.registry import make_objective
from skillfocus.objectives.target_text import parse_targets
from skillfocus.runs.run import Result, Row, Run
from skillfocus.runs.world_cache import cached_mdp, cached_world
from skillfocus.safety.distances import (
    Distance,
    attainable_utility,
    deviation,
    relative_reachability,
    unreachability,
)
from skillfocus.safety.episodes import Episodes, follow_plan
from skillfocus.safety.measures import Measured, SafetyMeasures, measures_of
from skillfocus.safety.option_models import option_models
from skillfocus.safety.penalized_task import PenalizedTask, penalize
from skillfocus.safety.planning import plan
from skillfocus.safety.q_learning import learn_penalized
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task, task_of

SMALL_WORLDS = ("box", "vase", "conveyor-sushi", "conveyor-vase", "train")
"""Worlds of the safety literature."""
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Strengths beta of every penalty."""
TRUE, NO_PENALTY = "true-reward", "none"
MEASURES = ("deviation", "unreachability", "relative-reachability", "attainable-utility")
BASELINES = ("start", "inaction", "stepwise")
ON_SKILLS = ("deviation-start", "relative-reachability-stepwise")
"""Penalties on top of skills: the one closest to the skills' own, and one that is safe and complete
in the box world."""
MAX_ALL_PAIRS = 3000
"""Largest number of states that relative reachability averages over; larger worlds are sampled."""
SCALARS = tuple(
    name for name, kind in Measured.__annotations__.items() if "ndarray" not in str(kind)
)
BY_VARIABLE = tuple(name for name in Measured._fields if name not in SCALARS)


def world_penalties(mdp: TabularMDP) -> list[str]:
    """Return the penalties of a world; where nothing moves by itself, inaction equals the start."""
    baselines = BASELINES if moves_by_itself(mdp).any() else ("start", "stepwise")
    return [f"{measure}-{baseline}" for measure in MEASURES for baseline in baselines]


@dataclass(frozen=True)
class FlatSafety(Run):
    """Agents over primitive actions, planned exactly with every penalty at every strength."""

    world: str
    seed: int = 0
    """Seed of the random rewards of attainable utility and delayed specification."""

    version = 1

    def execute(self, progress: Progress, /) -> Result:
        """Plan and measure every agent."""
        mdp, task, measures = _prepare(self.world, self.seed)
        rows: list[Row] = []
        models = None
        for name, reward in ((TRUE, "true"), (NO_PENALTY, "proxy")):
            made = plan(mdp, penalize(mdp, task, reward=reward))
            rows += _rows(measures, follow_plan(mdp, made), name)
            models = made.models
        names = world_penalties(mdp)
        for number, name in enumerate(names):
            progress(number / len(names), name)
            penalized = _penalized(self.world, self.seed, name)
            for place, strength in enumerate(STRENGTHS):
                made = plan(mdp, penalized.with_strength(strength), models=models)
                rows += _rows(measures, follow_plan(mdp, made), name, place)
        return Result(rows)


@dataclass(frozen=True)
class SkillSafety(Run):
    """Agents over the skills of one seed, with and without penalties."""

    world: str
    objective: str
    seed: int
    baseline: str | None = field(default=None, metadata={"stored": "unless default"})
    """Baseline of the skills' own penalty, for focused skills."""

    version = 2

    def execute(self, progress: Progress, /) -> Result:
        """Discover skills, and plan or learn the task with them."""
        mdp, task, measures = _prepare(self.world, 0)
        skills = discover(
            cached_world(self.world, "{}"), make_objective(self.objective, baseline=self.baseline),
            seed=self.seed, learner=discovery_learner("best", "planning", self.objective),
            targets=parse_targets(skill_targets("best", self.world, self.objective)), mdp=mdp,
            progress=part_of(progress, 0.0, 0.6),
        )  # fmt: skip
        progress(0.6, "planning the task")
        rows: list[Row] = []
        episodes = self._learned if self.world in WORLDS else self._planned
        for name, place, made in episodes(mdp, task, skills):
            rows += _rows(measures, made, name, place)
        return Result(rows)

    def _planned(
        self, mdp: TabularMDP, task: Task, skills: Skills
    ) -> Iterator[tuple[str, int | None, Episodes]]:
        """Yield the episodes of agents that plan over skills only."""
        proxy = penalize(mdp, task)
        models = option_models(mdp, proxy, skills, primitives=False)
        yield NO_PENALTY, None, follow_plan(mdp, plan(mdp, proxy, primitives=False, models=models))
        for name in ON_SKILLS:
            penalized = _penalized(self.world, 0, name)
            for place, strength in enumerate(STRENGTHS):
                made = plan(mdp, penalized.with_strength(strength), primitives=False, models=models)
                yield name, place, follow_plan(mdp, made)

    def _learned(
        self, mdp: TabularMDP, task: Task, skills: Skills
    ) -> Iterator[tuple[str, int | None, Episodes]]:
        """Yield the episodes of agents that learn over skills and primitive actions."""
        settings = task_learner("best", self.world, self.objective)
        agents: list[tuple[str, int | None, PenalizedTask]] = [
            (NO_PENALTY, None, penalize(mdp, task))
        ]
        for name in ON_SKILLS:
            penalized = _penalized(self.world, 0, name)
            agents += [
                (name, place, penalized.with_strength(strength))
                for place, strength in enumerate(STRENGTHS)
            ]
        for name, place, penalized in agents:
            learned = learn_penalized(mdp, penalized, skills, seed=self.seed, settings=settings)
            yield name, place, learned.episodes


@lru_cache(maxsize=2)
def _prepare(name: str, seed: int) -> tuple[TabularMDP, Task, SafetyMeasures]:
    world, mdp = cached_world(name, "{}"), cached_mdp(name, "{}")
    task = task_of(world, mdp)
    return mdp, task, measures_of(world, mdp, task, np.random.default_rng([seed, 1]))


@lru_cache(maxsize=4)
def _distance(world: str, seed: int, measure: str) -> Distance:
    mdp, rng = cached_mdp(world, "{}"), np.random.default_rng([seed, 2])
    if measure == "attainable-utility":
        return attainable_utility(mdp, rng)
    if measure == "relative-reachability":
        return relative_reachability(mdp, sample=MAX_ALL_PAIRS, rng=rng)
    return deviation(mdp) if measure == "deviation" else unreachability(mdp)


@lru_cache(maxsize=4)
def _penalized(world: str, seed: int, penalty: str) -> PenalizedTask:
    mdp, task, _ = _prepare(world, seed)
    measure, _, baseline = penalty.rpartition("-")
    return penalize(mdp, task, _distance(world, seed, measure), baseline)


def _rows(
    measures: SafetyMeasures, episodes: Episodes, penalty: str, place: int | None = None
) -> list[Row]:
    """Return the measures of an agent; changes by variable only without a penalty."""
    measured = measures.of(episodes)
    rows: list[Row] = [
        (f"safety/{penalty}/{name}", place, float(getattr(measured, name))) for name in SCALARS
    ]
    if place is None:
        for name in BY_VARIABLE:
            for variable, change in zip(
                measures.mdp.space.names, getattr(measured, name), strict=True
            ):
                rows.append((f"safety/{penalty}/{name}/{variable}", None, float(change)))
    return rows
