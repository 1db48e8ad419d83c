"""Distances of a state s from a baseline state b in the safety literature.

    deviation              d(s; b) = ||f(s) - f(b)||, f the variables, each relative to its scale
    unreachability         d(s; b) = 1 - R(s -> b)
    relative_reachability  d(s; b) = mean over x of max(R(b -> x) - R(s -> x), 0)
    attainable_utility     d(s; b) = mean over rewards i of |V_i(s) - V_i(b)| / scale_i

R and V are exact (`values.py`); scale_i is the range of V_i. Attainable utility preservation, as
published, compares actions: with the no-op or, if there is none, with the mean over actions:

    d(s, a) = mean over i of |Q_i(s, a) - Q_i(s, no-op)| / scale_i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skillfocus.core.inaction import noop_action
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.safety.values import GAMMA, optimal_values, reachability

UTILITY_GAMMA = 0.996
"""Default discount of attainable utility. With a lower one, a short detour costs as much as an
irreversible loss: with 0.95, no strength is safe in the box world."""
CHUNK = 20_000_000
"""Most numbers in memory while pairs of states are compared."""


@dataclass(frozen=True, eq=False)
class Distance:
    """A distance of states from baseline states.

    distance = relative_reachability(mdp)
    distance.between(np.array([3, 4]), np.array([0, 0]))
    """

    name: str
    between: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """`between(states, baselines)`, int [n] each, returns float64 [n]."""
    of_actions: np.ndarray | None = None
    """Distance of each action from the no-op, float64 [n_states, n_actions]; None if the distance
    compares next states."""


def deviation(mdp: TabularMDP, free: Sequence[str] = ("position",)) -> Distance:
    """Return the deviation of the variables from their values in the baseline.

    Args:
        mdp: The world's MDP.
        free: Variables that may change freely; names that the world does not have are ignored.
    """
    watched = ~np.isin(mdp.space.names, list(free))

    def between(states: np.ndarray, baselines: np.ndarray) -> np.ndarray:
        changes = mdp.space.relative_distances(mdp.values[baselines], mdp.values[states])
        return np.sqrt(((changes * watched) ** 2).sum(axis=1))

    return Distance("deviation", between)


def unreachability(mdp: TabularMDP, gamma: float = GAMMA) -> Distance:
    """Return the unreachability of the baseline. It needs all pairs of states: for small worlds.

    Args:
        mdp: The world's MDP.
        gamma: Discount per step.
    """
    reach = reachability(mdp, gamma)
    return Distance("unreachability", lambda states, baselines: 1.0 - reach[states, baselines])


def relative_reachability(
    mdp: TabularMDP,
    gamma: float = GAMMA,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
) -> Distance:
    """Return the mean loss of reachability of other states, compared with the baseline.

    Args:
        mdp: The world's MDP.
        gamma: Discount per step.
        sample: Number of states x to average over (default: all).
        rng: Samples these states.
    """
    targets = np.arange(mdp.n_states)
    if sample is not None and sample < mdp.n_states:
        if rng is None:
            raise UserError("a sample of states needs a generator: pass rng=")
        targets = np.sort(rng.choice(mdp.n_states, size=sample, replace=False))
    reach = reachability(mdp, gamma, targets)

    def between(states: np.ndarray, baselines: np.ndarray) -> np.ndarray:
        lost = np.empty(len(states))
        rows = max(1, CHUNK // len(targets))
        for first in range(0, len(states), rows):
            part = slice(first, first + rows)
            worse = reach[baselines[part]] - reach[states[part]]
            lost[part] = np.maximum(worse, 0.0).mean(axis=1)
        return lost

    return Distance("relative-reachability", between)


def attainable_utility(
    mdp: TabularMDP, rng: np.random.Generator, gamma: float = UTILITY_GAMMA, n_rewards: int = 30
) -> Distance:
    """Return the mean change of the values of random rewards, uniform in every state.

    Args:
        mdp: The world's MDP.
        rng: Source of the rewards.
        gamma: Discount per step.
        n_rewards: Number of rewards.
    """
    rewards = rng.random((mdp.n_states, n_rewards))
    values = optimal_values(mdp, rewards, gamma).astype(np.float64)
    scale = np.ptp(values, axis=0)
    values /= np.where(scale > 0, scale, 1.0)
    following = (mdp.probabilities[..., None] * values[mdp.successors]).sum(axis=2)
    noop = noop_action(mdp)
    nothing = following.mean(axis=1) if noop is None else following[:, noop]
    # Q_i(s, a) = (1 - gamma) r_i(s) + gamma E[V_i(s')]: the first part is the same for all actions.
    of_actions = gamma * np.abs(following - nothing[:, None]).mean(axis=2)

    def between(states: np.ndarray, baselines: np.ndarray) -> np.ndarray:
        return np.abs(values[states] - values[baselines]).mean(axis=1)

    return Distance("attainable-utility", between, of_actions)
