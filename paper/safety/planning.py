"""Exact semi-Markov models of options.

A primitive action is an option of one step. For tasks that continue after their reward is paid,
states are doubled: state s is s before, and n_states + s after. Hidden marks count as not set.

Exact planning of penalized tasks, over primitive actions and over skills.

Backward induction over time. With V_t(s) the value of s after t steps, the value of an option that
takes k steps from s is

    Q_t(s, o) = E[ sum over i < k of gamma^i (r_i - beta d_i) + gamma^k V_{t+k}(s_k) ],

computed exactly from its semi-Markov model (`option_models.py`). This holds for every baseline,
because t is known. The value after the end of an episode is 0. A skill that ends at once takes one
no-op step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array

from paper.safety.penalties import PenalizedTask
from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.mdp import TabularMDP, noop_action
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


TIE = 1e-9
"""Tolerance of ties. Ties are broken in favour of the no-op, otherwise uniformly at random."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A time-dependent policy over options."""

    penalized: PenalizedTask
    models: list[OptionModel]
    """The options: skills first, then primitive actions."""
    choices: np.ndarray
    """Optimal options in each state, bool [max_episode_steps, n, n_options]; one of them is chosen
    uniformly. States are doubled if the task continues after its reward is paid."""
    value: float
    """Value of the plan in the task's start."""


def plan(
    mdp: TabularMDP,
    penalized: PenalizedTask,
    skills: Skills | None = None,
    *,
    primitives: bool = True,
    gamma: float = 0.99,
    models: list[OptionModel] | None = None,
) -> Plan:
    """Return the optimal plan for a penalized task.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: The skills; None for primitive actions only.
        primitives: Whether primitive actions are options too.
        gamma: Discount per step.
        models: Result of `option_models` for these, to avoid recomputing it; it does not depend on
            the penalty.

    Raises:
        UserError: If the skills belong to another world, have modes, or are too large.
    """
    models = option_models(mdp, penalized, skills, primitives) if models is None else models
    noop = noop_action(mdp)
    idle = None if noop is None or not primitives else len(models) - mdp.n_actions + noop
    horizon = penalized.task.max_episode_steps
    costs = [_costs(penalized, model, mdp) for model in models]
    n = len(models[0].pays[0])
    values = np.zeros((horizon + 1, n))
    choices = np.empty((horizon, n, len(models)), dtype=bool)
    for t in reversed(range(horizon)):
        worth = np.zeros((n, len(models)))
        for o, model in enumerate(models):
            for i in range(min(len(model.enters), horizon - t)):
                earned = model.pays[i] - costs[o][i][penalized.phases[t + i + 1]]
                worth[:, o] += gamma**i * earned
                if model.stops[i].nnz:
                    worth[:, o] += gamma ** (i + 1) * (model.stops[i] @ values[t + i + 1])
        values[t] = worth.max(axis=1)
        choices[t] = worth > values[t][:, None] - TIE
        if idle is not None:
            alone = choices[t][:, idle].copy()
            choices[t, alone] = False
            choices[t][:, idle] = alone
    return Plan(penalized, models, choices, float(values[0, penalized.task.start]))


def _costs(penalized: PenalizedTask, model: OptionModel, mdp: TabularMDP) -> list[np.ndarray]:
    """Return the expected cost of each step of an option, float64 [n_phases, n] each."""
    acting = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    copies = len(model.pays[0]) // mdp.n_states
    acting = np.tile(acting, (copies, 1)).ravel()
    entering = penalized.strength * np.tile(penalized.entering, copies)
    return [
        np.stack([enters @ phase for phase in entering]) + acts @ acting
        for enters, acts in zip(model.enters, model.acts, strict=True)
    ]
