"""Objectives: what skills are rewarded for.

    r_objective(z, h) = sum over terms of w_k r(z_k, h_k)  -  l(h, non-target variables)

    whole state   r(z, s)                                          vic(), diayn(), lsd(), metra()
    per target    sum over targets i of r_i(z^i, s^i)              focused()
                  - w sum over targets i of r_-i(z^i, s^-i)        dusdi(), w > 0

A `Reward` is the formula of a skill discovery algorithm on a group of variables: the whole state
for plain objectives, one target variable for focused ones. The formula does not know which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from skillfocus.errors import UserError
from skillfocus.objectives.estimates import Discriminator, Estimate, Representation, ValueNumbers

if TYPE_CHECKING:
    from skillfocus.core.factored import FactoredSpace
    from skillfocus.objectives.penalties import Penalty
    from skillfocus.objectives.targets import Assignment

Timing = Literal["final", "step", "transition"]


@dataclass(frozen=True)
class Reward:
    """The reward that one copy of an algorithm gives, before decomposition and penalty.

        def at_its_value(component, start, value):
            return 1.0 if value == component else 0.0

        reach = Reward("reach", at_its_value, uses_start=False)

    Attributes:
        name: The algorithm's name, such as "vic".
        formula: The equation as a function of scalars. It must work for any numeric type, so that
            tabular learners can compile it and others can trace it: arithmetic and `math` only.
        estimate: What supplies the formula's arguments (see `estimates.py`).
        timing: When it is earned: "final", in the last state; "step", at every step, where the last
            state's reward continues after termination; "transition", on every transition, where
            the state before it takes the place of the start.
        uses_start: Whether the formula looks at the start. If not, policies need not know it.
        penalty_strength: Default strength of the penalty of `focused`, which depends on the scale
            of the reward.
    """

    name: str
    formula: Callable[..., float]
    estimate: Estimate = field(default_factory=ValueNumbers)
    timing: Timing = "final"
    uses_start: bool = True
    penalty_strength: float = 4.0

    def __post_init__(self) -> None:
        if self.timing not in get_args(Timing):
            raise UserError(
                f"{self.name}: timing must be one of {', '.join(get_args(Timing))}, got "
                f"{self.timing!r}"
            )
        if self.timing == "transition" and not self.uses_start:
            raise UserError(
                f"{self.name}: a transition reward compares two states; leave out uses_start"
            )

    def without_start(self) -> Reward:
        """Return the reward of the last state alone, for policies that do not see their start.

        A discriminator then tells skills by the last state, and a representation of coordinates
        measures changes from the mean. Transition rewards look at no start, and stay as they are.

        Raises:
            UserError: If the formula needs the start.
        """
        if self.timing == "transition" or not self.uses_start:
            return self
        estimate = self.estimate
        if isinstance(estimate, Representation) and estimate.features == "coordinates":
            estimate = replace(estimate, from_mean=True)
        elif not isinstance(estimate, Discriminator):
            raise UserError(
                f"the reward of {self.name} compares with the start, so its policies must see it; "
                f"use memory=True, or uses_start=False if the formula does without"
            )
        return replace(self, estimate=estimate, uses_start=False)


@dataclass(frozen=True)
class Term:
    """One summand of a skill's reward: a copy of the base reward on some variables.

    Attributes:
        variables: Indices of the variables it looks at.
        weight: Factor of the copy; negative where it is to be made small.
        target: The target variable whose component of the skill is rewarded; None for the skill
            itself.
    """

    variables: tuple[int, ...]
    weight: float
    target: int | None


@dataclass(frozen=True)
class Objective:
    """What skills are rewarded for.

        objective = focused(vic(), strength=4.0)
        own = Objective("reach", Reward("reach", at_its_value, uses_start=False))

    Attributes:
        name: Name in files, tables and on the command line, such as "focused-vic".
        reward: The base reward, on one group of variables.
        targeted: Whether skills have target variables, with a copy of the reward for each.
        weight: DUSDi's weight on decoding the skill from everything but a target; None without.
        penalty: What changing non-target variables costs; None for objectives without one.
        modes: "single", or "scattered" if a skill draws one of several modes when it starts.
    """

    name: str
    reward: Reward
    targeted: bool = False
    weight: float | None = None
    penalty: Penalty | None = None
    modes: Literal["single", "scattered"] = "single"

    def terms(self, targets: Sequence[int], n_variables: int) -> list[Term]:
        """Return the terms of a skill with these targets."""
        if not self.targeted:
            return [Term(tuple(range(n_variables)), 1.0, None)]
        terms = [Term((i,), 1.0, i) for i in targets]
        if self.weight:
            others = {i: tuple(j for j in range(n_variables) if j != i) for i in targets}
            terms += [Term(others[i], -self.weight, i) for i in targets]
        return terms

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

    def to_dict(self) -> dict[str, Any]:
        """Return the name and all settings, as JSON can hold them; see `registry.from_dict`."""
        estimate, penalty = self.reward.estimate, self.penalty
        settings: dict[str, Any] = {"name": self.name, "rate": float(estimate.rate)}
        if isinstance(estimate, Discriminator):
            settings |= {"prior": estimate.prior, "random_start": estimate.random_init}
        if penalty is not None:
            settings |= {
                "strength": "auto" if penalty.auto else float(penalty.strength),
                "penalty": penalty.name,
                "baseline": penalty.baseline,
            }
        if self.weight is not None:
            settings["weight"] = float(self.weight)
        return settings

    def with_targets(self, prefix: str, **changes: Any) -> Objective:
        """Return a variant whose skills have targets, named `prefix-name`.

        Raises:
            UserError: If this objective's skills have targets already.
        """
        if self.targeted:
            raise UserError(
                f"{prefix}() needs a plain objective such as vic(); {self.name} already gives "
                f"skills targets"
            )
        return replace(self, name=f"{prefix}-{self.name}", targeted=True, **changes)
