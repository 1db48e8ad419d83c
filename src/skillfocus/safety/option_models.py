"""Exact semi-Markov models of options.

A primitive action is an option of one step. For tasks that continue after their reward is paid,
states are doubled: state s is s before, and n_states + s after. Hidden marks count as not set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array

from skillfocus._internal.memory import require_memory
from skillfocus.core.inaction import noop_action
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.safety.penalized_task import PenalizedTask
from skillfocus.skills.skills import Skills

BYTES_PER_ENTRY = 3 * 12
"""Of three sparse matrices, with a column and a value per entry."""


@dataclass(frozen=True, eq=False)
class OptionModel:
    """One option, from every state; n is the number of states, doubled or not.

    Lists have an element per step i, counted from 0, up to the option's longest duration.
    """

    enters: list[csr_array]
    """[n, n]: probability that step i enters a state."""
    acts: list[csr_array]
    """[n, n * n_actions]: probability that step i takes an action in a state."""
    stops: list[csr_array]
    """[n, n]: probability that the option, but not the episode, ends in the state that step i
    enters."""
    pays: list[np.ndarray]
    """float64 [n]: probability that the reward is paid at step i."""

    @cached_property
    def flows(self) -> list[tuple[csr_array, csr_array]]:
        """`enters` and `stops`, transposed to propagate distributions."""
        pairs = zip(self.enters, self.stops, strict=True)
        return [(csr_array(enters.T), csr_array(stops.T)) for enters, stops in pairs]


def option_models(
    mdp: TabularMDP, penalized: PenalizedTask, skills: Skills | None, primitives: bool = True
) -> list[OptionModel]:
    """Return the models of skills, then of primitive actions.

    Args:
        mdp: The world's MDP.
        penalized: The task, which determines where the reward is paid and whether it ends episodes.
        skills: The skills; None for none.
        primitives: Whether to include the primitive actions.

    Raises:
        UserError: If the skills belong to another world, have modes, or their models do not fit in
            memory, or if there are no options.
    """
    if skills is None and not primitives:
        raise UserError("an agent without skills needs primitives=True")
    if skills is not None and skills.mdp.fingerprint != mdp.fingerprint:
        raise UserError("the skills are for another world than the task: pass skills.mdp")
    builder = _Builder(mdp, penalized)
    models = [] if skills is None else [builder.skill(skills, z) for z in range(len(skills))]
    if primitives:
        models += [builder.primitive(a) for a in range(mdp.n_actions)]
    return models


class _Builder:
    def __init__(self, mdp: TabularMDP, penalized: PenalizedTask) -> None:
        self.mdp, self.penalized = mdp, penalized
        self.n = mdp.n_states * (1 if penalized.task.ends else 2)
        self.entries = 0

    def primitive(self, action: int) -> OptionModel:
        return self.follow(np.full((self.mdp.n_states, 1), action), np.zeros(self.n, int), 1)

    def skill(self, skills: Skills, z: int) -> OptionModel:
        mdp, policy = self.mdp, skills.arrays
        if policy.n_modes[z] != 1:
            raise UserError(
                f"skill {z} has {policy.n_modes[z]} modes; planning needs skills with one"
            )
        part = slice(policy.offsets[z], policy.offsets[z + 1])
        table = policy.actions[part].reshape(mdp.n_states, -1).astype(int)
        contexts = np.tile(policy.contexts[z], self.n // mdp.n_states)
        return self.follow(table, contexts, skills.step_limit)

    def follow(self, table: np.ndarray, contexts: np.ndarray, limit: int) -> OptionModel:
        """Follow a table of actions [n_states, n_contexts] from every state at once."""
        mdp, n, n_actions = self.mdp, self.n, self.mdp.n_actions
        model = OptionModel([], [], [], [])
        first = now = np.arange(n)
        share = np.ones(n)
        idle = table[now % mdp.n_states, contexts] == n_actions
        noop = noop_action(mdp)
        staying = np.flatnonzero(idle) if noop is None else now[:0]
        for step in range(limit):
            action = table[now % mdp.n_states, contexts[first]]
            if step == 0 and noop is not None:
                action = np.where(idle, noop, action)
            going = action < n_actions
            first, now, share, action = first[going], now[going], share[going], action[going]
            model.acts.append(_sparse(first, now * n_actions + action, share, n, n * n_actions))
            first, now, share = self._move(first, now, share, action)
            paid = (now < mdp.n_states) & self.penalized.done[now % mdp.n_states]
            now = np.where(paid, now + n - mdp.n_states, now)
            model.pays.append(np.bincount(first[paid], share[paid], n))
            entered = _sparse(first, now, share, n, n)
            if self.penalized.task.ends:
                first, now, share = first[~paid], now[~paid], share[~paid]
            running = _sparse(first, now, share, n, n).tocoo()
            (first, now), share = running.coords, running.data
            ends = table[now % mdp.n_states, contexts[first]] == n_actions
            ends |= (step == limit - 1) | ((step == 0) & idle[first])
            stopped = _sparse(first[ends], now[ends], share[ends], n, n)
            if step == 0 and len(staying):  # a step without any change
                still = _sparse(staying, staying, np.ones(len(staying)), n, n)
                entered, stopped = csr_array(entered + still), csr_array(stopped + still)
            model.enters.append(entered)
            model.stops.append(stopped)
            first, now, share = first[~ends], now[~ends], share[~ends]
            self._count(entered.nnz)
            if not len(first):
                break
        return model

    def _move(
        self, first: np.ndarray, now: np.ndarray, share: np.ndarray, action: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mdp = self.mdp
        state, half = now % mdp.n_states, now - now % mdp.n_states
        probability = share[:, None] * mdp.probabilities[state, action]
        following = mdp.successors[state, action] + half[:, None]
        possible = probability > 0
        repeated = np.broadcast_to(first[:, None], possible.shape)
        return repeated[possible], following[possible], probability[possible]

    def _count(self, entries: int) -> None:
        self.entries += entries
        require_memory(
            BYTES_PER_ENTRY * self.entries, "models of these skills",
            "learn with learn_penalized instead of planning",
        )  # fmt: skip


def _sparse(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, height: int, width: int
) -> csr_array:
    """Return a sparse matrix; duplicate entries are added."""
    return csr_array(coo_array((values, (rows, columns)), shape=(height, width)))
