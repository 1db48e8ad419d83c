"""What agents do in a penalized task: how likely each state is after each number of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.core.inaction import noop_action
from skillfocus.core.mdp import TabularMDP
from skillfocus.safety.planning import Plan, option_tables
from skillfocus.skills.skills import Skills


@dataclass(frozen=True, eq=False)
class Episodes:
    """The episodes of an agent, as probabilities or as shares of sampled ones."""

    occupancy: np.ndarray
    """float64 [max_episode_steps + 1, n_states]: how likely a state is after each number of steps;
    episodes that have ended stay where they ended."""
    completed: float
    """How likely the reward is paid."""
    steps: float
    """Expected steps until the reward is paid, `max_episode_steps` if it is not."""

    @property
    def last(self) -> np.ndarray:
        """float64 [n_states]: the distribution of the last state."""
        return self.occupancy[-1]


def follow_plan(mdp: TabularMDP, plan: Plan, skills: Skills | None = None) -> Episodes:
    """Return the exact episodes of a plan.

    Args:
        mdp: The world's MDP.
        plan: The plan.
        skills: The skills that it was made with.
    """
    options, task, done = option_tables(mdp, skills), plan.penalized.task, plan.penalized.done
    n, horizon, noop = mdp.n_states, task.max_episode_steps, noop_action(mdp)
    occupancy = np.zeros((horizon + 1, n))
    occupancy[0, task.start] = 1.0
    deciding = np.zeros((2, n))
    """Probability of having to choose, by paid and state."""
    deciding[0, task.start] = 1.0
    running: dict[tuple[int, int], np.ndarray] = {}
    """Probability of being inside a skill, by skill and context: [2, n_states]."""
    ended, completed, steps = np.zeros(n), 0.0, 0.0
    for t in range(horizon):
        later, still_running = np.zeros((2, n)), {}
        moves = np.zeros((2, n, mdp.n_actions))
        shares = plan.choices[t] / plan.choices[t].sum(axis=2, keepdims=True)
        for paid, s, choice in np.argwhere((deciding[..., None] * shares) > 0):
            mass = deciding[paid, s] * shares[paid, s, choice]
            if choice >= len(options):
                moves[paid, s, choice - len(options)] += mass
            elif options[choice].ends_at_once[s] and noop is None:
                later[paid, s] += mass
            elif options[choice].ends_at_once[s]:
                moves[paid, s, noop] += mass
            else:
                key = int(choice), int(options[choice].contexts[s])
                running.setdefault(key, np.zeros((2, n)))[paid, s] += mass
        batches: list[tuple[tuple[int, int] | None, np.ndarray]] = [(None, moves)]
        for (z, c), inside in running.items():
            action = np.minimum(options[z].actions[:, c], mdp.n_actions - 1)
            acting = np.zeros_like(moves)
            acting[:, np.arange(n), action] = inside
            batches.append(((z, c), acting))
        for key, acting in batches:
            after = np.zeros((2, n))
            for paid in range(2):
                flow = acting[paid][:, :, None] * mdp.probabilities
                np.add.at(after[paid], mdp.successors, flow)
            earned = np.where(done, after[0], 0.0)
            after[0] -= earned
            completed += earned.sum()
            steps += (t + 1) * earned.sum()
            if task.ends:
                ended += earned
            else:
                after[1] += earned
            if key is None:
                later += after
            else:
                stops = options[key[0]].terminates[:, key[1]]
                later += after * stops
                if (inside := after * ~stops).any():
                    still_running[key] = inside
        deciding, running = later, still_running
        occupancy[t + 1] = ended + deciding.sum(axis=0)
        for inside in running.values():
            occupancy[t + 1] += inside.sum(axis=0)
    steps += horizon * (1 - completed)
    return Episodes(occupancy, float(completed), float(steps))
