"""How a skill's reward is composed of copies of a base reward on groups of variables.

whole state   r(z, s)                                          VIC, DIAYN, LSD
per target    sum over targets i of r_i(z^i, s^i)               focused
              - w sum over targets i of r_-i(z^i, s^-i)         DUSDi, w > 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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


class Decomposition(Protocol):
    """The copies of the base reward that make up a skill's reward."""

    @property
    def targeted(self) -> bool:
        """Whether skills have target variables."""
        ...

    def terms(self, targets: Sequence[int], n_variables: int) -> list[Term]:
        """Return the terms of a skill with these targets."""
        ...

    @property
    def others_weight(self) -> float | None:
        """DUSDi's weight on everything but the target; None where there is no such term."""
        ...


@dataclass(frozen=True)
class WholeState:
    """One copy of the reward, on all variables: skills have no targets."""

    targeted = False
    others_weight = None

    def terms(self, targets: Sequence[int], n_variables: int) -> list[Term]:
        """Return one term, on all variables."""
        del targets
        return [Term(tuple(range(n_variables)), 1.0, None)]


@dataclass(frozen=True)
class PerTarget:
    """One copy per target variable and, with `others_weight`, one on everything but the target.

    Attributes:
        others_weight: DUSDi's weight on decoding the skill from the variables that are no target;
            None without such a term.
    """

    others_weight: float | None = None
    targeted = True

    def terms(self, targets: Sequence[int], n_variables: int) -> list[Term]:
        """Return one term per target and, with a weight, one on the other variables."""
        terms = [Term((i,), 1.0, i) for i in targets]
        if self.others_weight:
            terms += [
                Term(tuple(j for j in range(n_variables) if j != i), -self.others_weight, i)
                for i in targets
            ]
        return terms
