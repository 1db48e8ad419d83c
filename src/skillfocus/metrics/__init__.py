"""Metrics of skills: side effects, control of targets, coverage, and what is reachable at all."""

from skillfocus.metrics.coverage import Coverage, coverage, coverage_by_variable
from skillfocus.metrics.propagation import RepresentationFit, representation_fit
from skillfocus.metrics.reachability import (
    FocusedPlan,
    best_focus,
    best_plan,
    fair_starts,
    round_trips,
    shortest_steps,
)
from skillfocus.metrics.side_effects import SkillEffects, side_effects

__all__ = [
    "Coverage", "FocusedPlan", "RepresentationFit", "SkillEffects",
    "best_focus", "best_plan", "coverage", "coverage_by_variable",
    "fair_starts", "representation_fit", "round_trips", "shortest_steps", "side_effects",
]  # fmt: skip
