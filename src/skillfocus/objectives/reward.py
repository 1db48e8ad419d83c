"""A reward: the formula of a skill discovery algorithm on a group of variables.

    r(z, s_0, s_t) = formula(what its estimate predicts)

The group is the whole state for plain objectives and one target variable for focused ones; the
formula does not know which (see `decomposition.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from skillfocus._internal.checks import function
from skillfocus.errors import UserError
from skillfocus.objectives.estimates import Discriminator, Estimate, Representation, ValueNumbers

Timing = Literal["final", "step", "transition"]
TIMINGS: tuple[Timing, ...] = ("final", "step", "transition")


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
        penalty_strength: Strength that `focused` gives its penalty by default. It depends on the
            scale of the reward.
    """

    name: str
    formula: Callable[..., float]
    estimate: Estimate = field(default_factory=ValueNumbers)
    timing: Timing = "final"
    uses_start: bool = True
    penalty_strength: float = 4.0

    def __post_init__(self) -> None:
        function(f"the formula of {self.name}", self.formula, "log_q, log_nu -> log_q - log_nu")
        if self.timing not in TIMINGS:
            raise UserError(
                f"{self.name}: timing is {self.timing!r}; it must be one of {', '.join(TIMINGS)}"
            )
        if self.timing == "transition" and not self.uses_start:
            raise UserError(
                f"{self.name}: a transition reward compares two states; leave out uses_start"
            )

    def without_start(self) -> Reward:
        """Return the reward of the last state alone, for policies that do not see their start.

        A discriminator then tells skills by the last state, and a representation of coordinates
        measures changes from the mean. Rewards of transitions look at no start, and stay as they
        are.

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
