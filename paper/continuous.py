"""Continuous worlds: focused skills compared with DUSDi, METRA and plain skills.

The worlds are DUSDi's 2D-Gunner and multi-particle worlds, and `two-rooms`. `neural` is for a CPU;
in DUSDi's worlds it takes as many steps as DUSDi does. `neural-large` is for a GPU and takes fifty
times as many there. Metrics, with S one of `random` and `settled` (states in which other skills
ended), and T a task:

    from_S/target_change     mean change of skills' targets, relative to the scale
    from_S/side_effects      sum of the changes of non-target variables
    from_S/exceeds           how often a non-target variable changes by more than 0.1
    T/return, T/true_return  returns of an agent over the skills, by number of training decisions

Claims are aims of our own: `continuous…` in `claims.toml`. In Particles, where focus does not help,
the aims are for DUSDi's skills.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import skillfocus as sf
from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.claims import Analysis, Experiment, aim_claim, aims_outcome, fewer_claim
from paper.results import values_by_seed
from paper.settings import load_data
from skillfocus.discovery import cached_world, learn
from skillfocus.learners.problem import Problem, make_problem
from skillfocus.metrics.side_effects import SkillEffects, side_effects
from skillfocus.objectives.kinds import parse_targets
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Row

CURVE_POINTS = 8
"""Stored points of a task's learning curve."""
BATCH_PER_ENVIRONMENT = 5
"""Minibatch size per environment, as in the defaults of `SkillAgent`."""


@dataclass(frozen=True)
class ContinuousStudy(sf.Run):
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
    actor: sf.Actor = field(default=sf.Actor(), metadata={"prefix": "actor_"})

    version = 1

    @property
    def problem(self) -> Problem:
        """What is to be learned."""
        world = cached_world(self.world, self.world_settings)
        objective, given = make_objective(self.objective), self.targets
        if objective.targeted:
            return make_problem(world, objective, targets=parse_targets(given))
        if given.startswith("sphere"):
            return make_problem(
                world, objective, targets=sf.Sphere(int(given.removeprefix("sphere")))
            )
        return make_problem(world, objective, n_skills=int(given))

    def execute(self, progress: Progress) -> sf.Result:
        """Discover the skills, measure them, and learn the world's tasks."""
        skills = learn(self.problem, self.actor, self.seed, part_of(progress, 0.0, 0.6))
        progress(0.6, "measuring side effects")
        rows = effect_rows(skills, self.rollouts)
        if self.task_rounds:
            rows += self._task_rows(skills, part_of(progress, 0.7, 1.0))
        return sf.Result(rows, skills.to_bytes())

    def _task_rows(self, skills: sf.Skills, progress: Progress) -> list[Row]:
        from skillfocus.tasks.continuous import SkillAgent, learn_skill_task
        from skillfocus.tasks.task import jax_tasks_of

        n = self.task_environments
        agent = SkillAgent(rounds=self.task_rounds, environments=n, batch=BATCH_PER_ENVIRONMENT * n)
        rows: list[Row] = []
        tasks = jax_tasks_of(skills.world)
        for number, task in enumerate(tasks.values()):
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


def effect_rows(skills: sf.Skills, rollouts: int) -> list[Row]:
    """Return the side effects of a set of skills, from random and from settled states."""
    scales, rows = skills.world.space.scales, []
    for name, starts in (("random", "fair"), ("settled", "settled")):
        rng = np.random.default_rng(0)
        effects = side_effects(skills, starts, sample=rollouts, rng=rng)
        parts = zip(*(changes_of(each, scales) for each in effects), strict=True)
        rows += [
            (f"from_{name}/{metric}", None, float(np.concatenate(values).mean()))
            for metric, values in zip(EFFECTS, parts, strict=True)
        ]
    return rows


