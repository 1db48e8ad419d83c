"""The rewards of the paper and its neighbors, one equation each.

    vic()     r(s_0, z, s_T) = log q(z | s_T, s_0) - log nu(z | s_0)         Equation 2
    diayn()   r(s_0, z, s_t) = log q(z | s_t) - log nu(z)                    Equation 3, every step
    lsd()     r(s_0, z, s_T) = <phi(s_T) - phi(s_0), z>, phi 1-Lipschitz     Equation 4
    metra()   r(s, z, s')    = <phi(s') - phi(s), z>, phi 1-Lipschitz in time, every transition
    reach()   r(z, s_T)      = 1 if s_T has value z, else 0                  goal-conditioned

Each formula is written once: tabular learners compile it, networks trace it.
"""

from __future__ import annotations

from typing import Literal

from skillfocus.objectives.objective import (
    Discriminator,
    Objective,
    Representation,
    Reward,
    TemporalRepresentation,
    ValueNumbers,
)


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
