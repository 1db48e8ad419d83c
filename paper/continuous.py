"""Continuous worlds: focused skills compared with DUSDi, METRA and plain skills.

The worlds are DUSDi's 2D-Gunner and multi-particle worlds, and `two-rooms`. `neural` is for a CPU;
in DUSDi's worlds it takes as many steps as DUSDi does. `neural-large` is for a GPU and takes fifty
times as many there. Metrics, with S one of `random` and `settled` (states in which other skills
ended), and T a task:

    from_S/target_change     mean change of skills' targets, relative to the scale
    from_S/side_effects      sum of the changes of non-target variables
    from_S/exceeds           how often a non-target variable changes by more than 0.1
    T/return, T/true_return  returns of an agent over the skills, by number of training decisions

Claims are aims of our own:

    continuous-T           focused skills learn T (in Particles, where focus does not help, DUSDi's)
    continuous-effects-W   in world W, focused skills have fewer side effects than DUSDi's
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
import polars as pl

from paper.agents import Case, Setup
from paper.claims import Analysis, Experiment, aim_at_fewer, aim_at_least, aims_outcome
from paper.formatting import MISSING, Table, agent_name, format_mean
from paper.results import values_by_seed
from skillfocus.discovery import cached_world
from skillfocus.learners.actor.learner import Actor, large_actor
from skillfocus.learners.discovery import learn
from skillfocus.learners.problem import Problem, make_problem
from skillfocus.metrics.side_effects import SkillEffects, side_effects
from skillfocus.objectives.kinds import Sphere, parse_targets
from skillfocus.objectives.registry import make_objective
from skillfocus.progress import Progress, part_of
from skillfocus.runs import Result, Row, Run
from skillfocus.skills.skills import Skills

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

    @property
    def problem(self) -> Problem:
        """What is to be learned."""
        world = cached_world(self.world, self.world_settings)
        objective, given = make_objective(self.objective), self.targets
        if objective.targeted:
            return make_problem(world, objective, targets=parse_targets(given))
        if given.startswith("sphere"):
            return make_problem(world, objective, targets=Sphere(int(given.removeprefix("sphere"))))
        return make_problem(world, objective, n_skills=int(given))

    def execute(self, progress: Progress) -> Result:
        """Discover the skills, measure them, and learn the world's tasks."""
        skills = learn(self.problem, self.actor, self.seed, part_of(progress, 0.0, 0.6))
        progress(0.6, "measuring side effects")
        rows = effect_rows(skills, self.rollouts)
        if self.task_rounds:
            rows += self._task_rows(skills, part_of(progress, 0.7, 1.0))
        return Result(rows, skills.to_bytes())

    def _task_rows(self, skills: Skills, progress: Progress) -> list[Row]:
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


def effect_rows(skills: Skills, rollouts: int) -> list[Row]:
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


PRESET, SMALL = "scale", "neural"
SINGLE = "one target at a time"
"""Variant: DUSDi with the targets of focused skills."""
PEER_STEPS = 4_000_000
"""DUSDi's number of steps."""
VARIED = '{"starts": "varied"}'
ITEMS = "base=5,arm=5,view=5"
DISTANCES = ",".join(f"distance_{i}=5" for i in range(10))
ROOMS = "agent=8,box=8,lamp=2"
WORLDS: dict[str, tuple[str, dict[str, str]]] = {
    "gunner": (
        VARIED,
        {
            "focused-diayn": f"{ITEMS},base+view,base+arm+view", "dusdi-diayn": ITEMS,
            "diayn": "125", "metra": "sphere3",
        },
    ),
    "particles": (
        "{}",
        {
            "focused-diayn": DISTANCES, "dusdi-diayn": DISTANCES, "diayn": "50",
            "metra": "sphere5",
        },
    ),
    "two-rooms": (
        "{}",
        {
            "focused-vic": ROOMS, "focused-metra": "agent=sphere2,box=sphere2,lamp=2",
            "dusdi-vic": ROOMS, "vic": "16", "metra": "sphere2",
        },
    ),
}  # fmt: skip
"""Settings of each world, and its agents with their targets. Errands in two-rooms lead away and
back, so VIC is used there, which rewards the last state."""
ACTORS: dict[str, dict[str, object]] = {"gunner": {"entropy": 0.03, "noise_correlation": 0.9}}
"""Settings of the actor by world. Gunner's things are small and far apart: noise that lasts finds
them."""
CREDIT = {"gunner": 4.0, "particles": 1.0}
"""Credit of the actor by world, for skills with a component per variable. In Particles, dimensions
influence one variable each, and all positive values are the same."""
ON_CPU: dict[str, dict[str, object]] = {
    "gunner": {"steps": PEER_STEPS}, "particles": {"steps": PEER_STEPS, "hidden": 256},
}  # fmt: skip
"""Further settings on a CPU, for `PEER_STEPS` steps. Ten particles do not fit into the default
width."""
ON_GPU: dict[str, dict[str, object]] = {"two-rooms": {"steps": 491_520_000}}
"""Further settings on a GPU: a skill that carries the box learns late to go back home."""
SINGLE_TARGETS = {
    "gunner": ("dusdi-diayn", f"{ITEMS},each"), "two-rooms": ("dusdi-vic", f"{ROOMS},each"),
}  # fmt: skip
"""DUSDi's skills one target at a time."""
PUBLISHED: dict[str, tuple[str, dict[str, float], float]] = {
    "gunner-unlimited": ("gunner", {"DUSDi": 38.0, "METRA": 29.0, "DIAYN": 18.0}, 38.0),
    "gunner-limited": ("gunner", {"DUSDi": 31.5, "METRA": 26.5, "DIAYN": 10.5}, 33.0),
    "food-poison-easy": ("particles", {"DUSDi": 17.6, "METRA": 2.5, "DIAYN": 0.0}, 18.0),
    "food-poison-mid": ("particles", {"DUSDi": 86.0, "METRA": 10.0, "DIAYN": 0.0}, 90.0),
    "food-poison-hard": ("particles", {"DUSDi": 137.0, "METRA": 18.0, "DIAYN": 0.0}, 144.0),
    "sequential-mid": ("particles", {}, 145.0),
    "sequential-hard": ("particles", {}, -2.0),
    "carry-box": ("two-rooms", {}, 3.0),
}
"""World, published returns and our aim of each task. The returns are from DUSDi (Hu et al., NeurIPS
2024), read off its figures to about 2 % of the axis. Its sequential tasks had other penalties than
its public code, so their returns are not comparable."""
JUDGED = {"gunner": "focused-diayn", "particles": "dusdi-diayn", "two-rooms": "focused-vic"}
"""The agent whose returns are compared with the aims, by world."""
PEERS = {"dusdi-diayn": "DUSDi", "metra": "METRA", "diayn": "DIAYN"}
"""Names of published agents."""
EFFECTS = {"target_change": math.inf, "side_effects": math.inf, "exceeds": 1}
"""Metrics of side effects, with their largest possible values."""


