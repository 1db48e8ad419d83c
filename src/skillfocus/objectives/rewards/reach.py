"""Reach: end with the target at the value that the skill stands for.

    r(z, s_T) = 1 if s_T has value z, else 0

Nothing is discovered and nothing learned beside the policies: there is one skill per value, and it
is told which. `focused(reach())` leaves everything else as it was.
"""

from __future__ import annotations

from skillfocus.objectives.estimates import ValueNumbers
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward


def at_its_value(component, start, value):
    """1 if s_T has value z, else 0"""
    return 1.0 if value == component else 0.0


def reach() -> Objective:
    """Return the objective whose skills each make their target take one value.

    It needs targets: apply `focused`. A component of a skill is the index of a value (see
    `objectives/target_values.py`).
    """
    return Objective(
        "reach",
        Reward("reach", at_its_value, ValueNumbers(components_are_values=True), uses_start=False),
    )
