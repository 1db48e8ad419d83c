"""Scattered skills: say which part of a variable's values is meant, and keep the entropy within it.

With K skills on a variable of V values, each is split into M = V // K modes, and all K M of them
are told apart. For a discriminator,

    log d(z, m | s) - log 1/(K M) = [log d(z | s) - log 1/K] + [log d(m | z, s) - log 1/M],

the reward of the skill plus that of its mode: the skill can be told, and within what it owns its
last states are as many and as different as they can be. The skill itself draws one of its modes
when it begins, each as likely as the others. Variables with fewer values than two per skill (a
tool, two skills) have one mode, and nothing changes for them.
"""

from __future__ import annotations

from dataclasses import replace

from skillfocus.objectives.objective import Objective


def scattered(objective: Objective) -> Objective:
    """The scattered variant of an objective whose skills have targets, or will have."""
    return replace(objective, name=f"scattered-{objective.name}", scattered=True)
