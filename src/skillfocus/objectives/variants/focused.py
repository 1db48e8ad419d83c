"""Focused skills (Equation 5): control the targets, leave everything else unchanged.

r_focused(z, h_t) = sum over targets i of r_i(z^i, h_t^i)  -  l(h_t, not targets)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from skillfocus._internal.checks import shown, wrong
from skillfocus.errors import UserError
from skillfocus.objectives.decomposition import PerTarget
from skillfocus.objectives.objective import Objective, check_objective_type
from skillfocus.objectives.penalties import Baseline, Penalty, weighted_norm


def focused(
    objective: Objective,
    *,
    strength: float | Literal["auto"] | None = None,
    penalty: Penalty | None = None,
    baseline: Baseline | None = None,
) -> Objective:
    """Return the focused variant of any objective.

    Args:
        objective: A plain objective, such as `vic()` or your own.
        strength: Strength of the penalty (default: the appendix's, 4, and 2 for LSD); "auto" has
            `discover` raise it until side effects cannot fall further or targets suffer, as
            `find_strength` does.
        penalty: The penalty (default: the paper's weighted 2-norm).
        baseline: What the penalty compares variables with that move by themselves (default: the
            penalty's, "start"): "start", their first values, so that a skill has a reason to stop
            them; "inaction", the nearest values they would have had on their own since the skill
            began; "stepwise", at every step, the values they would have taken on their own. In a
            world that stands still while nobody acts, all three are the same.
    """
    check_objective_type(objective, "focused({})")
    if penalty is not None and not isinstance(penalty, Penalty):
        raise UserError(
            f"penalty must be a Penalty, such as weighted_norm() or changed_variables(), got "
            f"{shown(penalty)}"
        )
    if isinstance(strength, str) and strength != "auto":
        raise wrong("strength", "a number or 'auto'", strength)
    if penalty is None:
        penalty = weighted_norm(objective.reward.penalty_strength)
    if isinstance(strength, str):
        penalty = replace(penalty, auto=True)
    elif strength is not None:
        penalty = replace(penalty, strength=strength, auto=False)
    if baseline is not None:
        penalty = replace(penalty, baseline=baseline)
    return objective.with_targets("focused", PerTarget(), penalty)
