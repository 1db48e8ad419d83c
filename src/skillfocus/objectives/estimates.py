"""What reward formulas read: quantities that a learner estimates while skills are learned.

An estimate is declared here and supplied by the learner. Tabular learners keep it in arrays
(`learners/tabular/estimators.py`); another learner may use a network. A formula takes what its
estimate predicts, as positional arguments:

    Discriminator    log_q, log_nu              log q(z | s_t, s_0) and log nu(z | s_0)
    Representation   projection                 <phi(s_t) - phi(s_0), z>
    TemporalRepresentation  projection          <phi(s') - phi(s), z>, phi a network
    ValueNumbers     component, start, value    numbers of values; nothing is learned
    FunctionEstimate what your function returns, from parameters it updates itself
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from skillfocus.errors import UserError


class Estimate(Protocol):
    """What a learner needs to know about an estimate before it supplies one."""

    @property
    def rate(self) -> float:
        """Learning rate."""
        ...

    @property
    def discriminates(self) -> bool:
        """Whether it tells skills apart, which takes at least two of them."""
        ...

    @property
    def learns_prior(self) -> bool:
        """Whether it also learns the distribution that skills are drawn from."""
        ...


@dataclass(frozen=True)
class Discriminator:
    """A skill discriminator q(z | s_t, s_0), and the prior nu(z | s_0) it is compared with.

    Attributes:
        rate: Weight of a new observation in the moving average.
        prior: "uniform" over the skills that share the target, fixed as in the paper's
            experiments; "learned" (its Algorithm 1); or the probability of a skill as a number,
            such as 1/16 for a prior that is uniform over all sixteen skills.
        random_init: Start from a random q. A uniform q never breaks the symmetry between skills.
        owned_share: Smallest initial probability of the skill that a value is assigned to.
    """

    rate: float
    prior: Literal["uniform", "learned"] | float = "uniform"
    random_init: bool = True
    owned_share: float = 0.5
    discriminates = True

    def __post_init__(self) -> None:
        known = self.prior in ("uniform", "learned")
        if not known and not (isinstance(self.prior, float) and 0 < self.prior <= 1):
            raise UserError(
                f"prior is {self.prior!r}; it must be 'uniform', 'learned' or a probability"
            )
        if not 0 <= self.owned_share <= 1:
            raise UserError(f"owned_share is {self.owned_share}; it must be between 0 and 1")
        if not 0 < self.rate <= 1:
            raise UserError(f"a discriminator's rate must be in (0, 1], got {self.rate}")

    @property
    def learns_prior(self) -> bool:
        """Whether nu is learned."""
        return self.prior == "learned"


@dataclass(frozen=True)
class Representation:
    """A 1-Lipschitz linear map phi of a variable's features, and a direction z per skill.

    Attributes:
        rate: Step size of stochastic gradient ascent.
        from_mean: Whether changes are measured from the mean of all values instead of the start.
        features: "coordinates" of the values, as in the paper, or their "indicators": phi is then
            a table of the values, and may be largest in any of them.
    """

    rate: float
    from_mean: bool = False
    features: Literal["coordinates", "indicators"] = "coordinates"
    discriminates = False
    learns_prior = False

    def __post_init__(self) -> None:
        if self.features not in ("coordinates", "indicators"):
            raise UserError(
                f"features is {self.features!r}; it must be 'coordinates' or 'indicators'"
            )
        if not 0 < self.rate < float("inf"):
            raise UserError(f"the rate of phi must be positive and finite, got {self.rate}")


@dataclass(frozen=True)
class TemporalRepresentation:
    """A network phi under which adjacent states are at most 1 apart, and a direction z per skill.

    The constraint is kept by a dual variable lambda; see `rewards.metra`.

    Attributes:
        rate: Step size of the dual ascent on log lambda.
        slack: How much room in the constraint is rewarded.
        first_dual: lambda at first.
    """

    rate: float
    slack: float = 1e-3
    first_dual: float = 30.0
    discriminates = False
    learns_prior = False

    def __post_init__(self) -> None:
        for name in ("rate", "slack", "first_dual"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UserError(f"{name} must be positive and finite, got {getattr(self, name)}")


@dataclass(frozen=True)
class ValueNumbers:
    """Nothing learned: the formula gets the numbers of the component, the start and the value.

    Attributes:
        rate: No learning rate.
        components_are_values: Whether a skill's component is the index of a value of its target;
            the formula then gets that value's number.
        single_component: Whether all skills with the same targets would be alike, so that there is
            one.
    """

    rate: float = 0.0
    components_are_values: bool = False
    single_component: bool = False
    discriminates = False
    learns_prior = False


Predict = Callable[[np.ndarray, np.ndarray, int, int, int], float]
"""`predict(params, coordinates, component, start, value)`"""
Update = Callable[[np.ndarray, np.ndarray, int, int, int, float], None]
"""`update(params, coordinates, component, start, value, rate)`, in place"""
Init = Callable[[int, int, np.ndarray, np.random.Generator], np.ndarray]
"""`init(n_components, n_starts, coordinates, rng)`: a float32 array of three dimensions"""


def no_parameters(
    n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return parameters for functions that need none."""
    del n_components, n_starts, coordinates, rng
    return np.zeros((1, 1, 1), dtype=np.float32)


@dataclass(frozen=True)
class FunctionEstimate:
    """An estimate written as plain functions on arrays, for tabular learners.

    Both functions are compiled: they may use numbers and array elements only. `coordinates` is
    float64 [n_values, n_dimensions], the points of the group's values.

    Attributes:
        predict: The estimate itself.
        update: Learning from one observation; None if there is nothing to learn.
        init: Initial parameters.
        rate: Learning rate handed to `update`.
        discriminates: Whether it tells skills apart.
    """

    predict: Predict
    update: Update | None = None
    init: Init = no_parameters
    rate: float = 0.0
    discriminates: bool = False
    learns_prior = False
