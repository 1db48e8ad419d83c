"""Penalized tasks, planned exactly or learned, over primitive actions and over skills.

A primitive action is an option of one step. For tasks that continue after their reward is paid,
states are doubled: state s is s before, and n_states + s after. Hidden marks count as not set.

Backward induction over time. With V_t(s) the value of s after t steps, the value of an option that
takes k steps from s is

    Q_t(s, o) = E[ sum over i < k of gamma^i (r_i - beta d_i) + gamma^k V_{t+k}(s_k) ],

computed exactly from its semi-Markov model (`option_models`). This holds for every baseline,
because t is known. The value after the end of an episode is 0. A skill that ends at once takes one
no-op step.

Q-learning, like `tasks.solving` with costs: after an option o that took k steps from state s,

    Q(f, p, s, o) += alpha [ sum_i gamma^i (r_i - beta d_i) + gamma^k max_o' Q(f', p', s', o')
                             - Q(f, p, s, o) ]

where f is the phase of the baseline and p whether the reward was paid. Random outcomes of an action
have its expected cost. A truncated episode bootstraps from its last state. With `intra_option`,
every step inside a skill also updates the value of the action it took.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

import skillfocus as sf
from paper.safety.penalties import PenalizedTask
from skillfocus.compilation import njit
from skillfocus.mdp import noop_action
from skillfocus.rollout import draw_context, follow, reset_marks, step
from skillfocus.tasks.solving import Learning, choose, options_of, workspace_of


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
    mdp: sf.TabularMDP, penalized: PenalizedTask, skills: sf.Skills | None, primitives: bool = True
) -> list[OptionModel]:
    """Return the models of skills, then of primitive actions.

    Args:
        mdp: The world's MDP.
        penalized: The task, which determines where the reward is paid and whether it ends episodes.
        skills: The skills, in the same world and without modes; None for none.
        primitives: Whether to include the primitive actions.
    """
    copies = 1 if penalized.task.ends else 2
    models = []
    if skills is not None:
        policy = skills.arrays
        for z in range(len(skills)):
            part = slice(policy.offsets[z], policy.offsets[z + 1])
            table = policy.actions[part].reshape(mdp.n_states, -1).astype(int)
            contexts = np.tile(policy.contexts[z], copies)
            models.append(_model(mdp, penalized, table, contexts, skills.step_limit))
    context = np.zeros(copies * mdp.n_states, int)
    for action in range(mdp.n_actions if primitives else 0):
        table = np.full((mdp.n_states, 1), action)
        models.append(_model(mdp, penalized, table, context, limit=1))
    return models


def _model(
    mdp: sf.TabularMDP,
    penalized: PenalizedTask,
    table: np.ndarray,
    contexts: np.ndarray,
    limit: int,
) -> OptionModel:
    """Follow a table of actions [n_states, n_contexts] from every state at once.

    Three arrays have an entry per path so far: its first state, its present one and its share.
    """
    n, n_actions, noop = len(contexts), mdp.n_actions, noop_action(mdp)
    model = OptionModel([], [], [], [])
    first = now = np.arange(n)
    share = np.ones(n)
    idle = table[now % mdp.n_states, contexts] == n_actions
    staying = np.flatnonzero(idle) if noop is None else now[:0]
    for i in range(limit):
        action = table[now % mdp.n_states, contexts[first]]
        if i == 0 and noop is not None:
            action = np.where(idle, noop, action)
        going = action < n_actions
        first, now, share, action = first[going], now[going], share[going], action[going]
        model.acts.append(_sparse(first, now * n_actions + action, share, n, n * n_actions))
        state = now % mdp.n_states
        outcomes = share[:, None] * mdp.probabilities[state, action]
        following = mdp.successors[state, action] + (now - state)[:, None]
        possible = outcomes > 0
        first = np.broadcast_to(first[:, None], possible.shape)[possible]
        now, share = following[possible], outcomes[possible]
        paid = (now < mdp.n_states) & penalized.done[now % mdp.n_states]
        now = np.where(paid, now + n - mdp.n_states, now)
        model.pays.append(np.bincount(first[paid], share[paid], n))
        entered = _sparse(first, now, share, n, n)
        if penalized.task.ends:
            first, now, share = first[~paid], now[~paid], share[~paid]
        running = _sparse(first, now, share, n, n).tocoo()
        (first, now), share = running.coords, running.data
        ends = table[now % mdp.n_states, contexts[first]] == n_actions
        ends |= (i == limit - 1) | ((i == 0) & idle[first])
        stopped = _sparse(first[ends], now[ends], share[ends], n, n)
        if i == 0 and len(staying):  # a step without any change
            still = _sparse(staying, staying, np.ones(len(staying)), n, n)
            entered, stopped = csr_array(entered + still), csr_array(stopped + still)
        model.enters.append(entered)
        model.stops.append(stopped)
        first, now, share = first[~ends], now[~ends], share[~ends]
        if not len(first):
            break
    return model


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
    mdp: sf.TabularMDP,
    penalized: PenalizedTask,
    skills: sf.Skills | None = None,
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


def _costs(penalized: PenalizedTask, model: OptionModel, mdp: sf.TabularMDP) -> list[np.ndarray]:
    """Return the expected cost of each step of an option, float64 [n_phases, n] each."""
    acting = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    copies = len(model.pays[0]) // mdp.n_states
    acting = np.tile(acting, (copies, 1)).ravel()
    entering = penalized.strength * np.tile(penalized.entering, copies)
    return [
        np.stack([enters @ phase for phase in entering]) + acts @ acting
        for enters, acts in zip(model.enters, model.acts, strict=True)
    ]


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


def follow_plan(mdp: sf.TabularMDP, plan: Plan) -> Episodes:
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


# -------------------------------------------------------------------- Q-learning


class PenalizedArrays(NamedTuple):
    """A penalized task as arrays for the kernel."""

    start: int
    max_episode_steps: int
    ends: bool
    done: np.ndarray
    """States in which the reward is paid, bool [n_states]."""
    interrupts: np.ndarray
    """States in which a skill is interrupted, bool [n_states]."""
    entering: np.ndarray
    """Cost of entering a state, times the strength, float64 [n_phases, n_states]."""
    acting: np.ndarray
    """Expected cost of an action, times the strength, float64 [n_states, n_actions]."""
    phases: np.ndarray
    """int64 [max_episode_steps + 1]"""
    noop: int
    """The no-op action, -1 if there is none."""


def learn_penalized(
    mdp: sf.TabularMDP,
    penalized: PenalizedTask,
    skills: sf.Skills | None = None,
    *,
    seed: int,
    settings: sf.SMDPQLearning | None = None,
    runs: int = 200,
) -> tuple[np.ndarray, Episodes]:
    """Learn a penalized task, and sample episodes of the greedy policy.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: Skills, in addition to primitive actions.
        seed: Equal seeds give equal results.
        settings: Episodes, step size, discount, exploration and `intra_option`; the others are
            ignored.
        runs: Sampled episodes of the greedy policy.

    Returns:
        Values by phase, paid, state and option, float64 [n_phases, 2, n_states, n_options], and
        the sampled episodes.
    """
    settings = settings or sf.SMDPQLearning()
    task = penalized.task
    options = options_of(mdp, skills)
    workspace = workspace_of(mdp, options)
    noop = noop_action(mdp)
    moving = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    arrays = PenalizedArrays(
        task.start, task.max_episode_steps, task.ends, penalized.done,
        penalized.done if task.ends else np.zeros_like(penalized.done),
        penalized.strength * penalized.entering, moving, penalized.phases,
        -1 if noop is None else noop,
    )  # fmt: skip
    n_options = (0 if skills is None else len(skills)) + mdp.n_actions
    q = np.zeros((len(penalized.entering), 2, mdp.n_states, n_options))
    train_rng, test_rng = np.random.default_rng(seed).spawn(2)
    path = np.zeros(task.max_episode_steps + 1, np.int32)
    for n in range(settings.episodes):
        alpha = settings.alpha * np.exp(-settings.alpha_decay * n)
        epsilon = float(np.exp(-settings.epsilon_decay * n))
        pace = Learning(True, alpha, settings.gamma, epsilon, settings.intra_option)
        _episode(options, arrays, q, pace, workspace, train_rng, path)
    occupancy, completed, steps = np.zeros((len(path), mdp.n_states)), 0, 0
    greedy = Learning(gamma=settings.gamma)
    for _ in range(runs):
        when = _episode(options, arrays, q, greedy, workspace, test_rng, path)
        np.add.at(occupancy, (np.arange(len(path)), path), 1.0 / runs)
        completed += when >= 0
        steps += when if when >= 0 else task.max_episode_steps
    return q, Episodes(occupancy, completed / runs, steps / runs)


@njit(cache=True, nogil=True)
def _episode(options, task, q, learning, workspace, rng, visited):
    """Run one episode; update `q` if `learning.active`.

    Args:
        options: `Options`.
        task: `PenalizedArrays`.
        q: float64 [n_phases, 2, n_states, n_options]; updated.
        learning: `Learning`, whose ties are broken at random.
        workspace: `Workspace`.
        rng: Generator.
        visited: int32 [max_episode_steps + 1]; filled with the states, the last one repeated.

    Returns:
        The step at which the reward was paid, -1 if it was not.
    """
    mdp, policy, step_limit = options
    n_skills = policy.n_modes.shape[0]
    start, max_steps, ends, done, interrupts, entering, acting, phases, noop = task
    alpha, gamma, epsilon = learning.alpha, learning.gamma, learning.epsilon
    marked, path, actions = workspace
    s = np.int64(start)
    reset_marks(mdp.marks_in, s, marked, rng)
    t, paid, when = 0, 0, -1
    visited[0] = s
    while t < max_steps:
        values = q[phases[t], paid, s]
        if rng.random() < epsilon:
            o = int(rng.random() * values.shape[0])
        else:
            o = choose(values, False, rng)
        if o < n_skills:
            limit = min(step_limit, max_steps - t)
            context = draw_context(policy, o, s, rng)
            k = follow(mdp, policy, o, s, context, limit, interrupts, marked, rng, path, actions)
        else:
            k = 0
        if k == 0 and (
            o >= n_skills or noop >= 0
        ):  # a primitive action, or a no-op for a skill that ends at once
            actions[0] = o - n_skills if o >= n_skills else noop
            path[0] = s
            path[1], _ = step(mdp, s, actions[0], marked, rng)
            k = 1
        target, discount, was_paid, was_at = 0.0, 1.0, paid, t
        over = False
        for i in range(k):
            t += 1
            following = path[i + 1]
            visited[t] = following
            earned = -acting[path[i], actions[i]] - entering[phases[t], following]
            before = paid
            if done[following] and paid == 0:
                earned += 1.0
                paid = 1
                when = t
                over = ends
            target += discount * earned
            discount *= gamma
            if learning.active and learning.intra_option and o < n_skills:
                # The skill does not depend on q, so its steps can be replayed after it has ended.
                later = 0.0 if over else gamma * q[phases[t], paid, following].max()
                row = q[phases[t - 1], before, path[i]]
                row[n_skills + actions[i]] += alpha * (earned + later - row[n_skills + actions[i]])
        if k == 0:  # a skill ended at once, and there is no no-op: the state stays as it is
            t += 1
            visited[t] = s
            target -= entering[phases[t], s]
            discount *= gamma
        following = np.int64(path[k])
        if learning.active:
            if not over:
                target += discount * q[phases[t], paid, following].max()
            q[phases[was_at], was_paid, s, o] += alpha * (target - values[o])
        s = following
        if over:
            break
    visited[t:] = s
    return when
