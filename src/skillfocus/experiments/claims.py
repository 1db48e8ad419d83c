"""Claims and their verdicts.

A claim has a direction (focused skills explore more than plain ones), which our interval must
show, and a size (5.3 times as much), which our estimate must reach. It is *reproduced* if both
hold, *direction only* if just the direction does, *undecided* if the interval is too wide to tell
(as with a single seed), and *not reproduced* otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from skillfocus.metrics.statistics import Interval
from skillfocus.report.document import Table

REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED = (
    "reproduced", "direction only", "not reproduced", "undecided",
)  # fmt: skip
REACHED, MISSED = "reached", "missed"
"""Verdicts on aims, which are ours and not the paper's."""
TOLERANCE = 0.1
"""An estimate has the paper's size if it is worse by no more than this share of it."""
COMPARABLE_RATIO = 1.25
"""Two numbers are comparable if neither is more than this many times the other."""
EDGE = 0.05
"""A share whose interval comes this close to 0 or 1 counts as none or all."""


@dataclass(frozen=True)
class Claim:
    """A statement with the paper's number, ours, and a verdict."""

    id: str
    statement: str
    reference: float | None
    """The paper's number, or the aim; None if the claim has a direction alone."""
    ours: Interval
    verdict: str
    seeds: int
    """Number of seeds; for a comparison, those that both sides have."""
    evidence: str = ""
    """The numbers behind the direction, in words."""
    source: str = "paper"
    """Whose claim it is: the `paper`'s, an `aim` of our own, or a `control`'s."""


@dataclass(frozen=True)
class Analysis:
    """Claims and tables that an experiment derives from its results."""

    claims: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def judge(direction: bool, size: bool, seeds: int) -> str:
    """Return the verdict on a claim whose direction and size were checked."""
    if seeds < 2:
        return UNDECIDED
    return (REPRODUCED if size else DIRECTION_ONLY) if direction else NOT_REPRODUCED


def judge_difference(
    difference: Interval, sign: int, size: bool, seeds: int, paper: float | None = None
) -> str:
    """Return the verdict on a claim about the sign of a difference.

    It is undecided if the interval contains both zero and the paper's difference. Without a
    number from the paper, it is undecided if the interval contains zero but the estimate has the
    claimed sign.

    Args:
        difference: Our difference.
        sign: 1 if it is claimed to be positive, -1 if negative.
        size: Whether our estimate has the claimed size.
        seeds: Number of pairs.
        paper: The paper's difference, if known.
    """
    low, high = sorted((sign * difference.low, sign * difference.high))
    compatible = sign * difference.estimate > 0 if paper is None else low <= sign * paper <= high
    if low <= 0 <= high and compatible:
        return UNDECIDED
    return judge(low > 0, size, seeds)


def judge_majority(share: Interval, succeeds: bool) -> str:
    """Return the verdict on a claim that seeds succeed, or that they fail.

    The direction needs an interval on one side of a half; the size one that reaches all of the
    seeds (or none), within `EDGE`.

    Args:
        share: The share of seeds that succeed.
        succeeds: Whether they are claimed to succeed.
    """
    if share.low <= 0.5 <= share.high:
        return UNDECIDED
    if (share.low > 0.5) != succeeds:
        return NOT_REPRODUCED
    reaches = share.high >= 1 - EDGE if succeeds else share.low <= EDGE
    return REPRODUCED if reaches else DIRECTION_ONLY


def at_least(ours: float, paper: float, reading_error: float = 0.0) -> bool:
    """Return whether an estimate reaches the paper's number, within `TOLERANCE`.

    Args:
        ours: Our estimate.
        paper: The paper's number.
        reading_error: Error of reading the paper's number off a figure.
    """
    return ours >= paper - TOLERANCE * abs(paper) - reading_error


def at_most(ours: float, paper: float, reading_error: float = 0.0) -> bool:
    """Return whether an estimate stays below the paper's number, within `TOLERANCE`."""
    return ours <= paper + TOLERANCE * abs(paper) + reading_error


def comparable(ratio: Interval) -> bool:
    """Return whether the interval of a ratio lies within `COMPARABLE_RATIO` of 1 either way."""
    return ratio.low >= 1 / COMPARABLE_RATIO and ratio.high <= COMPARABLE_RATIO


def aim_claim(
    name: str, statement: str, aim: float, ours: Interval, holds: bool, seeds: int
) -> Claim:
    """Return an aim of our own, which the mean over seeds reaches or misses."""
    verdict = UNDECIDED if seeds < 2 else REACHED if holds else MISSED
    return Claim(name, statement, aim, ours, verdict, seeds, source="aim")
