"""A control: focused skills with the wrong targets spared.

A skill is rewarded for its targets as before, but the penalty spares the variables that come next
after them, and punishes a change of the targets themselves. Whatever focus is good for, skills
like these must not have it.
"""

from __future__ import annotations

from dataclasses import replace

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective


def permuted(objective: Objective) -> Objective:
    """The permuted variant of an objective with a penalty."""
    if objective.penalty is None:
        raise UserError(
            f"permuted({objective.name}) has no meaning: {objective.name} has no penalty that "
            f"could spare the wrong variables; apply it to focused(…)"
        )
    return replace(objective, name=f"permuted-{objective.name}", target_offset=1)
