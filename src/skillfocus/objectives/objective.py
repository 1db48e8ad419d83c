"""An objective says what skills are rewarded for: reward, decomposition, penalty and modes.

    r_objective(z, h) = sum over terms of w_k r(z_k, h_k)  -  l(h, variables that are no target)

`vic()`, `diayn()` and `lsd()` make one; `focused()`, `dusdi()` and `scattered()` take one and
return another. Learners see only this type.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from skillfocus._internal.checks import shown
from skillfocus.errors import UserError
from skillfocus.objectives.decomposition import Decomposition, PerTarget, WholeState
from skillfocus.objectives.reward import Reward

if TYPE_CHECKING:
    from skillfocus.core.factored import FactoredSpace
    from skillfocus.objectives.penalties import Penalty
    from skillfocus.objectives.targets import Assignment


@dataclass(frozen=True)
class Objective:
    """What skills are rewarded for.

        objective = focused(vic(), strength=4.0)
        own = Objective("reach", Reward("reach", at_its_value, uses_start=False))

    Attributes:
        name: Name in files, tables and on the command line, such as "focused-vic".
        reward: The base reward, on one group of variables.
        decomposition: The copies of the base reward that a skill earns.
        penalty: What changing other variables costs; None for objectives without one.
        modes: "single", or "scattered" if a skill draws one of several modes when it starts.
    """

    name: str
    reward: Reward
    decomposition: Decomposition = field(default_factory=WholeState)
    penalty: Penalty | None = None
    modes: Literal["single", "scattered"] = "single"

    def __post_init__(self) -> None:
        if not isinstance(self.reward, Reward):
            raise UserError(
                f"the reward of the objective {self.name} must be a Reward, as in "
                f"Objective('own', Reward('own', formula)), got {shown(self.reward)}"
            )

    @property
    def targeted(self) -> bool:
        """Whether skills have target variables."""
        return self.decomposition.targeted

    def split(
        self, assignment: Assignment, space: FactoredSpace
    ) -> tuple[Assignment, tuple[int, ...]]:
        """Split skills into their modes.

        Returns:
            The modes of all skills, one after another, as an assignment of their own; and how
            many modes each skill has.
        """
        if self.modes == "single":
            return assignment, (1,) * len(assignment)
        return assignment.split(space)

    def describe(self) -> dict[str, object]:
        """Return the settings that files and reports record, as JSON can hold them."""
        return {
            "name": self.name,
            "rate": self.reward.estimate.rate,
            "learns_prior": self.reward.estimate.learns_prior,
            "others_weight": self.decomposition.others_weight or 0.0,
            "penalty": None if self.penalty is None else self.penalty.name,
            "strength": None if self.penalty is None else self.penalty.strength,
            **({"scattered": True} if self.modes == "scattered" else {}),
            **(
                {"baseline": self.penalty.baseline}
                if self.penalty is not None and self.penalty.baseline != "start"
                else {}
            ),
        }

    def with_targets(
        self, prefix: str, decomposition: PerTarget, penalty: Penalty | None = None
    ) -> Objective:
        """Return a variant whose skills have targets, named `prefix-name`.

        Raises:
            UserError: If this objective's skills have targets already.
        """
        if self.targeted:
            raise UserError(
                f"{prefix}({self.name}) has no meaning: {self.name} already gives skills targets; "
                f"apply {prefix} to a plain objective such as vic()"
            )
        name = f"{prefix}-{self.name}"
        return replace(self, name=name, decomposition=decomposition, penalty=penalty)


def check_objective_type(objective: object, usage: str) -> None:
    """Raise a `UserError` unless this is an objective.

    Args:
        objective: What was given.
        usage: How it was used, with `{}` in its place, such as `focused({})`.
    """
    if isinstance(objective, Objective):
        return
    if callable(objective) and hasattr(objective, "__name__"):
        name = objective.__name__
        raise UserError(f"{name} is a function: call it, as in {usage.format(f'{name}()')}")
    raise UserError(
        f"an objective is made by a function, as in {usage.format('vic()')}, got {shown(objective)}"
    )
