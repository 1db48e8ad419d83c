"""An objective says what a skill wants: a reward, and how the reward itself learns.

The reward looks at a *group* of variables (the whole state, or one target variable) through
three numbers: the skill's component, the group's value at the start, and its value now. It may
read learned parameters and the coordinates of the group's values. Both functions are compiled,
so they use numbers and array elements only:

    reward(params, values, skill, start, value) -> float
    update(params, values, skill, start, value, rate)         in place, may be absent

`focused()` and `dusdi()` take an objective and return one; learners see only this type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.objectives.penalties import Penalty

Reward = Callable[[np.ndarray, np.ndarray, int, int, int], float]
Update = Callable[[np.ndarray, np.ndarray, int, int, int, float], None]
Init = Callable[[int, int, np.ndarray, np.random.Generator], np.ndarray]
"""init(n_components, n_starts, values, rng) -> params, a float32 array of three dimensions"""


DENSE_LIMIT = 120_000_000
"""More (skill, start, value) entries than this are kept sparsely, where an objective can."""


def no_parameters(
    n: int, n_starts: int, values: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    del n, n_starts, values, rng
    return np.zeros((1, 1, 1), dtype=np.float32)


@dataclass(frozen=True)
class Term:
    """One summand of a skill's reward: a copy of the base reward on some variables."""

    variables: tuple[int, ...]
    weight: float
    target: int | None
    """The target variable whose component of the skill is rewarded; None: the skill itself."""


@dataclass(frozen=True)
class Objective:
    name: str
    reward: Reward
    update: Update | None = None
    init: Init = no_parameters
    rate: float = 0.0
    """The learning rate handed to `update`."""
    rate_in: dict[str, float] = field(default_factory=dict)
    """Rates for particular world ids, before `rate`."""
    every_step: bool = False
    """Earned in every state on the way (DIAYN), not only where the skill ends."""
    uses_start: bool = True
    """Whether the reward looks at `start`."""
    discriminates: bool = False
    """Whether the reward is log d - log nu of a learned discriminator."""
    learns_prior: bool = False
    """Whether `params[:, -1, start]` is a learned log nu(.|start) to draw skills from."""
    strength: float = 4.0
    """The penalty's strength that `focused` takes by default."""
    targeted: bool = False
    """Whether skills have target variables (set by `focused` and `dusdi`)."""
    scattered: bool = False
    """Whether a skill keeps its entropy within what it owns (set by `scattered`)."""
    others_weight: float = 0.0
    """DUSDi's weight on decoding the skill from everything but the target."""
    penalty: Penalty | None = None
    target_offset: int = 0
    """The penalty spares the variables so many places after the targets (set by `permuted`)."""
    sparse: Objective | None = None
    """The same base reward with parameters that fit where dense ones would not."""

    def base_for(self, entries: int) -> Objective:
        """Where to take init, reward and update from, for so many parameters."""
        return self.sparse if self.sparse is not None and entries > DENSE_LIMIT else self

    def rate_for(self, world_id: str) -> float:
        return self.rate_in.get(world_id, self.rate)

    def terms(self, targets: Sequence[int], n_variables: int) -> list[Term]:
        """The copies of the base reward that a skill with these targets earns."""
        everything = tuple(range(n_variables))
        if not self.targeted:
            return [Term(everything, 1.0, None)]
        terms = [Term((i,), 1.0, i) for i in targets]
        if self.others_weight:
            rest = [tuple(j for j in everything if j != i) for i in targets]
            terms += [
                Term(others, -self.others_weight, i)
                for i, others in zip(targets, rest, strict=True)
            ]
        return terms

    def unpenalized(self, targets: Sequence[int], n_variables: int) -> list[int]:
        """The variables that a skill with these targets may change without a penalty."""
        return [(i + self.target_offset) % n_variables for i in targets]

    def describe(self) -> dict[str, object]:
        """What a file or a report records of it."""
        return {
            "name": self.name,
            "rate": self.rate,
            "rate_in": dict(self.rate_in),
            "learns_prior": self.learns_prior,
            "others_weight": self.others_weight,
            "penalty": None if self.penalty is None else self.penalty.name,
            "strength": None if self.penalty is None else self.penalty.strength,
            **({"scattered": True} if self.scattered else {}),
        }

    def with_targets(self, prefix: str, **changes: object) -> Objective:
        """A copy whose skills have targets; an objective that has them already is refused."""
        if self.targeted:
            raise UserError(
                f"{prefix}({self.name}) has no meaning: {self.name} already gives skills targets; "
                f"apply {prefix} to a plain objective such as vic()"
            )
        return replace(self, name=f"{prefix}-{self.name}", targeted=True, **changes)  # pyright: ignore[reportArgumentType]
