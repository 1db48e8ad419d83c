"""Claims that are aims of our own, judged by the mean over seeds."""

from __future__ import annotations

from skillfocus.experiments.by_seed import SeedValues, mean_difference, mean_over_seeds
from skillfocus.experiments.claims import Claim, aim_claim


def aim_at_least(name: str, statement: str, aim: float, values: SeedValues) -> Claim:
    """Return the claim that a mean reaches an aim."""
    mean = mean_over_seeds(values)
    return aim_claim(name, statement, aim, mean, mean.estimate >= aim, len(values))


def aim_at_most(name: str, statement: str, aim: float, values: SeedValues) -> Claim:
    """Return the claim that a mean stays within an aim."""
    mean = mean_over_seeds(values)
    return aim_claim(name, statement, aim, mean, mean.estimate <= aim, len(values))


def aim_at_fewer(name: str, statement: str, values: SeedValues, others: SeedValues) -> list[Claim]:
    """Return the claim that the interval of a difference is below 0; none without common seeds."""
    less = mean_difference(values, others)
    if less is None:
        return []
    both = len(values.keys() & others.keys())
    return [aim_claim(name, statement, 0.0, less, less.high < 0, both)]
