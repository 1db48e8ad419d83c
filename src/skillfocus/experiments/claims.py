"""What an analysis finds: claims with a verdict, and tables. Everything comes from results alone.

A claim has a direction (focused skills explore more than plain ones), which our interval must
show, and a size (5.3 times), which our estimate must have. It is *reproduced* if both hold,
*direction only* if the direction does, *undecided* if the interval is too wide to tell (as it is
with one seed), else *not reproduced*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from skillfocus.experiments.presets import ON_TWO, PRIMITIVES
from skillfocus.metrics.statistics import (
    Interval,
    bootstrap_interval,
    interquartile_mean,
    mean_interval,
    success_interval,
)

REPRODUCED, DIRECTION, NOT, UNDECIDED = (
    "reproduced", "direction only", "not reproduced", "undecided",
)  # fmt: skip
REACHED, MISSED = "reached", "missed"
"""Verdicts of aims, which are our own and not the paper's."""
BOOTSTRAP_SEED = 20250
TOLERANCE = 0.1
"""A size is the paper's if it is no more than this share of it worse."""
COMPARABLE = 1.25
"""Two numbers are comparable if neither is more than so many times the other."""
EDGE = 0.05
"""An interval of a share that comes as near as this to 0 or 1 reaches it."""
ENOUGH = 10
"""With fewer seeds a bootstrap promises too much."""


@dataclass(frozen=True)
class Claim:
    id: str
    statement: str
    reference: float | None
    """The paper's number, or what is aimed at; None where there is only a direction."""
    ours: Interval
    verdict: str
    seeds: int
    """Of a comparison: the seeds that both sides have."""
    compared: str = ""
    """What the direction rests on, in words."""
    source: str = "paper"
    """Whose claim it is: the `paper`'s, an `aim` of our own, or a `control`'s."""


@dataclass(frozen=True)
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class Analysis:
    findings: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def verdict(direction: bool, size: bool, seeds: int) -> str:
    if seeds < 2:
        return UNDECIDED
    return (REPRODUCED if size else DIRECTION) if direction else NOT


def judged(
    difference: Interval, sign: int, size: bool, seeds: int, paper: float | None = None
) -> str:
    """The verdict on a difference that is to be positive (sign 1) or negative (-1). An interval
    that holds both no difference and the paper's (where that is not known: that leans to the right
    side) is too wide to tell."""
    low, high = sorted((sign * difference.low, sign * difference.high))
    wide = sign * difference.estimate > 0 if paper is None else low <= sign * paper <= high
    if low <= 0 <= high and wide:
        return UNDECIDED
    return verdict(low > 0, size, seeds)


def at_least(ours: float, paper: float, reading: float = 0.0) -> bool:
    """Whether an estimate has the paper's size or more: give or take a tenth, and the error of
    reading the paper's number off a figure."""
    return ours >= paper - TOLERANCE * abs(paper) - reading


def at_most(ours: float, paper: float, reading: float = 0.0) -> bool:
    return ours <= paper + TOLERANCE * abs(paper) + reading


def comparable(times: Interval) -> bool:
    """Whether a ratio's interval lies near 1, whichever way it is turned."""
    return times.low >= 1 / COMPARABLE and times.high <= COMPARABLE


def majority(share: Interval, succeeds: bool) -> str:
    """The verdict on a claim that seeds succeed, or that they fail. Its direction needs an interval
    on one side of a half, its size one that reaches all of them (or none)."""
    if share.low <= 0.5 <= share.high:
        return UNDECIDED
    if (share.low > 0.5) != succeeds:
        return NOT
    reaches = share.high >= 1 - EDGE if succeeds else share.low <= EDGE
    return REPRODUCED if reaches else DIRECTION


def aim(name: str, statement: str, aimed: float, ours: Interval, holds: bool, seeds: int) -> Claim:
    """An aim of our own, about the mean over seeds."""
    result = UNDECIDED if seeds < 2 else REACHED if holds else MISSED
    return Claim(name, statement, aimed, ours, result, seeds, source="aim")


# -------------------------------------------------------------------- values by seed

BySeed = dict[int, float]


def chosen(
    frame: pl.DataFrame, metric: str, world: str, agent: str, variant: str = ""
) -> pl.DataFrame:
    """The rows of one metric of an agent."""
    return frame.filter(
        (pl.col("metric") == metric) & (pl.col("world") == world) & (pl.col("agent") == agent)
        & (pl.col("variant") == variant) & pl.col("value").is_not_null()
    )  # fmt: skip


def values(
    frame: pl.DataFrame,
    metric: str,
    world: str,
    agent: str,
    variant: str = "",
    step: int | None = None,
) -> BySeed:
    """A metric of an agent, by seed: the value at a step, or at the last one there is."""
    rows = chosen(frame, metric, world, agent, variant)
    if step is not None:
        rows = rows.filter(pl.col("step") == step)
    last = rows.sort("step", nulls_last=False, maintain_order=True).group_by("seed").last()
    return dict(last.sort("seed").select("seed", "value").iter_rows())


