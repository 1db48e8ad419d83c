"""Access to the results of the comparison with the safety literature."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from skillfocus.experiments.by_seed import SeedValues, metric_rows, values_by_seed
from skillfocus.experiments.presets import WORLD_NAMES, WORLDS
from skillfocus.experiments.reduce import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_RETURN,
)
from skillfocus.experiments.safety_cases import FLAT, FOCUS, SAFETY, variant
from skillfocus.experiments.safety_runs import (
    BASELINES,
    MEASURES,
    NO_PENALTY,
    ON_SKILLS,
    SMALL_WORLDS,
    STRENGTHS,
)
from skillfocus.worlds import registry

ALL_WORLDS = (*SMALL_WORLDS, *WORLDS)
NAMES = {world: registry.WORLDS[world].__name__ for world in SMALL_WORLDS} | WORLD_NAMES
"""Printed names of the worlds."""
PENALTIES = tuple(f"{measure}-{baseline}" for measure in MEASURES for baseline in BASELINES)
BOTH = "safe_and_complete"
"""The metric of the comparison: the reward is paid and there is no side effect."""


class Choice(NamedTuple):
    """A penalty and the index of its strength in `STRENGTHS`."""

    penalty: str
    place: int

    def __str__(self) -> str:
        return f"{penalty_name(self.penalty)}, β = {STRENGTHS[self.place]:g}"


def penalty_name(penalty: str) -> str:
    """Return the printed name of a penalty: `deviation from the start`, `… , stepwise`."""
    measure, _, baseline = penalty.rpartition("-")
    name = measure.replace("-", " ")
    return f"{name} from the start" if baseline == "start" else f"{name}, {baseline}"


def flat_curve(frame: pl.DataFrame, world: str, penalty: str, metric: str) -> list[float]:
    """Return a metric of flat agents over the strengths of a penalty; empty without results.

    Where nothing moves by itself, inaction equals the start and was not run.
    """
    rows = metric_rows(frame, f"safety/{penalty}/{metric}", world, FLAT, SAFETY).sort("step")
    if rows.is_empty() and penalty.endswith("-inaction"):
        return flat_curve(frame, world, penalty.removesuffix("inaction") + "start", metric)
    return rows["value"].to_list()


def flat_value(frame: pl.DataFrame, world: str, agent: str, metric: str) -> float | None:
    """Return a metric of a flat agent without a penalty (`none` or `true-reward`)."""
    values = flat_curve(frame, world, agent, metric)
    return values[0] if values else None


def best_single_penalty(frame: pl.DataFrame) -> Choice | None:
    """Return the penalty and strength that make flat agents safe and complete most often.

    It is one setting for all worlds with results, the best in the mean, chosen with hindsight.
    """
    scores: dict[Choice, float] = {}
    worlds = [w for w in ALL_WORLDS if flat_value(frame, w, NO_PENALTY, BOTH) is not None]
    for penalty in PENALTIES if worlds else ():
        curves = [flat_curve(frame, world, penalty, BOTH) for world in worlds]
        if all(len(curve) == len(STRENGTHS) for curve in curves):
            for place in range(len(STRENGTHS)):
                mean = sum(curve[place] for curve in curves) / len(curves)
                scores[Choice(penalty, place)] = mean
    return max(scores, key=lambda choice: scores[choice]) if scores else None


def best_penalty_in(frame: pl.DataFrame, world: str) -> tuple[Choice, float] | None:
    """Return the best penalty and strength in a world, and how often they are safe and complete.

    Ties go to the first penalty, and to its lowest strength.
    """
    found = [
        (Choice(penalty, place), value)
        for penalty in PENALTIES
        for place, value in enumerate(flat_curve(frame, world, penalty, BOTH))
    ]
    return max(found, key=lambda each: round(each[1], 9)) if found else None


def skill_values(
    frame: pl.DataFrame,
    metric: str,
    world: str,
    agent: str,
    baseline: str = "",
    choice: Choice | None = None,
) -> SeedValues:
    """Return a metric of an agent over skills by seed, without a penalty or with one."""
    penalty, place = (NO_PENALTY, None) if choice is None else choice
    label = variant(baseline)
    return values_by_seed(frame, f"safety/{penalty}/{metric}", world, agent, label, place)


def safe_and_complete(
    frame: pl.DataFrame, world: str, agent: str, baseline: str = ""
) -> SeedValues:
    """Return how often an agent over skills is safe and complete, by seed.

    In the paper's worlds these are the agents of Figures 3 and 4, which have more seeds.
    """
    if world in WORLDS:
        metric = TASK_RETURN if world == "four-rooms" else PROXY_TRUE_RETURN
        if values := values_by_seed(frame, metric, world, agent):
            return values
    return skill_values(frame, BOTH, world, agent, baseline)


def completed(frame: pl.DataFrame, world: str, agent: str, baseline: str = "") -> SeedValues:
    """Return how often an agent over skills completes the proxy task, by seed.

    In the paper's worlds, as in `safe_and_complete`.
    """
    if world in WORLDS:
        metric = TASK_RETURN if world == "four-rooms" else PROXY_RETURN
        if values := values_by_seed(frame, metric, world, agent):
            return values
    return skill_values(frame, "completed", world, agent, baseline)


def best_on_top(frame: pl.DataFrame) -> Choice | None:
    """Return the penalty on top of focused skills that is best in the mean over all worlds."""
    scores: dict[Choice, float] = {}
    for penalty in ON_SKILLS:
        for place in range(len(STRENGTHS)):
            choice = Choice(penalty, place)
            means = [
                sum(values.values()) / len(values)
                for world in ALL_WORLDS
                if (values := skill_values(frame, BOTH, world, FOCUS, "", choice))
            ]
            if means:
                scores[choice] = sum(means) / len(means)
    return max(scores, key=lambda choice: scores[choice]) if scores else None
