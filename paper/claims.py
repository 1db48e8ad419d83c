"""Experiments, their claims, and the verdicts on these.

A claim has a direction (focused skills explore more than plain ones), which our interval must
show, and a size (5.3 times as much), which our estimate must reach. It is *reproduced* if both
hold, *direction only* if just the direction does, *undecided* if the interval is too wide to tell
(as with a single seed), and *not reproduced* otherwise. `claims.toml` has the paper's claims, each
of which sums up detailed ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from paper import formatting as fmt
from paper.agents import Case, Setup
from paper.results import SeedValues, count_successes, differences, mean_over_seeds
from paper.settings import PRESETS, WORLD_NAMES, WORLDS, load_data
from skillfocus.metrics.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DATA = load_data("claims.toml")
REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED = (
    "reproduced", "direction only", "not reproduced", "undecided",
)  # fmt: skip
REACHED, MISSED = "reached", "missed"
"""Verdicts on aims, which are ours and not the paper's."""
TOLERANCE = 0.1
"""An estimate has the paper's size if it is worse by no more than this share of it."""
COMPARABLE_RATIO = 1.25
"""Two numbers are comparable if neither is more than this many times the other."""
ROUNDING = 1e-6
"""By how much an aim may be missed."""
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
    tables: list[fmt.Table] = field(default_factory=list)

    def __add__(self, other: Analysis) -> Analysis:
        """Return both, without tables that have no rows."""
        tables = [table for table in (*self.tables, *other.tables) if table.rows]
        return Analysis(self.claims + other.claims, tables)


CAPTION = (
    "Lines are means over the seeds of the tables, bands their 90 % intervals, faint lines single "
    "seeds."
)


