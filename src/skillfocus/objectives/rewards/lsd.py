"""Lipschitz-constrained Skill Discovery (Equation 4): go far in the skill's own direction.

r(s_0, z, s_T) = <phi(s_T) - phi(s_0), z>,   phi 1-Lipschitz
"""

from __future__ import annotations

from skillfocus.objectives.estimates import Representation
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward


def progress_along_z(projection):
    """<phi(s_T) - phi(s_0), z>"""
    return projection


def lsd(rate: float | None = None) -> Objective:
    """Return the LSD objective, with a linear phi.

    Args:
        rate: Step size of stochastic gradient ascent on phi (default: the paper's, 0.1).
    """
    return Objective(
        "lsd", Reward("lsd", progress_along_z, Representation(rate), penalty_strength=2.0)
    )
