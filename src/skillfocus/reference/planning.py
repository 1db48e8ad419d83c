"""Focused VIC by planning: exact value iteration in turn with moving averages.

    d, pi = focused_vic(mdp, targets=[1, 1, 2, 2], rounds=10, rng=rng)

Each round, every skill's policy is solved for its present reward, from every start; the skills are
run; and what they did updates the discriminators, as in Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.mdp import TabularMDP
from skillfocus.reference.algorithm_1 import hidden_marks, penalty, step, update


def focused_vic(
    mdp: TabularMDP,
    targets: Sequence[int],
    rounds: int,
    rng: np.random.Generator,
    *,
    rollouts: int = 100,
    strength: float = 4.0,
    weight: float = 0.05,
    gamma: float = 0.99,
    max_steps: int = 40,
    d: dict[int, np.ndarray] | None = None,
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Alternate planning and discriminator updates.

    Args:
        mdp: The world.
        targets: Per skill, its target variable.
        rounds: Number of rounds.
        rng: Source of all draws.
        rollouts: Runs of each skill per round.
        strength: lambda.
        weight: Weight of the discriminators' moving averages.
        gamma: Discount.
        max_steps: Most steps of a skill.
        d: Discriminators to begin with, updated in place (default: uniform).

    Returns:
        The policies, an action by skill, start and state [n_skills, n_states, n_states], where
        n_actions terminates; and by target i the probabilities d_i(z^i | s_T^i, s_0^i)
        [n_components, n_values, n_values].
    """
    n, states = mdp.n_states, range(mdp.n_states)
    component = [list(targets[:z]).count(i) for z, i in enumerate(targets)]
    n_sharing = {i: list(targets).count(i) for i in targets}
    if d is None:
        sizes = mdp.space.sizes
        d = {i: np.full((k, sizes[i], sizes[i]), 1.0 / k) for i, k in n_sharing.items()}
    pi = np.zeros((len(targets), n, n), dtype=int)
    for _ in range(rounds):
        for z, i in enumerate(targets):
            for s_0 in states:
                first, values = mdp.values[s_0, i], mdp.values[:, i]
                reward = np.log(d[i][component[z], values, first]) - np.log(1.0 / n_sharing[i])
                reward -= [penalty(mdp, s_0, s, i, strength) for s in states]
                pi[z, s_0] = solve(mdp, reward, gamma)[1]
        for _ in range(rollouts * len(targets)):
            z, s_0 = int(rng.integers(len(targets))), int(rng.integers(n))
            s_t, marks = s_0, hidden_marks(mdp, s_0, rng)
            for _ in range(max_steps):
                if pi[z, s_0, s_t] == mdp.n_actions:
                    break
                s_t = step(mdp, s_t, pi[z, s_0, s_t], marks, rng)
            i = targets[z]
            update(d[i], component[z], mdp.values[s_0, i], mdp.values[s_t, i], weight)
    return pi, d


def solve(
    mdp: TabularMDP,
    reward: np.ndarray,
    gamma: float,
    *,
    costs: np.ndarray | float = 0.0,
    step_share: float = 0.0,
    stop_share: float = 1.0,
    loss_discount: float | None = None,
    tolerance: float = 1e-11,
) -> tuple[np.ndarray, np.ndarray]:
    """Sweep the values of one skill from one start until nothing changes.

        V(s) = max( stop_share r(s), step_share r(s) + later( max_a E[V(s') - cost] ) )

    `later` multiplies gains by gamma, and losses by `loss_discount`: 1 / gamma where the reward is
    earned at the end, since a skill that can only lose would otherwise postpone its end forever.

    Args:
        mdp: The world.
        reward: What terminating in each state earns [n_states].
        gamma: Discount.
        costs: Costs of outcomes, as [n_states, n_actions, n_outcomes].
        step_share: Share of the reward that is earned by passing through a state: 1 - gamma for
            rewards of every step.
        stop_share: Share of the reward that terminating earns.
        loss_discount: Factor of losses (default: 1 / gamma).
        tolerance: Largest change of a value that counts as none.

    Returns:
        The values and the best actions [n_states]; n_actions terminates.
    """
    if loss_discount is None:
        loss_discount = 1.0 / gamma
    stop = stop_share * np.asarray(reward, dtype=float)
    values = stop.copy()
    while True:
        moves = (mdp.probabilities * (values[mdp.successors] - costs)).sum(axis=2)
        best = moves.max(axis=1)
        moving = step_share * reward + np.where(best > 0, gamma, loss_discount) * best
        better = np.maximum(stop, moving)
        if np.abs(better - values).max() < tolerance:
            actions = np.where(moving > stop + tolerance, moves.argmax(axis=1), mdp.n_actions)
            return better, actions
        values = better