@dataclass(frozen=True)
class Picture:
    """A figure with its caption; the name is that of its file, without suffix."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Experiment:
    """An experiment.

        EXPERIMENT = Experiment("coverage", "State coverage (Figure 2)", cases, analyze, figure)

    To add one, write a file like `figure_2.py` and name it in `EXPERIMENTS` of `__main__.py`.
    """

    name: str
    """The name on the command line."""
    title: str
    """The heading of its section on its page of the report."""
    cases: Callable[[Setup, Sequence[int]], list[Case]]
    """The cases to run with a setup and some seeds."""
    analyze: Callable[[pl.DataFrame], Analysis]
    """Claims and tables from the reduced results of one setup."""
    figure: Callable[[pl.DataFrame], Figure] | None = None
    """The figure from the reduced results of one setup."""
    figure_name: str = ""
    """Name of the figure's file, without suffix (default: the experiment's name)."""
    caption: str = CAPTION
    """How to read the figure."""
    presets: Sequence[str] = tuple(PRESETS)
    """The presets to run it with."""
    seed_share: float = 1.0
    """The share of the seeds to run it with."""
    least_seeds: int = 2
    """How many seeds to run it with at least."""
    page: str = ""
    """The page of the report that shows it (default: its own, with the experiment's name)."""
    outcome: Callable[[Sequence[Claim]], str] | None = None
    """One sentence on what comes out, from the claims of one setup; may be empty."""
    closing: Callable[[pl.DataFrame], list[str | Picture]] | None = None
    """What stands at the end of its section, from the reduced results of all setups."""
    illustration: bool = False
    """Whether the figure is the result: it is drawn without tables, and players follow it."""


# -------------------------------------------------------------------- verdicts


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


def reaches(ours: float, paper: float, sign: int = 1, reading_error: float = 0.0) -> bool:
    """Return whether an estimate is as large as the paper's number, within `TOLERANCE`.

    Args:
        ours: Our estimate.
        paper: The paper's number.
        sign: 1 if more is better; with -1, the estimate must be as small.
        reading_error: Error of reading the paper's number off a figure.
    """
    return sign * (ours - paper) >= -TOLERANCE * abs(paper) - reading_error


def comparable(ratio: Interval) -> bool:
    """Return whether the interval of a ratio lies within `COMPARABLE_RATIO` of 1 either way."""
    return ratio.low >= 1 / COMPARABLE_RATIO and ratio.high <= COMPARABLE_RATIO


# -------------------------------------------------------------------- making claims


def claim(
    detail: str,
    ours: Interval,
    verdict: str,
    seeds: int,
    *,
    reference: float | None = None,
    evidence: str = "",
    source: str = "paper",
    **names: Any,
) -> Claim:
    """Return a detailed claim, with id and statement from its templates in `claims.toml`.

    Args:
        detail: The name of the templates.
        ours: See `Claim`, as for the other fields.
        verdict: The verdict.
        seeds: Number of seeds.
        reference: The paper's number, or the aim.
        evidence: The numbers behind the direction.
        source: Whose claim it is.
        **names: What stands in the templates.
    """
    template, printed = _DATA["detail"][detail], dict(names)
    for key in names.keys() & {"world", "agent", "other"}:
        name = names[key]
        printed[key] = WORLD_NAMES.get(name, name) if key == "world" else fmt.agent_name(name)
    statement = template["statement"].format(**printed)
    identity = template["id"].format(**names)
    return Claim(identity, statement, reference, ours, verdict, seeds, evidence, source)


def difference_claim(
    detail: str,
    first: SeedValues,
    second: SeedValues,
    sign: int,
    *,
    ours: tuple[float, float] | None = None,
    size: Callable[[float], bool] = lambda _: True,
    paper: float | None = None,
    evidence: str = "{}",
    digits: int = 2,
    **names: Any,
) -> list[Claim]:
    """Return the claim that first - second has a sign over common seeds; none without any.

    Args:
        detail: See `claim`, as for further arguments.
        first: Values by seed.
        second: Values to compare with.
        sign: 1 if the first are claimed to be larger, -1 if smaller.
        ours: The range of possible values if our number is the mean of `first`; by default it is
            the difference.
        size: Whether our number has the claimed size.
        paper: The paper's difference, if known.
        evidence: The numbers behind the direction; `{}` stands for the difference.
        digits: Digits of the difference in the evidence.
        **names: See `claim`.
    """
    by_seed = differences(first, second)
    if not by_seed:
        return []
    difference = mean_over_seeds(by_seed)
    number = difference if ours is None else mean_over_seeds(first, *ours)
    verdict = judge_difference(difference, sign, size(number.estimate), len(by_seed), paper)
    words = evidence.format(fmt.interval(difference, digits))
    return [claim(detail, number, verdict, len(by_seed), evidence=words, **names)]


def majority_claim(detail: str, returns: SeedValues, learned: bool, **names: Any) -> list[Claim]:
    """Return the claim that most seeds learn a task, or that they do not; none without seeds."""
    if not returns:
        return []
    _, n, share = count_successes(returns)
    verdict = judge_majority(share, learned)
    evidence = f"learned in {fmt.count(returns)} seeds"
    return [claim(detail, share, verdict, n, reference=float(learned), evidence=evidence, **names)]


def aim_claim(
    detail: str,
    aim: float,
    values: SeedValues,
    sign: int = 1,
    *,
    allowed: bool = True,
    possible: tuple[float, float] = (-np.inf, np.inf),
    **names: Any,
) -> list[Claim]:
    """Return the claim that a mean over seeds reaches an aim of our own; none without seeds.

    Args:
        detail: See `claim`.
        aim: The number to reach.
        values: Values by seed.
        sign: 1 if the mean should be at least the aim, -1 if at most.
        allowed: Whether everything else holds that the aim asks for.
        possible: The range of possible values.
        **names: See `claim`.
    """
    if not values:
        return []
    ours = mean_over_seeds(values, *possible)
    reached = allowed and sign * (ours.estimate - aim) >= -ROUNDING
    verdict = UNDECIDED if len(values) < 2 else REACHED if reached else MISSED
    return [claim(detail, ours, verdict, len(values), reference=aim, source="aim", **names)]


def fewer_claim(detail: str, first: SeedValues, second: SeedValues, **names: Any) -> list[Claim]:
    """Return the aim that the interval of first - second is below 0; none without common seeds."""
    less = differences(first, second)
    below = bool(less) and mean_over_seeds(less).high < 0
    return aim_claim(detail, 0.0, less, -1, allowed=below, **names)


# -------------------------------------------------------------------- outcomes, in one sentence


def default_outcome(claims: Sequence[Claim]) -> str:
    """Return how many claims show at least the claimed direction."""
    if not claims:
        return ""
    return f"{count_shown(claims)} of {len(claims)} claims show at least the claimed direction."


def aims_outcome(claims: Sequence[Claim]) -> str:
    """Return how many of our own aims are reached, and how many have too few seeds to tell."""
    if not claims:
        return ""
    counts = Counter(claim.verdict for claim in claims)
    undecided = f"; undecided with one seed: {counts[UNDECIDED]}" if counts[UNDECIDED] else ""
    return f"{counts[REACHED]} of {len(claims)} aims of our own are reached{undecided}."


def matching(claims: Sequence[Claim], pattern: str) -> list[Claim]:
    """Return the claims whose whole ids match a regular expression."""
    return [claim for claim in claims if re.fullmatch(pattern, claim.id)]


def count_shown(claims: Sequence[Claim]) -> int:
    """Return how many claims show at least the claimed direction."""
    return sum(claim.verdict in (REPRODUCED, DIRECTION_ONLY) for claim in claims)


def objectives_of(claims: Sequence[Claim]) -> str:
    """Return the objectives that the claims' ids end with: `VIC and LSD`."""
    return fmt.join_words([fmt.agent_name(claim.id.rpartition("-")[2]) for claim in claims])


def numbers_by_world(
    claims: Sequence[Claim], pattern: str, digits: int = 2, unit: str = ""
) -> list[str]:
    """Return the range of our numbers in each world, with the paper's; the unit stands once.

    Args:
        claims: The claims.
        pattern: Regular expression of their ids, with `{world}` for the world.
        digits: Digits of numbers.
        unit: Unit, with a space before it.
    """
    parts = []
    for world in WORLDS:
        if mine := matching(claims, pattern.format(world=world)):
            ours = fmt.extent([claim.ours.estimate for claim in mine], digits)
            paper = fmt.extent([c.reference for c in mine if c.reference is not None], digits)
            unit_once = "" if parts else unit
            parts.append(f"{ours}{unit_once} in {WORLD_NAMES[world]} (the paper: {paper})")
    return parts


# -------------------------------------------------------------------- the paper's claims


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper, from `claims.toml`."""

    name: str
    figure: int
    """The number of the figure that supports it."""
    statement: str
    """The claim as a sentence without its full stop."""
    patterns: tuple[str, ...]
    """Regular expressions of whole ids of the detailed claims that bear on it."""
    cause: str
    """Why our results differ, where they do."""

    def matches(self, claim_id: str) -> bool:
        """Return whether a detailed claim bears on this one."""
        return any(re.fullmatch(pattern, claim_id) for pattern in self.patterns)


PAPER_CLAIMS = tuple(
    PaperClaim(**{**claim, "patterns": tuple(claim["patterns"])}) for claim in _DATA["claim"]
)
"""In the order of the paper's figures."""

PARTLY = "partly"
COUNTED = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED)
"""The verdicts on detailed claims of the paper."""