# -------------------------------------------------------------------- cases


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the cases of a setup, for a CPU or for a GPU."""
    small = setup.learner == SMALL
    agent: dict[str, int] = {} if small else {"task_environments": 256}
    listed: list[Case] = []
    for seed, world in product(seeds, WORLDS):
        for (name, variant), targets in _agents(world).items():
            settings = {**ACTORS.get(world, {}), **(ON_CPU if small else ON_GPU).get(world, {})}
            if make_objective(name).targeted:
                settings["credit"] = CREDIT.get(world, 0.0)
            actor = Actor(**settings) if small else large_actor(**settings)  # pyright: ignore[reportArgumentType]
            run = ContinuousStudy(
                world, name, seed, targets, WORLDS[world][0], actor=actor, **agent
            )
            listed.append(Case(PRESET, setup.learner, world, name, variant, seed, run))
    return listed


def _agents(world: str) -> dict[tuple[str, str], str]:
    """Return the targets of every agent and variant of a world."""
    agents = {(name, ""): targets for name, targets in WORLDS[world][1].items()}
    if world in SINGLE_TARGETS:
        name, targets = SINGLE_TARGETS[world]
        agents[name, SINGLE] = targets
    return agents


# -------------------------------------------------------------------- analysis


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare side effects and returns of agents in continuous worlds.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and a table of side effects and one of returns.
    """
    parts = [_effects(frame), _tasks(frame)]
    tables = [table for part in parts for table in part.tables if table.rows]
    return Analysis([claim for part in parts for claim in part.claims], tables)


def _effects(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for world in WORLDS:
        effects = {}
        for agent, variant in _agents(world):
            of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
            effects[agent, variant] = values = of("from_random/side_effects")
            if values:
                cells = [
                    format_mean(of(f"from_{start}/{name}"), 3, 0, upper)
                    for start in ("random", "settled")
                    for name, upper in EFFECTS.items()
                ]
                rows.append([world, agent_name(agent), variant, *cells, str(len(values))])
        if world in SINGLE_TARGETS:
            statement = f"{world}: side effects, focused minus DUSDi's skills, one target at a time"
            pair = effects[JUDGED[world], ""], effects[SINGLE_TARGETS[world][0], SINGLE]
            claims += aim_at_fewer(f"continuous-effects-{world}", statement, *pair)
    columns = [
        "world", "agent", "variant", "random states: target change", "side effects",
        "share above 0.1", "settled states: target change", "side effects", "share above 0.1",
        "seeds",
    ]  # fmt: skip
    note = (
        "Changes relative to each variable's scale; side effects are those of all other variables, "
        "added up. Share above 0.1: rollouts in which another variable changes by more than 0.1 of "
        "its scale. DUSDi's skills on all variables at once are judged by one component at a time: "
        "in settled states the others stay as they were in the skill before."
    )
    return Analysis(claims, [Table("What skills change", columns, rows, note)])


def _tasks(frame: pl.DataFrame) -> Analysis:
    claims, rows = [], []
    for task, (world, published, aim) in PUBLISHED.items():
        for agent, variant in _agents(world):
            of = partial(values_by_seed, frame, world=world, agent=agent, variant=variant)
            told = of(f"{task}/return")
            if not told:
                continue
            known = None if variant else published.get(PEERS.get(agent, ""))
            rows.append(
                [
                    task, agent_name(agent), variant, format_mean(told, 1),
                    format_mean(of(f"{task}/true_return"), 1),
                    MISSING if known is None else f"{known:g}", str(len(told)),
                ]
            )  # fmt: skip
            if agent == JUDGED[world] and not variant:
                statement = f"{task}: return with {agent_name(agent)} skills"
                claims.append(aim_at_least(f"continuous-{task}", statement, aim, told))
    columns = ["task", "agent", "variant", "return", "true return", "published", "seeds"]
    note = (
        "Returns of an agent that chooses a skill every 50 steps (two-rooms: 60), greedily when "
        "evaluated. True return: counts only while the vase is whole. Published: DUSDi (Hu et al., "
        "NeurIPS 2024), read off its figures."
    )
    return Analysis(claims, [Table("Tasks over continuous skills", columns, rows, note)])


EXPERIMENT = Experiment(
    "continuous", "Continuous worlds", cases, analyze, presets=(PRESET,), least_seeds=1,
    outcome=aims_outcome,
)  # fmt: skip
