"""Focused skills (Equation 5): control the targets, leave everything else as it was.

r_focused(z, h_t) = sum over targets i of r_i(z^i, h_t^i)  -  l(h_t, not targets)
"""

from __future__ import annotations

from skillfocus.objectives.objective import Objective
from skillfocus.objectives.penalties import Penalty, weighted_norm


def focused(
    objective: Objective, *, strength: float | None = None, penalty: Penalty | None = None
) -> Objective:
    """The focused variant of any objective. The penalty is the paper's weighted 2-norm with this
    strength (default: the appendix's, 4, and 2 for LSD) unless another penalty is given."""
    if penalty is None:
        penalty = weighted_norm(objective.strength if strength is None else strength)
    elif strength is not None:
        penalty = Penalty(penalty.name, strength, penalty.measure)
    return objective.with_targets("focused", penalty=penalty)
