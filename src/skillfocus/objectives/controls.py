"""Controls: objectives that show what focus is, and is not, responsible for.

`oracle` discovers nothing: each skill is told beforehand which values to reach,

    r(z, s_T) = 1 if z owns the value of s_T, else 0.

The V values of a variable are assigned to its K skills in order, V / K to each: of a tool's two
skills one leaves it and one takes it, and each position skill goes to a region. It bounds what an
objective with the same penalty could reach.

`permuted` penalises the wrong variables: a skill is rewarded for its targets as before, but the
penalty leaves out the variables that come next after them, and punishes changes of the targets
themselves. Whatever focus is good for, skills like these must not have it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.reward import Reward


@dataclass(frozen=True)
class OwnedValues:
    """Whether a component owns a value; known beforehand, nothing is learned."""

    rate: float = 0.0
    discriminates = False
    learns_prior = False


def owns(owned):
    """1 if z owns the value of s_T, else 0"""
    return owned


def oracle() -> Objective:
    """Return the control whose skills are told which values to reach."""
    return Objective("oracle", Reward("oracle", owns, OwnedValues(), uses_start=False))


def permuted(objective: Objective) -> Objective:
    """Return the permuted variant of an objective with a penalty."""
    if objective.penalty is None:
        raise UserError(
            f"permuted({objective.name}) has no meaning: {objective.name} has no penalty that "
            f"could leave out the wrong variables; apply it to focused(…)"
        )
    penalty = replace(objective.penalty, target_offset=1)
    return replace(objective, name=f"permuted-{objective.name}", penalty=penalty)
