"""Algorithm 1, Focused Variational Intrinsic Control, by tabular Q-learning.

The lines stand in the paper's order, under its comments, with its symbols and the appendix's
settings. Nothing is added, nothing is fast: read it beside the paper.

    mdp = sf.tabulate(sf.make("four-rooms"))
    q, d = focused_vic(mdp, targets=[1, 1, 2, 2], mu=[0], episodes=1000, rng=rng)

What the paper leaves open: mu and epsilon are arguments; a policy sees (s_0, s_t), since its reward
compares s_T with s_0 (Definition 2 lets policies depend on the history); nu is uniform and fixed
(appendix) over the skills that share a target; terminating is an action, tried like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.mdp import TabularMDP

SMALLEST = 1e-4
"""A discriminator's smallest probability, so that its logarithm is finite."""


def focused_vic(
    mdp: TabularMDP,
    targets: Sequence[int],
    mu: Sequence[int],
    episodes: int,
    rng: np.random.Generator,
    *,
    strength: float = 4.0,
    weight: float = 0.7,
    alpha: float = 0.1,
    kappa: float = 0.0005,
    gamma: float = 0.99,
    epsilon: float = 0.1,
    max_steps: int = 40,
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Run Algorithm 1.

    Args:
        mdp: The world.
        targets: Per skill, its target variable: V_z = {targets[z]}.
        mu: States to start in, with equal probability.
        episodes: Number M of episodes.
        rng: Source of all draws.
        strength: lambda.
        weight: Weight of the discriminators' moving averages.
        alpha: Q-learning rate at first.
        kappa: Decay of the rate per episode of a skill.
        gamma: Discount.
        epsilon: Probability of a random action.
        max_steps: Most steps of a skill.

    Returns:
        Q-values [n_skills, n_starts, n_states, n_actions + 1], whose last action terminates, and by
        target i the probabilities d_i(z^i | s_T^i, s_0^i) [n_components, n_values, n_values].
    """
    n_skills, terminate = len(targets), mdp.n_actions
    component = [list(targets[:z]).count(i) for z, i in enumerate(targets)]  # z^i
    n_sharing = {i: list(targets).count(i) for i in targets}
    sizes = mdp.space.sizes
    d = {i: np.full((n, sizes[i], sizes[i]), 1.0 / n) for i, n in n_sharing.items()}
    q = np.zeros((n_skills, len(mu), mdp.n_states, terminate + 1))
    counts = np.zeros(n_skills)
    for _ in range(episodes):
        # Sample s_0 from the initial state distribution mu
        start = int(rng.integers(len(mu)))
        # Sample skill z from nu(. | s_0)
        z = int(rng.integers(n_skills))
        i, k = targets[z], component[z]
        # Follow policy pi_z until termination state s_T
        rate = alpha * np.exp(-kappa * counts[z])
        s_0 = mu[start]
        s_t = follow(mdp, q[z, start], s_0, rate, gamma, epsilon, max_steps, rng)
        # for i in V_z: update the skill discriminator d_i from (s_0^i, z^i, s_T^i)
        first, last = mdp.values[s_0, i], mdp.values[s_t, i]
        update(d[i], k, first, last, weight)
        # Calculate the reward r_focused-VIC(s_0, z, s_T), Equation 6 (Equation 5 for VIC)
        reward = np.log(d[i][k, last, first]) - np.log(1.0 / n_sharing[i])
        reward -= penalty(mdp, s_0, s_t, i, strength)
        # Update pi_z to maximize r_focused-VIC: it is earned by terminating in s_T
        q[z, start, s_t, terminate] += rate * (reward - q[z, start, s_t, terminate])
        # Update option prior nu: held constant (appendix)
        counts[z] += 1
    return q, d


def follow(
    mdp: TabularMDP,
    q: np.ndarray,
    s_0: int,
    rate: float,
    gamma: float,
    epsilon: float,
    max_steps: int,
    rng: np.random.Generator,
) -> int:
    """Follow an epsilon-greedy policy until it terminates, and update its Q-values [n_states,
    n_actions + 1] on the way, where no move pays; return s_T."""
    s, terminate, marks = s_0, mdp.n_actions, hidden_marks(mdp, s_0, rng)
    for _ in range(max_steps):
        a = int(rng.random() * (terminate + 1)) if rng.random() < epsilon else greedy(q[s])
        if a == terminate:
            break
        following = step(mdp, s, a, marks, rng)
        q[s, a] += rate * (gamma * q[following].max() - q[s, a])
        s = following
    return s


def greedy(values: np.ndarray) -> int:
    """Return the best action; to terminate, the last one, if none is better."""
    return int(values.argmax()) if values.max() > values[-1] else len(values) - 1


def update(d: np.ndarray, k: int, first: int, last: int, weight: float) -> None:
    """Move d(. | last, first) towards component k by an exponentially weighted moving average."""
    d[:, last, first] *= 1.0 - weight
    d[k, last, first] += weight
    np.maximum(d[:, last, first], SMALLEST, out=d[:, last, first])


def penalty(mdp: TabularMDP, s_0: int, s_t: int, target: int, strength: float) -> float:
    """Return the weighted 2-norm of the changes of non-target variables, each relative to the
    largest distance between two of its values."""
    changes = mdp.space.change(mdp.values[[s_0]], mdp.values[[s_t]])[0]
    changes[target] = 0.0
    return strength * float(np.sqrt((changes**2).sum()))


def hidden_marks(mdp: TabularMDP, s: int, rng: np.random.Generator) -> set[int]:
    """Draw which of the world's hidden marks are set in a state, which says only how many are."""
    marks: set[int] = set()
    while len(marks) < mdp.marks_in[s]:
        marks.add(int(rng.random() * mdp.n_marks))
    return marks


def step(mdp: TabularMDP, s: int, a: int, marks: set[int], rng: np.random.Generator) -> int:
    """Draw what follows state and action."""
    m = int(np.argmax(rng.random() < mdp.cumulative[s, a]))
    mark = int(mdp.marks[s, a, m])
    known = mark in marks
    if mark >= 0:
        marks.add(mark)
    return int((mdp.again if known else mdp.successors)[s, a, m])
