"""Penalized tasks: a task's reward minus a cost of side effects.

    r - beta d(s'; b)    for every step into a state s', with b the baseline state

The baseline `start` is the first state, `inaction` the state after as many no-op steps (if that is
random, in expectation), and `stepwise` the outcome of the no-op in the previous state. Agents over
primitive actions and over skills share a `PenalizedTask`, planned (`planning.py`) or learned
(`q_learning.py`); a skill pays for each of its steps. Distances d of the safety literature:

    deviation              d(s; b) = ||f(s) - f(b)||, f the variables, each relative to its scale
    unreachability         d(s; b) = 1 - R(s -> b)
    relative_reachability  d(s; b) = mean over x of max(R(b -> x) - R(s -> x), 0)
    attainable_utility     d(s; b) = mean over rewards i of |V_i(s) - V_i(b)| / scale_i

Attainable utility preservation, as published, compares actions: with the no-op or, if there is
none, with the mean over actions:

    d(s, a) = mean over i of |Q_i(s, a) - Q_i(s, no-op)| / scale_i

R and V are exact, and scale_i is the range of V_i:

    reachability    R(x -> y) = max over policies of E[gamma^steps until y], 0 if never
    optimal_values  V(s) = (1 - gamma) r(s) + gamma max_a E[V(s')], in [0, 1] for r in [0, 1]

Both use value iteration with the planner's kernel, one column per target or reward. Hidden marks
count as not set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skillfocus.learners.planning.learner import BLOCK
from skillfocus.learners.planning.sweeps import Backup, new_stamps, sweep
from skillfocus.mdp import TabularMDP, after_inaction, inaction, noop_action
from skillfocus.tasks.task import Task

GAMMA = 0.95
"""Default discount of values that penalties and measures compare."""
TOLERANCE = 1e-6
"""Value iteration stops when no value changes by more."""


def reachability(
    mdp: TabularMDP, gamma: float = GAMMA, targets: np.ndarray | None = None
) -> np.ndarray:
    """Return the reachability of target states from every state.

    Args:
        mdp: The world's MDP.
        gamma: Discount per step, above 0 and below 1.
        targets: The states y, int [n_targets] (default: all, with memory quadratic in the number of
            states).

    Returns:
        R(x -> y) = max over policies of E[gamma^steps], float32 [n_states, n_targets].
    """
    targets = np.arange(mdp.n_states) if targets is None else targets
    there = np.zeros((mdp.n_states, len(targets)), dtype=np.float32)
    there[targets, np.arange(len(targets))] = 1.0
    return _solve(mdp, there, gamma, earned=0.0)


def optimal_values(mdp: TabularMDP, rewards: np.ndarray, gamma: float = GAMMA) -> np.ndarray:
    """Return the optimal values of state rewards, normalized by 1 - gamma.

    Args:
        mdp: The world's MDP.
        rewards: [n_states, n_rewards], 0 or more.
        gamma: Discount per step, above 0 and below 1.

    Returns:
        V(s) = (1 - gamma) r(s) + gamma max_a E[V(s')], float32 [n_states, n_rewards].
    """
    return _solve(mdp, rewards.astype(np.float32), gamma, earned=1 - gamma)


def _solve(mdp: TabularMDP, columns: np.ndarray, gamma: float, earned: float) -> np.ndarray:
    """Solve v = max(k stop, e stop + gamma max_a E[v]) with e = `earned`, and k = e or, if 0, 1.

    `columns` holds stop for every problem, and then the values.
    """
    padding = ((0, 0), (0, 0), (0, -mdp.successors.shape[2] % 4))
    backup = Backup(
        np.ascontiguousarray(np.pad(mdp.successors, padding)),
        np.pad(mdp.probabilities, padding).astype(np.float32),
        np.zeros(mdp.successors.shape[:2], dtype=np.float32),
        np.float32(gamma), np.float32(gamma), np.float32(earned), np.float32(earned or 1.0),
    )  # fmt: skip
    for first in range(0, columns.shape[1], BLOCK):
        block = columns[:, first : first + BLOCK]
        stop = np.ascontiguousarray(block)
        values = np.float32(earned or 1.0) * stop
        number, n, stamps = 0, len(values), new_stamps(len(values))
        while sweep(values, stop, backup, number % 2 == 1, stamps, number * n) > TOLERANCE:
            number += 1
        block[:] = values
    return columns


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
        changes = mdp.space.change(mdp.values[baselines], mdp.values[states])
        return np.sqrt(((changes * watched) ** 2).sum(axis=1))

    return Distance(between)


def unreachability(mdp: TabularMDP, gamma: float = GAMMA) -> Distance:
    """Return the unreachability of the baseline. It needs all pairs of states: for small worlds.

    Args:
        mdp: The world's MDP.
        gamma: Discount per step.
    """
    reach = reachability(mdp, gamma)
    return Distance(lambda states, baselines: 1.0 - reach[states, baselines])


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
    if sample is not None and rng is not None and sample < mdp.n_states:
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

    return Distance(between)


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

    return Distance(between, of_actions)


@dataclass(frozen=True, eq=False)
class PenalizedTask:
    """A task with the costs of its steps; made by `penalize`.

    Costs depend on time through *phases*: sets of time steps with the same baseline.
    """

    task: Task
    done: np.ndarray
    """States in which the reward, 1, is paid, bool [n_states]."""
    strength: float
    """Factor beta of the costs."""
    entering: np.ndarray
    """Cost of entering a state in a phase, float64 [n_phases, n_states]."""
    moving: np.ndarray
    """Cost of an outcome of an action, float64 [n_states, n_actions, n_outcomes]."""
    phases: np.ndarray
    """Phase after each number of steps, int64 [max_episode_steps + 1]."""


def penalize(
    mdp: TabularMDP,
    task: Task,
    distance: Distance | None = None,
    baseline: str = "start",
    strength: float = 1.0,
    reward: str = "proxy",
) -> PenalizedTask:
    """Return a task with a penalty on side effects.

    Args:
        mdp: The world's MDP.
        task: The task.
        distance: The distance from the baseline; None for no penalty.
        baseline: "start", "inaction" or "stepwise".
        strength: Factor beta.
        reward: The reward to penalize, "true" or "proxy".
    """
    entering = np.zeros((1, mdp.n_states))
    moving = np.zeros(mdp.successors.shape)
    phases = np.zeros(task.max_episode_steps + 1, dtype=np.int64)
    if distance is None:
        pass
    elif baseline == "stepwise":
        moving = _stepwise(mdp, distance)
    else:
        steps = task.max_episode_steps if baseline == "inaction" else 0
        baselines, following = np.unique(
            after_inaction(mdp, task.start, steps), axis=0, return_inverse=True
        )
        phases[: steps + 1] = following.reshape(-1)
        everywhere = np.arange(mdp.n_states)
        entering = np.zeros((len(baselines), mdp.n_states))
        for phase, b in np.argwhere(baselines):
            apart = distance.between(everywhere, np.full(mdp.n_states, b))
            entering[phase] += baselines[phase, b] * apart
    return PenalizedTask(task, task.reward(reward), strength, entering, moving, phases)


def _stepwise(mdp: TabularMDP, distance: Distance) -> np.ndarray:
    """Return the distance of each outcome from that of the no-op, shaped like `moving`."""
    shape = mdp.successors.shape
    if distance.of_actions is not None:
        return np.broadcast_to(distance.of_actions[:, :, None], shape).copy()
    successors, probabilities = inaction(mdp)
    costs = np.zeros(shape)
    for slot in range(successors.shape[1]):
        baselines = np.broadcast_to(successors[:, slot, None, None], shape)
        each = distance.between(mdp.successors.ravel(), baselines.ravel()).reshape(shape)
        costs += probabilities[:, slot, None, None] * each
    return costs
