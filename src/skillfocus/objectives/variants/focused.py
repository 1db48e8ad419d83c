"""Focused skills (Equation 5): control the targets, leave everything else unchanged.

r_focused(z, h_t) = sum over targets i of r_i(z^i, h_t^i)  -  l(h_t, not targets)
"""

from __future__ import annotations

from dataclasses import replace

from skillfocus._internal.checks import shown
from skillfocus.errors import UserError
from skillfocus.objectives.decomposition import PerTarget
from skillfocus.objectives.objective import Objective, check_objective_type
from skillfocus.objectives.penalties import Penalty, weighted_norm


def focused(
    objective: Objective, *, strength: float | None = None, penalty: Penalty | None = None
) -> Objective:
    """Return the focused variant of any objective.

    Args:
        objective: A plain objective, such as `vic()` or your own.
        strength: Strength of the penalty (default: the appendix's, 4, and 2 for LSD).
        penalty: The penalty (default: the paper's weighted 2-norm).
    """
    check_objective_type(objective, "focused({})")
    if penalty is not None and not isinstance(penalty, Penalty):
        raise UserError(
            f"penalty must be a Penalty, such as weighted_norm() or changed_variables(), got "
            f"{shown(penalty)}"
        )
    if penalty is None:
        default = objective.reward.penalty_strength
        penalty = weighted_norm(default if strength is None else strength)
    elif strength is not None:
        penalty = replace(penalty, strength=strength)
    return objective.with_targets("focused", PerTarget(), penalty)
