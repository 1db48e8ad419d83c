"""METRA (Park, Rybkin, Levine 2024): go far in the skill's own direction, in steps of time.

    r(s, z, s') = <phi(s') - phi(s), z>,   |phi(s') - phi(s)| <= 1 for adjacent states

The constraint makes distances under phi at most the number of steps between two states. It is kept
by dual ascent: phi maximises E[r + lambda min(slack, 1 - |phi(s') - phi(s)|^2)], and log lambda
falls by the mean of that minimum.
"""

from __future__ import annotations

from skillfocus.objectives.estimates import TemporalRepresentation
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward
from skillfocus.objectives.rewards.lsd import progress_along_z


def metra(rate: float | None = None) -> Objective:
    """Return the METRA objective, for continuous worlds.

    Args:
        rate: Step size of the dual ascent on log lambda (default: 0.01).
    """
    return Objective(
        "metra",
        Reward(
            "metra", progress_along_z, TemporalRepresentation(rate), timing="transition",
            penalty_strength=20.0,
        ),
    )  # fmt: skip
