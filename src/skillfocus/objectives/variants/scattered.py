"""Scattered skills: choose a part of a variable's values, and keep the entropy within it.

With K skills on a variable of V values, each is split into M = V // K modes, and all K M modes are
told apart. For a discriminator,

    log q(z, m | s) - log 1/(K M) = [log q(z | s) - log 1/K] + [log q(m | z, s) - log 1/M],

the reward of the skill plus that of its mode: the skill can be told, and within what it owns its
last states are as many and as different as possible. A skill draws one of its modes uniformly when
it starts. Variables with fewer than two values per skill (a tool with two skills) have one mode,
and nothing changes for them.

LSD tells modes apart by directions, <phi(s_T) - phi(s_0), z>. A phi that is linear in a cell's two
coordinates is largest in corners, wherever z points; a scattered skill's phi is linear in the
indicators of the values instead, so that any value can be a mode's own.
"""

from __future__ import annotations

from dataclasses import replace

from skillfocus.objectives.estimates import Discriminator, Representation
from skillfocus.objectives.objective import Objective, check_objective_type

OWNED_SHARE = 0.9
"""Smallest initial probability of the mode that a value is dealt to. A mode owns a value or two: if
they paid less than the detour to a second target, it would never reach that one."""


def scattered(objective: Objective) -> Objective:
    """Return the scattered variant of an objective whose skills have, or will have, targets."""
    check_objective_type(objective, "scattered({})")
    estimate = objective.reward.estimate
    if isinstance(estimate, Representation):
        estimate = replace(estimate, features="indicators")
    elif isinstance(estimate, Discriminator):
        estimate = replace(estimate, owned_share=OWNED_SHARE)
    return replace(
        objective, name=f"scattered-{objective.name}", modes="scattered",
        reward=replace(objective.reward, estimate=estimate),
    )  # fmt: skip
