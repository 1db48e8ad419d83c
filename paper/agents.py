"""The runs behind the paper's figures, and their labels.

`Pipeline` discovers skills and measures everything that any experiment needs, so that experiments
share their runs; `Primitives` is the agent without skills. Both learn their world's task with the
settings of every preset and, on tuning seeds, of every reading, from its true reward and, if there
is one, from its proxy reward. Metrics beside those of `Discovery`:

    paper/true/steps, best/proxy/true_return, …    learning curves; step: number of episodes
    ties=random/true/steps, …                      on tuning seeds, at the end of learning alone
    path/3                                         state numbers on the likeliest path of skill 3
                                                   from the world's showcase; step: time
    optimum/true/steps, …                          the optimum over primitive actions

Analyses see a run by the labels of its `Case` alone, never by ids or settings:

    preset, learner, world, agent, variant, seed

A variant names what differs from the preset, such as `strength=10`; it is usually empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import skillfocus as sf
from paper.settings import (
    MEMORY_AGENTS,
    OBJECTIVES,
    PRESETS,
    PRIMITIVES,
    TASK_READINGS,
    TWO_TARGETS,
    WITH_MEMORY,
    discovery_learner,
    discovery_settings,
    skill_targets,
    task_learner,
)
from skillfocus.discovery import cached_mdp, cached_world
from skillfocus.progress import Progress
from skillfocus.runs import Setting
from skillfocus.spaces import Row
from skillfocus.sweep import FIRST_TUNING_SEED
from skillfocus.tasks.task import highest_return
from skillfocus.worlds.grid import GridWorld


@dataclass(frozen=True)
class Pipeline(sf.Discovery):
    """A discovery, and what its skills are worth for the world's task."""

    version = 501

    @property
    def keeps_skills(self) -> bool:
        """Whether the gallery shows these skills: the first seed's of the preset `paper`. Those of
        fifty seeds would fill a disk."""
        return (
            self.seed == 0
            and self.objective in OBJECTIVES
            and self.learner == discovery_learner("paper", "planning", self.objective)
            and self.non_default_settings().keys() <= {"coverage", "sees_start", "rate"}
        )

    def measure(self, skills: sf.Skills, progress: Progress) -> sf.Result:
        """Return the result of the discovery, with the skills' paths and the task."""
        found = super().measure(skills, progress)
        progress(0.7, "learning the task")
        rows = _path_rows(skills)
        rows += _task_rows(self.make_world(), skills.mdp, skills, self.objective, self.seed)
        return replace(found, rows=[*found.rows, *rows])


@dataclass(frozen=True)
class Primitives(sf.Run):
    """The agent that has the primitive actions alone, and the optimum of its task."""

    world: str
    seed: int

    version = 502

    def settings(self) -> dict[str, Setting]:
        """Return the settings that identify the run."""
        return {"world": self.make_world().id, "objective": PRIMITIVES, "seed": self.seed}

    def make_world(self) -> sf.World:
        """Return the world."""
        return cached_world(self.world, "{}")

    def execute(self, progress: Progress) -> sf.Result:
        """Compute the optimum, and learn the task."""
        world, mdp = self.make_world(), cached_mdp(self.world, "{}")
        progress(0.0, "learning the task")
        task, rows = sf.task_of(world, mdp), []
        for kind in task.rewards:
            steps, success = sf.optimum(mdp, task, kind)
            best = {"steps": steps, "success": success, "return": highest_return(mdp, task, kind)}
            rows += [(f"optimum/{kind}/{name}", None, value) for name, value in best.items()]
        return sf.Result(rows + _task_rows(world, mdp, None, PRIMITIVES, self.seed))


def _task_rows(
    world: sf.World, mdp: sf.TabularMDP, skills: sf.Skills | None, agent: str, seed: int
) -> list[Row]:
    """Learning curves of the task with the settings of presets or all readings, and every kind of
    reward."""
    task = sf.task_of(world, mdp)
    rows: list[Row] = []
    for name in TASK_READINGS if seed >= FIRST_TUNING_SEED else PRESETS:
        settings = task_learner(name, world.id, agent)
        if name not in PRESETS:
            settings = replace(settings, evaluations=1)
        for kind in task.rewards:
            solution = sf.solve(mdp, task, skills, seed=seed, reward=kind, settings=settings)
            curves = {"steps": solution.steps, "true_return": solution.true_return}
            if kind == "proxy":
                curves["proxy_return"] = solution.proxy_return
            rows += [
                (f"{name}/{kind}/{curve}", int(episode), float(value))
                for curve, values in curves.items()
                for episode, value in zip(solution.episodes, values, strict=True)
            ]
    return rows


