"""Figure 1: what skills do, drawn in every world from the paper's start cells."""

from __future__ import annotations

from collections.abc import Sequence

from skillfocus.experiments.cases import Case, Setup, main_cases
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.presets import OBJECTIVES, WORLDS


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """One seed is enough to look at."""
    return main_cases(setup, WORLDS, OBJECTIVES, seeds[:1])


def analyze(frame: object) -> Analysis:
    """Nothing to count: the figure is the result."""
    del frame
    return Analysis()
