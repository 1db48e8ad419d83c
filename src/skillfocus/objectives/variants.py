"""Variants: functions from an objective to an objective.

focused()     Equation 5: control the targets, leave everything else unchanged
dusdi()       Hu et al. 2024: tell the skill by its target, and not by anything else
scattered()   choose a part of a variable's values, and keep the entropy within it
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Discriminator, Objective, Representation
from skillfocus.objectives.penalties import Baseline, Penalty, weighted_norm

OWNED_SHARE = 0.9
"""Smallest initial probability of the mode that a value is assigned to. A mode owns a value or two:
if they paid less than the detour to a second target, it would never reach that one."""


def focused(
    objective: Objective,
    *,
    strength: float | Literal["auto"] | None = None,
    penalty: Penalty | None = None,
    baseline: Baseline | None = None,
) -> Objective:
    """Return the focused variant of any objective (Equation 5).

        r_focused(z, h_t) = sum over targets i of r_i(z^i, h_t^i)  -  l(h_t, non-targets)

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
    if isinstance(strength, str) and strength != "auto":
        raise UserError(f"strength must be a number or 'auto', got {strength!r}")
    if penalty is None:
        penalty = weighted_norm(objective.reward.penalty_strength)
    if strength == "auto":
        penalty = replace(penalty, auto=True)
    elif strength is not None:
        penalty = replace(penalty, strength=strength, auto=False)
    if baseline is not None:
        penalty = replace(penalty, baseline=baseline)
    return objective.with_targets("focused", penalty=penalty)


def dusdi(objective: Objective, *, weight: float = 0.1) -> Objective:
    """Return the DUSDi variant of an objective that learns a discriminator.

        r(z, s) = sum over targets i of [log q_i(z | s^i) - log nu] - w [log e_i(z | s^-i) - log nu]

    e_i is a second discriminator that sees every variable but i. It penalizes *decodability*, not
    change: skills that all disturb the others in the same way pay nothing.

    Args:
        objective: A plain objective with a discriminator: `vic()`, `diayn()` or your own.
        weight: Weight w of decoding the skill from the non-target variables.

    Raises:
        UserError: If the objective has no discriminator, or one that learns a prior.
    """
    if not objective.reward.estimate.discriminates:
        raise UserError(
            f"dusdi() needs an objective with a discriminator (vic, diayn), got {objective.name}; "
            f"focused() takes any"
        )
    if objective.reward.estimate.learns_prior:
        raise UserError("dusdi() takes no learned prior: its two discriminators would learn two")
    if not 0 <= weight < float("inf"):
        raise UserError(f"DUSDi's weight must be 0 or more and finite, got {weight}")
    return objective.with_targets("dusdi", weight=weight)


def scattered(objective: Objective) -> Objective:
    """Return the scattered variant of an objective whose skills have, or will have, targets.

    With K skills on a variable of V values, each is split into M = V // K modes, and all K M modes
    are told apart. For a discriminator,

        log q(z, m | s) - log 1/(K M) = [log q(z | s) - log 1/K] + [log q(m | z, s) - log 1/M],

    the reward of the skill plus that of its mode: the skill can be told, and within what it owns
    its last states are as many and as different as possible. A skill draws one of its modes
    uniformly when it starts. Variables with fewer than two values per skill (a tool with two
    skills) have one mode, and nothing changes for them.

    LSD tells modes apart by directions, <phi(s_T) - phi(s_0), z>. A phi that is linear in a cell's
    two coordinates is largest in corners, wherever z points; a scattered skill's phi is linear in
    the indicators of the values instead, so that any value can be a mode's own.
    """
    estimate = objective.reward.estimate
    if isinstance(estimate, Representation):
        estimate = replace(estimate, features="indicators")
    elif isinstance(estimate, Discriminator):
        estimate = replace(estimate, owned_share=OWNED_SHARE)
    return replace(
        objective, name=f"scattered-{objective.name}", modes="scattered",
        reward=replace(objective.reward, estimate=estimate),
    )  # fmt: skip
