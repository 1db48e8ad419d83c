"""How well skills do: exact side effects, control of targets, what is reachable."""

from skillfocus.metrics.reach import fair_starts, round_trips, shortest_steps
from skillfocus.metrics.side_effects import SkillEffects, side_effects

__all__ = ["SkillEffects", "fair_starts", "round_trips", "shortest_steps", "side_effects"]
