"""Metrics of skills: side effects, control of targets, coverage, and what is reachable at all."""

from skillfocus.metrics.coverage import Coverage, coverage
from skillfocus.metrics.reachability import fair_starts, round_trips, shortest_steps
from skillfocus.metrics.side_effects import SkillEffects, side_effects

__all__ = [
    "Coverage", "SkillEffects", "coverage", "fair_starts", "round_trips", "shortest_steps",
    "side_effects",
]  # fmt: skip
