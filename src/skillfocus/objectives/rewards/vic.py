"""Variational Intrinsic Control (Equation 2): end in states that tell which skill it was.

r(s_0, z, s_T) = log q(z | s_T, s_0) - log nu(z | s_0)
"""

from __future__ import annotations

from typing import Literal

from skillfocus.objectives.estimates import Discriminator
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward


def log_ratio(log_q, log_nu):
    """log q(z | s_T, s_0) - log nu(z | s_0)"""
    return log_q - log_nu


def vic(
    rate: float | None = None,
    *,
    prior: Literal["uniform", "learned"] | float = "uniform",
    random_start: bool = True,
) -> Objective:
    """Return the VIC objective.

    Args:
        rate: Weight of the discriminator's moving average (default: the paper's, 0.7, and 0.5 in
            ForageWorld; for focused VIC 0.05 in worlds that are not built in, see docs/vic.md).
        prior: "uniform", as in the paper's experiments, "learned" (Algorithm 1), or a fixed
            probability of each skill.
        random_start: Whether the discriminator starts random; False starts it uniform.
    """
    return Objective("vic", Reward("vic", log_ratio, Discriminator(rate, prior, random_start)))