class Tally(Counter[str]):
    """How many detailed claims have which verdict: the cell of a claim and a setup.

    str(Tally([REPRODUCED, DIRECTION_ONLY, UNDECIDED]))  # "partly (2 of 3)"
    """

    @property
    def shown(self) -> int:
        """Number of detailed claims that show at least the claimed direction."""
        return self[REPRODUCED] + self[DIRECTION_ONLY]

    @property
    def verdict(self) -> str:
        """The aggregated verdict.

        `reproduced` if all are; `direction only` if all show at least the direction; `undecided`
        if none is decided; `not reproduced` if none shows the direction; else `partly`.
        """
        for verdict, count in (
            (REPRODUCED, self[REPRODUCED]), (DIRECTION_ONLY, self.shown),
            (UNDECIDED, self[UNDECIDED]),
        ):  # fmt: skip
            if count == self.total():
                return verdict
        return PARTLY if self.shown else NOT_REPRODUCED

    def __str__(self) -> str:
        """The verdict and how many claims show the direction: `partly (7 of 9)`."""
        return f"{self.verdict} ({self.shown} of {self.total()})"


@dataclass(frozen=True)
class PaperVerdict:
    """A claim of the paper with its verdict for every setup that has results."""

    claim: PaperClaim
    tallies: Mapping[Setup, Tally]
    """By setup, in the order of the report; never empty."""
    flips: tuple[str, ...] = ()
    """Readings that flip it (`readings.flips`)."""

    @cached_property
    def differs(self) -> bool:
        """Whether the claim is not reproduced in full with some setup."""
        return any(tally.verdict != REPRODUCED for tally in self.tallies.values())

    @property
    def explanation(self) -> str:
        """The cause and what flips the verdict; empty if all setups reproduce the claim."""
        if not self.differs:
            return ""
        if not self.flips:
            return self.claim.cause
        return f"{self.claim.cause} Statements that hold: {', '.join(self.flips)}."

    def record(self) -> dict[str, object]:
        """Return the verdict as JSON can hold it; setups are named `preset/learner`."""
        by_name = {f"{s.preset}/{s.learner}": tally for s, tally in self.tallies.items()}
        return {
            "name": self.claim.name, "figure": self.claim.figure,
            "statement": self.claim.statement,
            "verdicts": {name: tally.verdict for name, tally in by_name.items()},
            "counts": {
                name: {each: tally[each] for each in COUNTED} for name, tally in by_name.items()
            },
            "cause": self.claim.cause if self.differs else "", "flips": list(self.flips),
        }  # fmt: skip


def judge_paper_claims(
    by_setup: Mapping[Setup, Sequence[Claim]], flips: Mapping[str, Sequence[str]]
) -> list[PaperVerdict]:
    """Return the verdicts on the paper's claims that have results, in the paper's order.

    Args:
        by_setup: The detailed claims, in the order of the setups.
        flips: Readings that flip each claim of the paper (`readings.flips`).
    """
    verdicts = []
    for claim in PAPER_CLAIMS:
        tallies = {}
        for setup, claims in by_setup.items():
            mine = [c.verdict for c in claims if c.source == "paper" and claim.matches(c.id)]
            if mine:
                tallies[setup] = Tally(mine)
        if tallies:
            verdicts.append(PaperVerdict(claim, tallies, tuple(flips.get(claim.name, ()))))
    return verdicts
