"""Cases: runs, labelled with their role in a comparison.

Analyses see cases by their labels alone, never by run ids or settings:

    preset, learner, world, agent, variant, seed

A variant names what differs from the preset, such as `strength=10`; it is usually empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillfocus.experiments.pipeline import Pipeline, Primitives
from skillfocus.experiments.presets import (
    MEMORY_AGENTS,
    PRIMITIVES,
    TWO_TARGETS,
    WITH_MEMORY,
    discovery_learner,
    discovery_settings,
    skill_targets,
)
from skillfocus.runs.run import Run, Setting


@dataclass(frozen=True)
class Case:
    """A run and its labels."""

    preset: str
    learner: str
    world: str
    agent: str
    variant: str
    seed: int
    run: Run

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
                settings["memory"] = True
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
    seeds_in = {
        world: first_seeds(seeds, share if world == "four-rooms" or share == 1 else share / 2)
        for world in worlds
    }
    return [
        setup.case(world, agent, seed)
        for seed in seeds
        for world in worlds
        for agent in agents
        if seed in seeds_in[world]
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
