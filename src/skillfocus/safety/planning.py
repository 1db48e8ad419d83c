"""Exact planning of penalized tasks, over primitive actions and over skills.

Backward induction over the steps left. With V_t(s, p) the value after t steps, where p says whether
the reward has been paid, an action is worth

    Q_t(s, p, a) = E[ r - beta d_t + gamma V_{t+1}(s', p') ],

nothing follows the end of an episode, and a skill is worth what its own actions are worth until it
ends and V takes over: W_t(s, c) = V_t(s) where it ends, E[r - beta d_t + gamma W_{t+1}(s', c)]
elsewhere, c its context. A skill that ends at once costs one step without acting. The plan
is exact for every baseline, since the steps taken so far are known. Hidden marks count as not set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus._internal.memory import require_memory
from skillfocus.core.inaction import noop_action
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.safety.penalized_task import PenalizedTask
from skillfocus.skills.skills import Skills

TIE = 1e-9
"""Values that differ by less are equal. Of equally good choices doing nothing is taken, if it is
one of them, and otherwise each with the same probability."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What an agent does after each number of steps."""

    penalized: PenalizedTask
    choices: np.ndarray
    """bool [max_episode_steps, 2, n_states, n_options]: the options taken (skills first, then
    actions), before and after the reward was paid; several are equally likely."""
    value: float
    """What the plan is worth from the task's start."""


class OptionTable:
    """One skill as arrays: its action by state and context, and the context of each start."""

    def __init__(self, mdp: TabularMDP, skills: Skills, z: int) -> None:
        policy = skills.arrays
        if policy.n_modes[z] != 1:
            raise UserError(f"skill {z} has {policy.n_modes[z]} modes; plan with skills of one")
        part = slice(policy.offsets[z], policy.offsets[z + 1])
        table = policy.actions[part].reshape(mdp.n_states, -1)
        # Contexts that no start has need no values.
        used, self.contexts = np.unique(policy.contexts[z], return_inverse=True)
        self.actions = table[:, used].astype(np.int64)
        self.terminates = self.actions == mdp.n_actions
        """bool [n_states, n_contexts]"""
        self.ends_at_once = self.terminates[np.arange(mdp.n_states), self.contexts]
        """bool [n_states]"""


def plan(
    mdp: TabularMDP, penalized: PenalizedTask, skills: Skills | None = None, gamma: float = 0.99
) -> Plan:
    """Return the best plan for a penalized task.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: Skills to choose among, beside the primitive actions; None for the actions alone.
        gamma: Discount per step.

    Raises:
        UserError: If the skills belong to another world, have modes, or are too many.
    """
    options = option_tables(mdp, skills)
    n, horizon = mdp.n_states, penalized.task.max_episode_steps
    noop = noop_action(mdp)
    costs = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    values = np.zeros((2, n))
    inside = [np.zeros((2, *option.actions.shape)) for option in options]
    choices = np.empty((horizon, 2, n, len(options) + mdp.n_actions), dtype=bool)
    for t in reversed(range(horizon)):
        gain = _gain(penalized, t, values, gamma)
        worth = (mdp.probabilities * gain[:, mdp.successors]).sum(axis=3) - costs
        idling = gamma * values if noop is None else worth[..., noop]
        for z in reversed(range(len(options))):
            option = options[z]
            inside[z] = _inside(mdp, option, _gain(penalized, t, inside[z], gamma), costs)
            begun = inside[z][:, np.arange(n), option.contexts]
            begun = np.where(option.ends_at_once, idling, begun)
            worth = np.concatenate([begun[:, :, None], worth], axis=2)
        best = worth.max(axis=2)
        choices[t] = worth > best[..., None] - TIE
        if noop is not None:
            idle = choices[t, ..., len(options) + noop].copy()
            choices[t, idle] = False
            choices[t, ..., len(options) + noop] = idle
        values = best
        for option, within in zip(options, inside, strict=True):
            np.copyto(within, values[:, :, None], where=option.terminates)
    return Plan(penalized, choices, float(values[0, penalized.task.start]))


def option_tables(mdp: TabularMDP, skills: Skills | None) -> list[OptionTable]:
    """Return the skills as arrays.

    Raises:
        UserError: If they belong to another world, have modes, or are too many.
    """
    if skills is None:
        return []
    if skills.mdp.fingerprint != mdp.fingerprint:
        raise UserError("the skills are for another world than the task: pass skills.mdp")
    options = [OptionTable(mdp, skills, z) for z in range(len(skills))]
    size = sum(option.actions.size for option in options)
    require_memory(8 * 5 * size, "plans over these skills", "learn with safety.q_learning instead")
    return options


def _gain(penalized: PenalizedTask, t: int, values: np.ndarray, gamma: float) -> np.ndarray:
    """Return what entering a state with step t + 1 is worth.

    Args:
        penalized: The task.
        t: Steps taken before.
        values: [2, n_states] or [2, n_states, n_contexts]: what follows, by paid.
        gamma: Discount per step.
    """
    shape = (-1,) + (1,) * (values.ndim - 2)
    cost = penalized.strength * penalized.entering[penalized.phases[t + 1]].reshape(shape)
    later = 0.0 if penalized.task.ends else gamma * values[1]
    unpaid = np.where(penalized.done.reshape(shape), 1.0 + later, gamma * values[0])
    return np.stack([unpaid, gamma * values[1]]) - cost


def _inside(
    mdp: TabularMDP, option: OptionTable, gain: np.ndarray, costs: np.ndarray
) -> np.ndarray:
    """Return what the next action of a skill is worth, float64 [2, n_states, n_contexts].

    Where the skill ends, the numbers have no meaning.
    """
    n, width = option.actions.shape
    rows, columns = np.arange(n)[:, None], np.arange(width)
    action = np.minimum(option.actions, mdp.n_actions - 1)
    total = np.zeros((2, n, width))
    for slot in range(mdp.successors.shape[2]):
        following = mdp.successors[rows, action, slot]
        total += mdp.probabilities[rows, action, slot] * gain[:, following, columns]
    return total - costs[rows, action]