def curves(
    frame: pl.DataFrame, metric: str, world: str, agent: str
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """A metric over its steps: the seeds, the steps, and the values [seed, step]."""
    rows = chosen(frame, metric, world, agent).sort("seed", "step")
    seeds, steps = rows["seed"].unique().sort(), rows["step"].unique().sort()
    table = rows["value"].to_numpy().reshape(len(seeds), len(steps))
    return seeds.to_list(), steps.to_numpy(), table


def worst_skill(frame: pl.DataFrame, world: str, agent: str, variant: str = "") -> BySeed:
    """The side effects of an agent's worst skill, whatever it is for."""
    worst: BySeed = {}
    for kind in ("goal", "roam", "any"):
        found = values(frame, f"{kind}/worst/side_effects", world, agent, variant)
        worst |= {seed: max(value, worst.get(seed, value)) for seed, value in found.items()}
    return worst


def mean_of(found: BySeed, low: float = -np.inf, high: float = np.inf) -> Interval:
    """The mean and its interval, which ends where values can no longer be."""
    mean = mean_interval(list(found.values()))
    if not np.isfinite(mean.low):
        return mean
    return Interval(mean.estimate, max(mean.low, low), min(mean.high, high))


def middle_of(found: BySeed) -> Interval:
    """The interquartile mean, which no single odd seed can move."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    middle = bootstrap_interval(interquartile_mean, list(found.values()), rng=rng)
    return middle if len(found) >= ENOUGH else Interval(middle.estimate, -np.inf, np.inf)


def paired(first: BySeed, second: BySeed) -> tuple[np.ndarray, np.ndarray]:
    """The values of the seeds that both have."""
    seeds = [seed for seed in first if seed in second]
    return np.array([first[s] for s in seeds]), np.array([second[s] for s in seeds])


def n_pairs(first: BySeed, second: BySeed) -> int:
    return len(paired(first, second)[0])


def difference(first: BySeed, second: BySeed) -> Interval | None:
    """The mean of first - second over the seeds that both have; None if there are none."""
    a, b = paired(first, second)
    return mean_interval(a - b) if len(a) else None


def log_ratio(first: BySeed, second: BySeed) -> Interval | None:
    """The mean of log(first / second) over the seeds that both have; None if there are none, or if
    one is not positive."""
    a, b = paired(first, second)
    if not len(a) or min(a.min(), b.min()) <= 0:
        return None
    return mean_interval(np.log(a / b))


def ratio(first: BySeed, second: BySeed) -> Interval | None:
    """The geometric mean of first / second, with the interval of its logarithm."""
    logs = log_ratio(first, second)
    return None if logs is None else Interval(*(float(np.exp(x)) for x in logs))


def successes(found: BySeed, more_than: float = 0.5) -> tuple[int, int, Interval]:
    """In how many seeds a value is more than that."""
    count = sum(value > more_than for value in found.values())
    return count, len(found), success_interval(count, len(found))


# -------------------------------------------------------------------- in words


def number(value: float, digits: int = 2) -> str:
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}f}".replace("-", "−")


def shown(interval: Interval | None, digits: int = 2) -> str:
    """`1.85 (1.80 to 1.90)`, or the estimate alone where one seed has no interval."""
    if interval is None:
        return "–"
    if not np.isfinite(interval.low):
        return number(interval.estimate, digits)
    low, high = number(interval.low, digits), number(interval.high, digits)
    return f"{number(interval.estimate, digits)} ({low} to {high})"


def mean_shown(found: BySeed, digits: int = 2, low: float = -np.inf, high: float = np.inf) -> str:
    return shown(mean_of(found, low, high), digits) if found else "–"


def count_shown(found: BySeed, more_than: float = 0.5) -> str:
    """`50 of 50 (0.94 to 1.00)`"""
    if not found:
        return "–"
    count, n, interval = successes(found, more_than)
    return f"{count} of {n} ({number(interval.low)} to {number(interval.high)})"


def agent_name(agent: str) -> str:
    """`focused-vic` -> `focused VIC`"""
    words = agent.removesuffix(ON_TWO).split("-")
    names = {"vic": "VIC", "diayn": "DIAYN", "lsd": "LSD", "dusdi": "DUSDi"}
    name = " ".join(names.get(word, word) for word in words)
    name = "primitives only" if agent == PRIMITIVES else name
    return f"{name}, two targets each" if agent.endswith(ON_TWO) else name


def n_seeds(counts: Iterable[int]) -> str:
    """`5`, or `5 to 50` where not all have the same."""
    ordered = sorted(counts)
    if not ordered or ordered[0] == ordered[-1]:
        return str(ordered[0] if ordered else 0)
    return f"{ordered[0]} to {ordered[-1]}"
