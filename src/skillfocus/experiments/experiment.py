"""`Experiment`: everything the project knows about one experiment, in one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.readings import PRESETS
from skillfocus.report.document import Block

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Lines are means over the seeds of the tables, bands their 90 % intervals, faint lines single "
    "seeds."
)
UNEXPLAINED = "The cause was not found."


@dataclass(frozen=True)
class ClaimGroup:
    """A row of the report's table of verdicts, which counts the claims whose ids match."""

    pattern: str
    """A regular expression for the beginning of a claim's id."""
    title: str


@dataclass(frozen=True)
class Explanation:
    """Why a claim falls short, as far as trajectories, values and counts show.

    Texts hold no numbers, which the report's tables have, and say if a cause was not isolated.
    """

    pattern: str
    """A regular expression for the whole id of a claim."""
    text: str
    only: str | None = None
    """The learner or the preset that it applies to; None for all."""


@dataclass(frozen=True)
class Experiment:
    """An experiment: what to run, what to conclude, and how to report it.

        EXPERIMENT = Experiment("coverage", "State coverage (Figure 2)", cases, analyze, figure)

    To add one, see docs/reproduction.md.
    """

    name: str
    """The name on the command line; its module has underscores instead of hyphens."""
    title: str
    """The heading of its section in the report."""
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
    claim_groups: Sequence[ClaimGroup] = ()
    """Rows of the table of verdicts; other claims count in a row with the experiment's title."""
    explanations: Sequence[Explanation] = ()
    """Why claims fall short; the first that matches applies."""
    closing: Callable[[pl.DataFrame], list[Block]] | None = None
    """Blocks at the end of its section, from the reduced results of all setups."""
    illustration: bool = False
    """Whether the figure is the result: it is drawn without tables, and the report plays the
    skills beside it."""

    @property
    def group_titles(self) -> list[str]:
        """The rows that this experiment may add to the table of verdicts."""
        return [*(group.title for group in self.claim_groups), self.title]

    def group_title(self, claim: str) -> str:
        """Return the row of the table of verdicts in which a claim counts, by its id."""
        titles = (group.title for group in self.claim_groups if re.match(group.pattern, claim))
        return next(titles, self.title)

    def explain(self, claim: str, setup: Setup) -> str:
        """Return why a claim falls short with a setup, or `UNEXPLAINED`."""
        for explanation in self.explanations:
            applies = explanation.only in (None, setup.learner, setup.preset)
            if applies and re.fullmatch(explanation.pattern, claim):
                return explanation.text
        return UNEXPLAINED
