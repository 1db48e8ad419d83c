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
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np

from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.objectives.variants import Penalty

# --------------------
#
# What reward formulas read: quantities that a learner estimates while skills are learned
#
# An estimate is declared here and supplied by the learner. Tabular learners keep it in arrays
# (`learners/planning/estimators.py`); another learner may use a network. A formula takes what its
# estimate predicts, as positional arguments:
#
#     Discriminator    log_q, log_nu              log q(z | s_t, s_0) and log nu(z | s_0)
#     Representation   projection                 <phi(s_t) - phi(s_0), z>
#     TemporalRepresentation  projection          <phi(s') - phi(s), z>, phi a network
#     ValueNumbers     component, start, value    numbers of values; nothing is learned
#     FunctionEstimate what your function returns, from parameters it updates itself


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
        estimate: What supplies the formula's arguments.
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


# -------------------- The rewards of the paper and its neighbors, one equation each
#
#     vic()     r(s_0, z, s_T) = log q(z | s_T, s_0) - log nu(z | s_0)         Equation 2
#     diayn()   r(s_0, z, s_t) = log q(z | s_t) - log nu(z)                    Equation 3, each step
#     lsd()     r(s_0, z, s_T) = <phi(s_T) - phi(s_0), z>, phi 1-Lipschitz     Equation 4
#     metra()   r(s, z, s')    = <phi(s') - phi(s), z>, phi 1-Lipschitz in time, every transition
#     reach()   r(z, s_T)      = 1 if s_T has value z, else 0                  goal-conditioned
#
# Each formula is written once: tabular learners compile it, networks trace it.


def log_ratio(log_q, log_nu):
    """log q(z | s_T, s_0) - log nu(z | s_0)"""
    return log_q - log_nu


def vic(
    rate: float = 0.05,
    *,
    prior: Literal["uniform", "learned"] | float = "uniform",
    random_start: bool = True,
) -> Objective:
    """Return Variational Intrinsic Control: end in states that tell which skill it was.

    Args:
        rate: Weight of the discriminator's moving average. The paper's is 0.7, which listens to the
            last run or two; see docs/vic.md.
        prior: "uniform", as in the paper's experiments, "learned" (Algorithm 1), or a fixed
            probability of each skill.
        random_start: Whether the discriminator starts random; False starts it uniform.
    """
    return Objective("vic", Reward("vic", log_ratio, Discriminator(rate, prior, random_start)))


def diayn(
    rate: float = 0.05,
    *,
    prior: Literal["uniform"] | float = "uniform",
    random_start: bool = True,
) -> Objective:
    """Return Diversity Is All You Need: be in states that tell the skill, at every step.

    A skill that terminates stays where it is and keeps earning that state's reward.

    Args:
        rate: Weight of the discriminator's moving average.
        prior: "uniform", or a fixed probability of each skill.
        random_start: Whether the discriminator starts random; False starts it uniform.
    """
    discriminator = Discriminator(rate, prior, random_start)
    return Objective(
        "diayn", Reward("diayn", log_ratio, discriminator, timing="step", uses_start=False)
    )


def progress_along_z(projection):
    """<phi(s_T) - phi(s_0), z>"""
    return projection


def lsd(rate: float = 0.1) -> Objective:
    """Return Lipschitz-constrained Skill Discovery, with a linear phi: go far in direction z.

    Args:
        rate: Step size of stochastic gradient ascent on phi.
    """
    return Objective(
        "lsd", Reward("lsd", progress_along_z, Representation(rate), penalty_strength=2.0)
    )


def metra(rate: float = 0.01) -> Objective:
    """Return METRA (Park, Rybkin, Levine 2024), for continuous worlds: LSD with distances in time.

    The constraint |phi(s') - phi(s)| <= 1 on adjacent states makes distances under phi at most the
    number of steps between two states. It is kept by dual ascent: phi maximizes
    E[r + lambda min(slack, 1 - |phi(s') - phi(s)|^2)], and log lambda falls by the mean of that
    minimum.

    Args:
        rate: Step size of the dual ascent on log lambda.
    """
    reward = Reward(
        "metra", progress_along_z, TemporalRepresentation(rate), timing="transition",
        penalty_strength=20.0,
    )  # fmt: skip
    return Objective("metra", reward)


def at_its_value(component, start, value):
    """1 if s_T has value z, else 0"""
    return 1.0 if value == component else 0.0


def unlike_the_start(component, start, value):
    """1 if s_T differs from s_0, else 0"""
    return 0.0 if value == start else 1.0


def reach(*, change: bool = False) -> Objective:
    """Return the goal-conditioned objective: each skill makes its target take one value.

    Nothing is discovered, and nothing learned beside the policies: there is one skill per value. It
    needs targets: apply `focused`, so that everything else is left as it was. A component of a
    skill is the index of a value.

    Args:
        change: Whether a target is to take any other value than its first one instead. There is
            one skill per target then, and the objective is called "change".
    """
    if change:
        once = ValueNumbers(single_component=True)
        return Objective("change", Reward("change", unlike_the_start, once))
    values = ValueNumbers(components_are_values=True)
    return Objective("reach", Reward("reach", at_its_value, values, uses_start=False))
