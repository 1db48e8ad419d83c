"""Verdicts on the paper's claims, aggregated from those on detailed claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Claim,
)
from skillfocus.experiments.paper_claims import PAPER_CLAIMS, PaperClaim
from skillfocus.experiments.reading_claims import flips
from skillfocus.experiments.reading_study import measured_readings
from skillfocus.experiments.sections import Section

PARTLY = "partly"
COUNTED = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED)
"""The verdicts on detailed claims of the paper."""


@dataclass(frozen=True)
class Tally:
    """How many detailed claims have which verdict: the cell of a claim and a setup.

    str(Tally.of([REPRODUCED, DIRECTION_ONLY, UNDECIDED]))  # "partly (2 of 3)"
    """

    counts: Mapping[str, int]
    """Numbers of claims by verdict, for all of `COUNTED`."""

    @classmethod
    def of(cls, verdicts: Iterable[str]) -> Tally:
        """Count verdicts."""
        counts = Counter(verdicts)
        return cls({verdict: counts[verdict] for verdict in COUNTED})

    @property
    def total(self) -> int:
        """Number of detailed claims."""
        return sum(self.counts.values())

    @property
    def shown(self) -> int:
        """Number of detailed claims that show at least the claimed direction."""
        return self.counts[REPRODUCED] + self.counts[DIRECTION_ONLY]

    @property
    def verdict(self) -> str:
        """The aggregated verdict.

        `reproduced` if all are; `direction only` if all show at least the direction; `undecided`
        if none is decided; `not reproduced` if none shows the direction; else `partly`.
        """
        if self.counts[REPRODUCED] == self.total:
            return REPRODUCED
        if self.shown == self.total:
            return DIRECTION_ONLY
        if self.counts[UNDECIDED] == self.total:
            return UNDECIDED
        return PARTLY if self.shown else NOT_REPRODUCED

    def __str__(self) -> str:
        """The verdict and how many claims show the direction: `partly (7 of 9)`."""
        return f"{self.verdict} ({self.shown} of {self.total})"


@dataclass(frozen=True)
class PaperVerdict:
    """A claim of the paper with its verdict for every setup that has results."""

    claim: PaperClaim
    tallies: Mapping[Setup, Tally]
    """By setup, in the order of the report; never empty."""
    flips: tuple[str, ...] = ()
    """Readings that flip it (`reading_claims.flips`)."""

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
            "counts": {name: dict(tally.counts) for name, tally in by_name.items()},
            "cause": self.claim.cause if self.differs else "", "flips": list(self.flips),
        }  # fmt: skip


def judge_paper_claims(sections: Sequence[Section]) -> list[PaperVerdict]:
    """Judge the paper's claims by the detailed ones, and say which readings flip them.

    Args:
        sections: The analyses, sorted by setup.

    Returns:
        The verdicts on the claims that have results, in the paper's order.
    """
    main = [section.frame for section in sections if section.setup == Setup("paper", "planning")]
    flipping = flips(measured_readings(main[0])) if main else {}
    verdicts = []
    for claim in PAPER_CLAIMS:
        by_setup: dict[Setup, list[Claim]] = {}
        for section in sections:
            mine = [c for c in section.analysis.claims if c.source == "paper"]
            mine = [c for c in mine if claim.matches(c.id)]
            if mine:
                by_setup.setdefault(section.setup, []).extend(mine)
        if by_setup:
            tallies = {s: Tally.of(c.verdict for c in claims) for s, claims in by_setup.items()}
            verdicts.append(PaperVerdict(claim, tallies, tuple(flipping.get(claim.name, ()))))
    return verdicts
