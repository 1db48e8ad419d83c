"""All numbers that can be read from the paper's Figures 2 to 4."""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.experiments import coverage, downstream, underspecified
from skillfocus.experiments.presets import STEP_LIMITS, WORLDS
from skillfocus.experiments.reduce import PROXY_RETURN, PROXY_TRUE_RETURN, TASK_STEPS

LARGEST_AREA = 2.66
"""Area that no set of 16 skills can exceed in FourRooms."""


@dataclass(frozen=True)
class PaperNumber:
    """A number that can be read from one of the paper's figures."""

    figure: int
    world: str
    agent: str
    metric: str
    value: float
    scale: float


def paper_numbers() -> list[PaperNumber]:
    """Return all numbers of Figures 2 to 4."""
    areas = [
        PaperNumber(2, "four-rooms", agent, "auc", value, LARGEST_AREA)
        for agent, value in coverage.PAPER.items()
    ]
    steps = [
        PaperNumber(3, world, agent, TASK_STEPS, value, STEP_LIMITS[world])
        for world in WORLDS
        for agent, value in downstream.PAPER[world].items()
    ]
    returns = [
        PaperNumber(4, world, agent, metric, value, 1.0)
        for world, agents in underspecified.PAPER.items()
        for agent, pair in agents.items()
        for metric, value in zip((PROXY_RETURN, PROXY_TRUE_RETURN), pair, strict=True)
    ]
    return [*areas, *steps, *returns]
