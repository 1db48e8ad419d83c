"""The cases of the comparison with the safety literature, and their labels."""

from __future__ import annotations

from collections.abc import Sequence

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.presets import WORLDS
from skillfocus.experiments.safety_runs import SMALL_WORLDS, FlatSafety, SkillSafety

SAFETY = "safety"
"""Variant of all cases, to distinguish them from other experiments."""
FLAT = "flat"
"""The agent without skills, planned over primitive actions."""
SKILL_AGENTS = ("vic", "dusdi-vic", "focused-vic")
FOCUS = "focused-vic"
MOVING = ("conveyor-sushi", "conveyor-vase", "train")
"""Worlds that move by themselves, in which the baseline of the skills' penalty matters."""
SKILL_BASELINES = ("inaction", "stepwise")
MANY_SEEDS = 10
"""With at least this many seeds, all of them are run in all worlds."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return flat agents in all worlds, and agents over skills.

    With fewer than `MANY_SEEDS`, only the first is run in the small worlds, without the baseline
    inaction, and none in the paper's, where Figure 4 has the agents without a penalty.
    """
    if setup.learner != "planning":
        return []
    every = len(seeds) >= MANY_SEEDS
    listed = [_case(setup, world, FLAT, "", 0) for world in (*SMALL_WORLDS, *WORLDS)]
    for seed in seeds if every else seeds[:1]:
        for world in SMALL_WORLDS:
            listed += [_case(setup, world, agent, "", seed) for agent in SKILL_AGENTS]
            if world in MOVING:
                baselines = SKILL_BASELINES if every else ("stepwise",)
                listed += [_case(setup, world, FOCUS, baseline, seed) for baseline in baselines]
    for seed in seeds if every else ():
        listed += [
            _case(setup, world, agent, "", seed) for world in WORLDS for agent in SKILL_AGENTS
        ]
    return listed


def variant(baseline: str) -> str:
    """Return the variant for a baseline of the skills' penalty; the default is the start."""
    return f"{SAFETY}, {baseline}" if baseline else SAFETY


def _case(setup: Setup, world: str, agent: str, baseline: str, seed: int) -> Case:
    run = FlatSafety(world) if agent == FLAT else SkillSafety(world, agent, seed, baseline or None)
    return Case(setup.preset, setup.learner, world, agent, variant(baseline), seed, run)
