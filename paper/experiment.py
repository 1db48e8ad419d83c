"""`Experiment`: what to run, what to conclude, and how to report it, in one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from paper.agents import Case, Setup
from paper.claims import Analysis, Claim
from paper.settings import PRESETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
