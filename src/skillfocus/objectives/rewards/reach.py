"""Reach: end with the target at the value that the skill stands for, or at another than it had.

    r(z, s_T)   = 1 if s_T has value z, else 0          reach()
    r(s_0, s_T) = 1 if s_T differs from s_0, else 0     reach(change=True)

Nothing is discovered and nothing learned beside the policies: there is one skill per value, which
is told which, or one per target. `focused(reach())` leaves everything else as it was.
"""

from __future__ import annotations

from skillfocus._internal.checks import shown
from skillfocus.errors import UserError
from skillfocus.objectives.estimates import ValueNumbers
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward


def at_its_value(component, start, value):
    """1 if s_T has value z, else 0"""
    return 1.0 if value == component else 0.0


def unlike_the_start(component, start, value):
    """1 if s_T differs from s_0, else 0"""
    return 0.0 if value == start else 1.0


def reach(*, change: bool = False) -> Objective:
    """Return the objective whose skills each make their target take one value.

    It needs targets: apply `focused`. A component of a skill is the index of a value (see
    `objectives/target_values.py`).

    Args:
        change: Whether a target is to take any other value than its first one instead. There is
            one skill per target then, and the objective is called "change".
    """
    if not isinstance(change, bool):
        raise UserError(
            f"change must be True or False, got {shown(change)}; name values in the targets: "
            f"discover(world, focused(reach()), targets=[{{variable: value}}, …])"
        )
    if change:
        once = ValueNumbers(single_component=True)
        return Objective("change", Reward("change", unlike_the_start, once))
    return Objective(
        "reach",
        Reward("reach", at_its_value, ValueNumbers(components_are_values=True), uses_start=False),
    )
