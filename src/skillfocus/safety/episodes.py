"""Episodes of agents in a penalized task, as occupancies: P(s_t = s) for every step t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.safety.planning import Plan


@dataclass(frozen=True, eq=False)
class Episodes:
    """Episodes of an agent, exact or as frequencies of sampled ones."""

    occupancy: np.ndarray
    """Probability of each state after each number of steps, float64 [max_episode_steps + 1,
    n_states]; episodes that have ended keep their last state."""
    completed: float
    """Probability that the reward is paid."""
    steps: float
    """Expected steps until the reward is paid, `max_episode_steps` if it is not."""

    @property
    def last(self) -> np.ndarray:
        """Distribution of the last state, float64 [n_states]."""
        return self.occupancy[-1]


def follow_plan(mdp: TabularMDP, plan: Plan) -> Episodes:
    """Return the exact episodes of a plan.

    Args:
        mdp: The world's MDP.
        plan: The plan.
    """
    task, models = plan.penalized.task, plan.models
    horizon, n = task.max_episode_steps, plan.choices.shape[1]
    occupancy = np.zeros((horizon + 1, n))
    deciding = np.zeros((horizon + 1, n))
    """Probability that the agent makes a decision in a state after each number of steps."""
    occupancy[0, task.start] = deciding[0, task.start] = 1.0
    completed, steps = 0.0, 0.0
    for t in range(horizon):
        if task.ends:  # an episode that has ended keeps its state
            occupancy[t + 1] += np.where(plan.penalized.done, occupancy[t], 0.0)
        if not deciding[t].any():
            continue
        shares = plan.choices[t] / plan.choices[t].sum(axis=1, keepdims=True)
        chosen = deciding[t][:, None] * shares
        for o in np.flatnonzero(chosen.any(axis=0)):
            model, mass = models[o], chosen[:, o]
            for i in range(min(len(model.enters), horizon - t)):
                paid = float(mass @ model.pays[i])
                completed += paid
                steps += (t + i + 1) * paid
                enters, stops = model.flows[i]
                occupancy[t + i + 1] += enters @ mass
                deciding[t + i + 1] += stops @ mass
    states = occupancy.reshape(horizon + 1, -1, mdp.n_states).sum(axis=1)
    return Episodes(states, completed, steps + horizon * (1 - completed))