def _path_rows(skills: sf.Skills) -> list[Row]:
    if not isinstance(skills.world, GridWorld):
        return []
    mdp, start = skills.mdp, skills.world.showcase
    return [
        (f"path/{z}", t, float(mdp.number(state)))
        for z in range(len(skills))
        for t, state in enumerate(skills.likely_path(z, start))
    ]


@dataclass(frozen=True)
class Case:
    """A run and its labels."""

    preset: str
    learner: str
    world: str
    agent: str
    variant: str
    seed: int
    run: sf.Run

    @property
    def labels(self) -> tuple[str, str, str, str, str, int]:
        """Everything but the run, in the order of the columns of results."""
        return self.preset, self.learner, self.world, self.agent, self.variant, self.seed


@dataclass(frozen=True)
class Setup:
    """A preset and a learner, which all cases of a comparison share.

    setup = Setup("paper", "planning")
    setup.case("mud-world", "focused-vic", 0, "strength=10", strength=10.0)
    """

    preset: str = "paper"
    learner: str = "planning"

    def case(
        self, world: str, agent: str, seed: int, variant: str = "", **changes: Setting
    ) -> Case:
        """Return the case of an agent in a world.

        Args:
            world: Short name of a world, such as `four-rooms`.
            agent: An objective, or `primitives`.
            seed: Seed of the run.
            variant: Label of the changes.
            **changes: Settings of the run that differ from the preset.
        """
        if agent == PRIMITIVES:
            run = Primitives(world, seed)
        else:
            objective = agent.removesuffix(TWO_TARGETS).removesuffix(WITH_MEMORY)
            settings = discovery_settings(self.preset, world, objective)
            if agent.endswith(WITH_MEMORY):
                settings["sees_start"] = True
            run = Pipeline(
                world, objective, seed, discovery_learner(self.preset, self.learner, objective),
                targets=skill_targets(self.preset, world, agent), coverage=world == "four-rooms",
            ).with_settings(settings | changes)  # fmt: skip
        return Case(self.preset, self.learner, world, agent, variant, seed, run)


SETUPS = (
    Setup("paper", "literal"), Setup("paper", "q-learning"), Setup("paper", "planning"),
    Setup("best", "planning"),
)  # fmt: skip
"""The columns of the report."""
FURTHER_SETUPS = (Setup("scale", "neural"), Setup("scale", "neural-large"))
"""Setups of experiments that the paper does not have, with pages of their own."""
SEED_SHARES = {"literal": 0.4, "q-learning": 0.4, "planning": 1.0}
"""Share of the seeds that each learner gets: Q-learning takes two to four times as long."""


def first_seeds(seeds: Sequence[int], share: float, least: int = 2) -> Sequence[int]:
    """Return the first seeds: the given share of all, rounded, but at least so many."""
    return seeds[: max(least, round(share * len(seeds)))]


def main_cases(
    setup: Setup, worlds: Sequence[str], agents: Sequence[str], seeds: Sequence[int]
) -> list[Case]:
    """Return the cases of every agent in every world.

    Q-learning gets two fifths of the seeds in FourRooms, and one fifth elsewhere.
    """
    share = SEED_SHARES[setup.learner]
    elsewhere = share if share == 1 else share / 2
    shares = {world: share if world == "four-rooms" else elsewhere for world in worlds}
    return [
        setup.case(world, agent, seed)
        for seed in seeds
        for world in worlds
        for agent in agents
        if seed in first_seeds(seeds, shares[world])
    ]


def memory_cases(setup: Setup, worlds: Sequence[str], seeds: Sequence[int]) -> list[Case]:
    """Return plain agents with memory for two seeds, if there are ten or more.

    Their contexts are whole states: one of them takes as long to plan as five others.
    """
    if setup.learner != "planning" or len(seeds) < 10:
        return []
    return [
        setup.case(world, agent, seed)
        for seed in seeds[:2]
        for world in worlds
        for agent in MEMORY_AGENTS
    ]
