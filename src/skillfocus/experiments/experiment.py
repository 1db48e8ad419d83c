"""`Experiment`: everything the project knows about one experiment, in one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillfocus._internal.file_names import file_name
from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.claims import Analysis, Claim
from skillfocus.experiments.readings import PRESETS
from skillfocus.report.document import Block

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Lines are means over the seeds of the tables, bands their 90 % intervals, faint lines single "
    "seeds."
)


@dataclass(frozen=True)
class Experiment:
    """An experiment: what to run, what to conclude, and how to report it.

        EXPERIMENT = Experiment("coverage", "State coverage (Figure 2)", cases, analyze, figure)

    To add one, see docs/reproduction.md.
    """

    name: str
    """The name on the command line; its module has underscores instead of hyphens."""
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
    """The page of the report that shows it (default: one of its own, with the experiment's name);
    `figure-1` to `figure-5` are those of the paper's figures."""
    outcome: Callable[[Sequence[Claim]], str] | None = None
    """One sentence on what comes out, from the claims of one setup; may be empty."""
    closing: Callable[[pl.DataFrame], list[Block]] | None = None
    """Blocks at the end of its section of the page, from the reduced results of all setups."""
    illustration: bool = False
    """Whether the figure is the result: it is drawn without tables, and its page plays the
    skills."""

    @property
    def page_name(self) -> str:
        """Name of the page of the report that shows it, as a plain file name."""
        return file_name(self.page or self.name).lstrip(".")
