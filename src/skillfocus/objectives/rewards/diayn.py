"""Diversity Is All You Need (Equation 3): be in states that tell the skill, at every step.

    r(s_0, z, s_t) = log q(z | s_t) - log nu(z)

A skill that terminates stays where it is and keeps earning that state's reward.
"""

from __future__ import annotations

from typing import Literal

from skillfocus.objectives.estimates import Discriminator
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward
from skillfocus.objectives.rewards.vic import log_ratio


def diayn(
    rate: float | None = None,
    *,
    prior: Literal["uniform"] | float = "uniform",
    random_start: bool = True,
) -> Objective:
    """Return the DIAYN objective.

    Args:
        rate: Weight of the discriminator's moving average (default: the paper's, 0.05).
        prior: "uniform", or a fixed probability of each skill.
        random_start: Whether the discriminator starts random; False starts it uniform.
    """
    discriminator = Discriminator(rate, prior, random_start)
    return Objective(
        "diayn", Reward("diayn", log_ratio, discriminator, timing="step", uses_start=False)
    )
