"""Controls: what the benefit of focus must not come from, and how much there is to be had.

- random skills: policies drawn at random, with the paper's assignment;
- permuted targets: the penalty spares the wrong variables, so the benefit must vanish;
- oracle skills: planned for what they are to do, nothing discovered;
- no strength: lambda = 0 must equal a penalty that is 0 by itself, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from skillfocus.core.progress import Progress
from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import (
    Analysis,
    BySeed,
    Claim,
    Table,
    count_shown,
    difference,
    judged,
    mean_shown,
    n_pairs,
    successes,
    values,
    verdict,
)
from skillfocus.experiments.downstream import NAMES, STEP_LIMITS, STEPS, SUCCESS
from skillfocus.experiments.presets import FOCUSED, WORLDS
from skillfocus.learners.discovery import discover
from skillfocus.learners.tabular.planning import Planning
from skillfocus.learners.tabular.random_policy import RandomPolicy
from skillfocus.objectives.penalties import Penalty
from skillfocus.objectives.registry import make_objective
from skillfocus.runs.discovery_run import Discovery, cached_mdp, cached_world
from skillfocus.runs.run import Result, Run

FOCUS = "focused-vic"
AGENTS = {
    "focused VIC": (FOCUS, ""),
    "permuted targets": (f"permuted-{FOCUS}", ""),
    "random skills": (FOCUS, "learner=chance"),
    "oracle skills": ("focused-oracle", ""),
}
LITTLE = 0.1
"""What is left of the control over targets where it must vanish."""


def _nothing(space: object, start: np.ndarray, end: np.ndarray, watched: object) -> np.ndarray:
    del space, end, watched
    return np.zeros(len(start))


@dataclass(frozen=True)
class NoStrength(Run):
    """Whether skills learned with strength 0 and with a penalty of nothing are the same."""

    world: str
    objective: str
    seed: int
    rounds: int = 10

    version = Discovery.version

    def execute(self, report: Progress) -> Result:
        without = make_objective(self.objective, strength=0.0)
        policies = []
        for objective in (without, replace(without, penalty=Penalty("nothing", 1.0, _nothing))):
            report(len(policies) / 2, "learning without a penalty")
            skills = discover(
                cached_world(self.world, "{}"), objective, seed=self.seed,
                learner=Planning(rounds=self.rounds), mdp=cached_mdp(self.world, "{}"),
            )  # fmt: skip
            policies.append(skills.tabular.flat_actions)
        return Result([("identical", None, float(np.array_equal(*policies)))])


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    made = []
    for seed in seeds:
        for world in WORLDS:
            for agent, variant in AGENTS.values():
                case = setup.case(world, agent, seed, variant)
                if variant and isinstance(case.run, Discovery):
                    case = replace(case, run=replace(case.run, learner=RandomPolicy()))
                made.append(case)
    if setup.learner != "planning":
        return made
    return made + [
        Case(setup.preset, setup.learner, world, agent, "no strength", seeds[0],
             NoStrength(world, agent, seeds[0]))
        for world in WORLDS
        for agent in FOCUSED
    ]  # fmt: skip


def analyze(frame: pl.DataFrame) -> Analysis:
    found, rows = [], []
    for world in WORLDS:
        for name, (agent, variant) in AGENTS.items():
            auc, control, effects, steps, done = (
                values(frame, metric, world, agent, variant)
                for metric in ("auc", "goal/control", "mean_side_effects", STEPS, SUCCESS)
            )
            if steps:
                rows.append(
                    [
                        NAMES[world], name, mean_shown(control, 3, 0, 1), mean_shown(effects, 3),
                        mean_shown(auc), mean_shown(steps, 1, 0, STEP_LIMITS[world]),
                        count_shown(done), str(len(steps)),
                    ]
                )  # fmt: skip
        found += _vanishes(frame, world)
    columns = [
        "world", "skills", "a goal's best skill changes it", "side effects per skill",
        "area of coverage", "steps", "seeds that learn the task", "seeds",
    ]  # fmt: skip
    tables = [Table("Controls of focused VIC", columns, rows, _NOTE)] if rows else []
    return Analysis(found + _identical(frame), tables)


_NOTE = (
    "An oracle's position skills go to a region that was dealt to them, wherever they start, so "
    "that chains of them come to fewer cells than those of skills that were discovered."
)


def _vanishes(frame: pl.DataFrame, world: str) -> list[Claim]:
    """With permuted targets, control of the goals is gone, and with it what it is good for."""

    def both(metric: str) -> tuple[BySeed, BySeed]:
        permuted, focused = (
            values(frame, metric, world, AGENTS[name][0])
            for name in ("permuted targets", "focused VIC")
        )
        return permuted, focused

    found = []
    permuted, focused = both("goal/control")
    if (less := difference(permuted, focused)) is not None:
        n, gone = n_pairs(permuted, focused), max(permuted.values()) <= LITTLE
        found.append(
            Claim(
                f"control-permuted-{world}",
                f"{NAMES[world]}: with permuted targets, no skill changes its goal: how often a "
                f"goal's best skill does, less than with focused VIC",
                None, less, judged(less, -1, gone, n), n,
                f"{mean_shown(permuted, 3)} and {mean_shown(focused, 3)}", source="control",
            )
        )  # fmt: skip
    permuted, focused = both(STEPS)
    if (more := difference(permuted, focused)) is not None:
        n = n_pairs(permuted, focused)
        found.append(
            Claim(
                f"control-benefit-{world}",
                f"{NAMES[world]}: with permuted targets the task takes more steps than with "
                f"focused VIC: the difference",
                None, more, judged(more, 1, True, n), n,
                f"{mean_shown(permuted, 1)} and {mean_shown(focused, 1)} steps", source="control",
            )
        )  # fmt: skip
    return found


def _identical(frame: pl.DataFrame) -> list[Claim]:
    same = frame.filter(pl.col("metric") == "identical")
    if same.is_empty():
        return []
    found = dict(enumerate(same["value"].to_list()))
    _, n, share = successes(found)
    holds = share.estimate == 1
    return [
        Claim(
            "control-zero",
            "Strength 0 is no penalty, bit for bit: the share of worlds and objectives in which "
            "the policies are the same",
            None, share, verdict(holds, holds, n), n, f"{n} pairs of policies", source="control",
        )
    ]  # fmt: skip