def changes_of(
    effects: SkillEffects, scales: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how far the targets of a skill moved in each rollout, and how far all other variables
    did, relative to their scales; and whether another one changed.

    Of a skill without targets, the variable that it moves most counts as its target.
    """
    moved = effects.amount / scales
    own = np.isin(effects.variables, effects.targets)
    if not effects.targets:
        own[moved.mean(axis=0).argmax()] = True
    others = effects.changed[:, ~own].max(axis=1)
    return moved[:, own].sum(axis=1), moved[:, ~own].sum(axis=1), others


SINGLE = "one target at a time"
"""Variant: DUSDi with the targets of focused skills."""
_DATA = load_data("continuous.toml")
WORLDS: dict[str, dict[str, Any]] = _DATA["world"]
"""What is run in each world."""
TASKS: dict[str, dict[str, Any]] = _DATA["task"]
"""World, aim and published returns of each task."""
EFFECTS = {"target_change": math.inf, "side_effects": math.inf, "exceeds": 1}
"""Metrics of side effects, with their largest possible values."""


# -------------------------------------------------------------------- cases


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    small = setup.learner == "neural"
    agent: dict[str, int] = {} if small else {"task_environments": 256}
    listed: list[Case] = []
    for seed, (world, data) in product(seeds, WORLDS.items()):
        for (name, variant), targets in _agents(world).items():
            settings = {**data.get("actor", {}), **data.get(setup.learner, {})}
            if make_objective(name).targeted:
                settings["credit"] = data.get("credit", 0.0)
            actor = sf.Actor(**settings) if small else sf.large_actor(**settings)
            run = ContinuousStudy(
                world, name, seed, targets, data["settings"], actor=actor, **agent
            )
            listed.append(Case(setup.preset, setup.learner, world, name, variant, seed, run))
    return listed


def _agents(world: str) -> dict[tuple[str, str], str]:
    """Return the targets of every agent and variant of a world."""
    agents = {(name, ""): targets for name, targets in WORLDS[world]["agents"].items()}
    if single := WORLDS[world].get("single"):
        agents[single["agent"], SINGLE] = single["targets"]
    return agents


# -------------------------------------------------------------------- analysis


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare side effects and returns of agents in continuous worlds.

    Returns:
        Claims, and a table of side effects and one of returns.
    """
    return Analysis() + _effects(frame) + _tasks(frame)


def _effects(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for world, data in WORLDS.items():
        effects = {}
        for agent, variant in _agents(world):
            of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
            effects[agent, variant] = values = of("from_random/side_effects")
            if values:
                row = {"world": world, "agent": fmt.agent_name(agent), "variant": variant}
                for start, space in (("random", ""), ("settled", " ")):
                    target, others, above = (
                        fmt.mean(of(f"from_{start}/{name}"), 3, 0, upper)
                        for name, upper in EFFECTS.items()
                    )
                    row[f"{start} states: target change"] = target
                    row |= {f"side effects{space}": others, f"share above 0.1{space}": above}
                rows.append({**row, "seeds": str(len(values))})
        if "single" in data:
            pair = effects[data["judged"], ""], effects[data["single"]["agent"], SINGLE]
            claims += fewer_claim("continuous-effects", *pair, world=world)
    note = (
        "Changes relative to each variable's scale; side effects are those of all other variables, "
        "added up. Share above 0.1: rollouts in which another variable changes by more than 0.1 of "
        "its scale. DUSDi's skills on all variables at once are judged by one component at a time: "
        "in settled states the others stay as they were in the skill before."
    )
    return Analysis(claims, [fmt.Table.of("What skills change", rows, note)])


def _tasks(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for task, data in TASKS.items():
        world = data["world"]
        for agent, variant in _agents(world):
            of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
            returns = of(f"{task}/return")
            known = None if variant else data.get(agent)
            if returns:
                row = {
                    "task": task,
                    "agent": fmt.agent_name(agent),
                    "variant": variant,
                    "return": fmt.mean(returns, 1),
                    "true return": fmt.mean(of(f"{task}/true_return"), 1),
                    "published": fmt.MISSING if known is None else f"{known:g}",
                    "seeds": str(len(returns)),
                }
                rows.append(row)
            if agent == WORLDS[world]["judged"] and not variant:
                claims += aim_claim("continuous", data["aim"], returns, task=task, agent=agent)
    note = (
        "Returns of an agent that chooses a skill every 50 steps (two-rooms: 60), greedily when "
        "evaluated. True return: counts only while the vase is whole. Published: DUSDi (Hu et al., "
        "NeurIPS 2024), read off its figures."
    )
    return Analysis(claims, [fmt.Table.of("Tasks over continuous skills", rows, note)])


EXPERIMENT = Experiment(
    "continuous", "Continuous worlds", cases, analyze, presets=("scale",), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
