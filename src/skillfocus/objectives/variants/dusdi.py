"""DUSDi (Hu et al. 2024): tell the skill by its target, and not by anything else.

    r(z, s) = sum over targets i of [log q_i(z | s^i) - log nu] - w [log e_i(z | s^-i) - log nu]

e_i is a second discriminator that sees every variable but i. It penalises *decodability*, not
change: skills that all disturb the others in the same way pay nothing.
"""

from __future__ import annotations

from skillfocus._internal.checks import number
from skillfocus.errors import UserError
from skillfocus.objectives.decomposition import PerTarget
from skillfocus.objectives.objective import Objective, check_objective_type


def dusdi(objective: Objective, *, weight: float = 0.1) -> Objective:
    """Return the DUSDi variant of an objective that learns a discriminator.

    Args:
        objective: A plain objective with a discriminator: `vic()`, `diayn()` or your own.
        weight: Weight w of decoding the skill from the variables that are no target.

    Raises:
        UserError: If the objective has no discriminator, or one that learns a prior.
    """
    check_objective_type(objective, "dusdi({})")
    if not objective.reward.estimate.discriminates:
        raise UserError(
            f"dusdi({objective.name}) has no meaning: DUSDi compares skill discriminators and "
            f"{objective.name} has none; use focused({objective.name}) instead"
        )
    if objective.reward.estimate.learns_prior:
        raise UserError("dusdi has no learned prior: its two discriminators would learn two")
    if not 0 <= number("weight", weight) < float("inf"):
        raise UserError(f"DUSDi's weight is {weight}; it must be 0 or more and finite")
    return objective.with_targets("dusdi", PerTarget(others_weight=weight))
