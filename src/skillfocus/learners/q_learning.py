"""Tabular Q-learning of skills, as the paper has it, with what it takes to make it learn.

A skill's values q[s, a, c] over state, action (the last one terminates) and context c are moved
towards

    q(s, a, c) <- e T(s, c) + gamma [max_a' q(s', a', c) - cost],    q(s, terminate, c) <- T(s, c)

with T the skill's reward and e as in `planning`. Episodes follow Algorithm 1, except that the
reward is computed before the discriminator update (after an update with weight 0.7 almost every
outcome looks like success), and that skills take turns in blocks of episodes. `docs/q-learning.md`
says what each switch below does for learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import typeof, types

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import ROW_POINTER, UPDATE_POINTER, compiled_update
from skillfocus.learners.planning.learner import (
    MAX_GAMMA,
    JoinedParts,
    check_gamma,
    step_share_of,
)
from skillfocus.learners.planning.problem import TabularProblem, tabular_problem
from skillfocus.learners.planning.rewards import (
    Params,
    check_rewards,
    reward_row,
    skill_prior,
)
from skillfocus.learners.problem import Learned, Learner, Problem
from skillfocus.machine import require_memory
from skillfocus.progress import Progress
from skillfocus.rollout import MDPArrays, mdp_arrays, reset_marks, step
from skillfocus.skills.policy import Packer

# --------------------
#
# The kernel of Q-learning: episodes of one skill, for any number of contexts at once


class TermArrays(NamedTuple):
    """One summand of the skill's reward.

    Attributes:
        params: float32, three dimensions: the estimator's parameters.
        coordinates: float64 [n_values, n_dimensions].
        component: The skill's component in the group.
        weight: Factor of the summand.
        start_in_context: uint32 [n_contexts], the start's number in each context.
        value_of: int32 [n_states], the number of each state's value.
        start_of: int32 [n_states], the number of each state as a start.
        every_start: uint32 [n_starts], 0, 1, 2, …
    """

    params: np.ndarray
    coordinates: np.ndarray
    component: int
    weight: float
    start_in_context: np.ndarray
    value_of: np.ndarray
    start_of: np.ndarray
    every_start: np.ndarray


class SkillArrays(NamedTuple):
    """What episodes need of the MDP and of one skill.

    Attributes:
        mdp: The MDP.
        terms: Summands of the reward.
        contexts: int32 [n_states], the context of a start.
        starts: int64 [n_starts], states that episodes may start in.
        event_cost: float32 [n_states, n_actions, n_outcomes], penalties of lasting changes.
        bonus: float32 [n_now, n_contexts], minus the penalty of changes that can be undone.
        penalty_now: int32 [n_states], the row of `bonus` of each state.
        penalty: float32 [n_now, n_then], the same penalty for skills that do not see their context.
        step_limit: Most steps of an episode.
        n_marks: How many hidden marks the world has.
    """

    mdp: MDPArrays
    terms: tuple[TermArrays, ...]
    contexts: np.ndarray
    starts: np.ndarray
    event_cost: np.ndarray
    bonus: np.ndarray
    penalty_now: np.ndarray
    penalty: np.ndarray
    step_limit: int
    n_marks: int


class KernelSettings(NamedTuple):
    """Settings of the kernel; see `QLearning`."""

    gamma: np.float32
    step_share: np.float32
    rate: float
    epsilon: float
    greedy_share: float
    at_steps: bool
    """Whether the reward is earned in every state on the way."""
    on_transitions: bool
    """Whether the reward is earned on every move."""
    uses_context: bool
    hindsight: bool
    explore_without_stopping: bool
    update_on_greedy_only: bool
    all_stop_values: bool
    update_first: bool


# Loops over contexts count from 0 over slices, and look-ups use unsigned numbers: the compiler then
# knows that no index is negative, and only then does it vectorise.


@njit(cache=True, nogil=True)
def add_gathered(out, base, table, index, weight):
    """out = base + weight * table[index]"""
    for c in range(out.shape[0]):
        out[c] = base[c] + weight * table[index[c]]


@njit(nogil=True)
def state_values(row, terms, on_transitions, bonus, s, low, high, scratch, out):
    """out[c] = T(s, c) (Equation 5) for the contexts low <= c < high; `bonus` is minus the penalty
    of s."""
    out, base = out[low:high], bonus[low:high]
    if on_transitions:
        out[:] = base
        return
    for term in terms:
        columns = term.start_in_context[low:high]
        starts = columns if high - low == 1 else term.every_start
        value = term.value_of[s]
        row(term.params, term.coordinates, term.component, value, starts, scratch)
        add_gathered(out, base, scratch, columns, np.float32(term.weight))
        base = out


@njit(nogil=True)
def transition_value(row, terms, s, following, scratch):
    """Return the reward of moving from s to the state that followed."""
    total = np.float32(0.0)
    start = np.empty(1, np.uint32)
    for term in terms:
        start[0] = term.start_of[s]
        value = term.value_of[following]
        row(term.params, term.coordinates, term.component, value, start, scratch)
        total += np.float32(term.weight) * scratch[start[0]]
    return total


@njit(cache=True, nogil=True)
def improve(values, following, here, step_share, gamma, cost, step_size, low, high, best):
    """Move the values of one state and action towards their targets, given all the values of the
    state that followed."""
    values, here = values[low:high], here[low:high]
    first, second = following[0, low:high], following[1, low:high]
    for c in range(values.shape[0]):
        best[c] = max(first[c], second[c])
    for a in range(2, following.shape[0]):
        row = following[a, low:high]
        for c in range(values.shape[0]):
            best[c] = max(best[c], row[c])
    for c in range(values.shape[0]):
        values[c] += step_size * (step_share * here[c] + gamma * (best[c] - cost) - values[c])


@njit(cache=True, nogil=True)
def best_action(values, c):
    """Return the greedy action; terminate on ties."""
    choice = values.shape[0] - 1
    for a in range(values.shape[0] - 1):
        if values[a, c] > values[choice, c]:
            choice = a
    return choice


@njit(nogil=True)
def update_terms(update, terms, path, steps, limit, settings):
    """Update the estimates from one episode: its last state, its states, or its transitions."""
    for term in terms:
        if settings.on_transitions:
            for t in range(steps):
                start, value = term.start_of[path[t]], term.value_of[path[t + 1]]
                update(term.params, term.coordinates, term.component, start, value, settings.rate)
            continue
        start = term.start_of[path[0]]
        for t in range(1 if settings.at_steps else limit, limit + 1):
            value = term.value_of[path[min(t, steps)]]
            update(term.params, term.coordinates, term.component, start, value, settings.rate)


def episodes(row, update, count, skill, q, step_size, settings, rng):
    """Run `count` episodes of one skill and learn from them; q is float32 [n_states, n_actions + 1,
    n_contexts]."""
    mdp, terms, bonus, penalty_now = skill.mdp, skill.terms, skill.bonus, skill.penalty_now
    starts, limit = skill.starts, skill.step_limit
    n_states, terminate, width = q.shape[0], q.shape[1] - 1, q.shape[2]
    spare = np.empty((2, width), np.float32)
    best = np.empty(width, np.float32)
    scratch = np.empty(n_states, np.float32)
    marked = np.zeros(skill.n_marks, np.uint8)
    path = np.empty(limit + 1, np.int64)
    for _ in range(count):
        greedy = rng.random() < settings.greedy_share
        if settings.hindsight and not greedy:  # every context learns from it
            s = int(rng.random() * n_states)
        else:
            s = starts[int(rng.random() * starts.shape[0])]
        own = skill.contexts[s]
        low, high = (0, width) if settings.hindsight else (own, own + 1)
        if not settings.uses_context:  # the only context stands for this episode's start
            bonus[:, 0] = -skill.penalty[:, penalty_now[s]]
            for term in terms:
                term.start_in_context[0] = term.start_of[s]
        reset_marks(mdp.marks_in, s, marked, rng)
        steps = 0
        path[0] = s
        here = q[s, terminate] if settings.all_stop_values else spare[0]
        state_values(
            row, terms, settings.on_transitions, bonus[penalty_now[s]], s, low, high, scratch, here
        )
        while steps < limit:
            if not greedy and rng.random() < settings.epsilon:
                a = int(
                    rng.random()
                    * (terminate if settings.explore_without_stopping else terminate + 1)
                )
            else:
                a = best_action(q[s], own)
                if a == terminate and settings.explore_without_stopping and not greedy:
                    a = int(rng.random() * terminate)
            if a == terminate:
                break
            following, m = step(mdp, s, a, marked, rng)
            cost = np.float32(0.0)
            if following == mdp.successors[s, a, m]:
                cost = skill.event_cost[s, a, m]
            if settings.on_transitions:
                cost -= transition_value(row, terms, s, following, scratch)
            there = q[following, terminate] if settings.all_stop_values else spare[(steps + 1) % 2]
            state_values(
                row, terms, settings.on_transitions, bonus[penalty_now[following]], following, low,
                high, scratch, there,
            )  # fmt: skip
            improve(
                q[s, a], q[following], here, settings.step_share, settings.gamma, cost, step_size,
                low, high, best,
            )  # fmt: skip
            here = there
            s = following
            steps += 1
            path[steps] = s
        learns = greedy or not settings.update_on_greedy_only
        if learns and settings.update_first:
            update_terms(update, terms, path, steps, limit, settings)
            bonus_here = bonus[penalty_now[s]]
            state_values(row, terms, False, bonus_here, s, low, high, scratch, here)
        if not settings.all_stop_values:
            for c in range(low, high):
                q[s, terminate, c] += step_size * (here[c] - q[s, terminate, c])
        if learns and not settings.update_first:
            update_terms(update, terms, path, steps, limit, settings)


@cache
def episodes_kernel(skill: types.Type, q: types.Type, settings: types.Type) -> Callable:
    """Return `episodes` compiled for arguments of these types, cached on disk."""
    signature = types.void(
        ROW_POINTER, UPDATE_POINTER, types.int64, skill, q, types.float32, settings, types.npy_rng
    )
    return njit(signature, cache=True, nogil=True)(episodes)


def skill_arrays(problem: TabularProblem, params: Params, z: int) -> SkillArrays:
    """Lay one skill out for the kernel."""
    skill, mdp = problem.skills[z], problem.mdp
    terms = tuple(
        TermArrays(
            params[term.group], group.coordinates, term.component, float(term.weight),
            term.start_in_context.astype(np.uint32), group.values.of_state,
            group.starts.of_state, np.arange(group.starts.size, dtype=np.uint32),
        )
        for term, group in ((term, problem.groups[term.group]) for term in skill.terms)
    )  # fmt: skip
    return SkillArrays(
        mdp_arrays(mdp), terms, skill.context.of_state, skill.starts, skill.event_cost,
        np.ascontiguousarray(-skill.penalty[:, skill.penalty_then]), skill.penalty_now,
        skill.penalty, problem.step_limit, mdp.n_marks,
    )  # fmt: skip


@dataclass(frozen=True)
class QLearning(Learner):
    """Tabular Q-learning.

    `literal_q_learning()` follows the letter of the paper; `paper_q_learning()` adds what makes
    focused VIC learn.

        skills = sf.discover(world, objective, seed=0, learner=sf.QLearning(episodes=200_000))

    Attributes:
        episodes: Episodes of all skills together.
        alpha: Step size.
        decay: The step size falls as exp(-decay n), n the skill's episodes so far.
        gamma: Discount.
        epsilon: Probability of a random action, in episodes that explore.
        greedy_share: Share of episodes that follow the skill without exploring.
        estimator_rate_scale: Factor of the rewards' learning rate, so that values keep up with the
            rewards.
        block: Episodes a skill runs before another one is drawn.
        sees_start: Whether policies see contexts; off, they see the current state alone.
        hindsight: Whether every transition updates every context, not only its episode's.
        explore_without_stopping: Whether exploration never terminates.
        update_on_greedy_only: Whether only episodes without exploration update the rewards.
        all_stop_values: Whether the value of terminating is set in every state entered.
        start_where_controllable: Whether greedy episodes start only where targets can change.
        update_first: Whether a reward earned at the end is computed after the estimate has learned
            from the episode, as in Algorithm 1.
        name: Name in files and tables.
    """

    episodes: int = 1_000_000
    alpha: float = 0.1
    decay: float = 0.0
    gamma: float = 0.99
    epsilon: float = 1.0
    greedy_share: float = 0.2
    estimator_rate_scale: float = 0.001
    block: int = 50
    sees_start: bool = True
    hindsight: bool = True
    explore_without_stopping: bool = True
    update_on_greedy_only: bool = True
    all_stop_values: bool = True
    start_where_controllable: bool = True
    update_first: bool = False
    name: str = "q-learning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.episodes, self.block) < 1:
            raise UserError("episodes and block must be at least 1")
        if not 0 < self.alpha <= 1 or self.decay < 0 or not self.estimator_rate_scale > 0:
            raise UserError(
                "alpha must be in (0, 1], decay 0 or more, estimator_rate_scale positive"
            )
        if not (0 <= self.epsilon <= 1 and 0 <= self.greedy_share <= 1):
            raise UserError("epsilon and greedy_share must be between 0 and 1")
        if self.update_on_greedy_only and self.greedy_share == 0:
            raise UserError("with update_on_greedy_only, greedy_share must be above 0")

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Run episodes of all skills, in blocks; see `Learner.learn`."""
        # A plain objective's contexts would be whole start states, and a table over pairs of states
        # and actions would not fit.
        tabular = tabular_problem(
            problem,
            use_context=self.sees_start and problem.objective.targeted,
            start_where_controllable=self.start_where_controllable,
        )
        params = tabular.initial_params(rng)
        check_rewards(tabular, params)
        shape = (tabular.mdp.n_states, tabular.mdp.n_actions + 1)
        require_memory(
            4 * tabular.index.n_entries * shape[1], f"values of {len(tabular.skills):,} skills",
            "ask for fewer skills",
        )  # fmt: skip
        q = [np.zeros((*shape, int(width)), dtype=np.float32) for width in tabular.index.widths]
        runs = [self.runner(tabular, params, z, q[z], rng) for z in range(len(q))]
        done = np.zeros(len(q), dtype=np.int64)
        for first in range(0, self.episodes, self.block):
            progress(first / self.episodes, f"episode {first:,} of {self.episodes:,}")
            z = _draw_skill(tabular, params, rng)
            count = min(self.block, self.episodes - first)
            runs[z](count, np.float32(self.alpha * np.exp(-self.decay * done[z])))
            done[z] += count
        check_rewards(tabular, params)
        learned = JoinedParts(problem, Packer(tabular.mdp.n_actions))
        packed = [learned.packer.pack(greedy_policy(values)) for values in q]
        learned.add(range(len(problem.modes)), tabular, packed, params)
        return learned.join()

    def runner(
        self,
        problem: TabularProblem,
        params: Params,
        z: int,
        q: np.ndarray,
        rng: np.random.Generator,
    ) -> Callable[[int, np.float32], None]:
        """Return `run(count, step_size)`, which runs episodes of one skill and updates q."""
        reward = problem.objective.reward
        row, update = reward_row(problem), compiled_update(problem.estimator.update)
        gamma = min(self.gamma, MAX_GAMMA)
        skill = skill_arrays(problem, params, z)
        settings = KernelSettings(
            gamma=np.float32(gamma), step_share=np.float32(step_share_of(reward.timing, gamma)),
            rate=float(problem.rate * self.estimator_rate_scale), epsilon=float(self.epsilon),
            greedy_share=float(self.greedy_share), at_steps=reward.timing == "step",
            on_transitions=reward.timing == "transition", uses_context=problem.uses_context,
            hindsight=self.hindsight and problem.uses_context,
            explore_without_stopping=self.explore_without_stopping,
            update_on_greedy_only=self.update_on_greedy_only, all_stop_values=self.all_stop_values,
            update_first=self.update_first and reward.timing == "final",
        )  # fmt: skip
        kernel = episodes_kernel(typeof(skill), typeof(q), typeof(settings))

        def run(count: int, step_size: np.float32) -> None:
            kernel(row, update, count, skill, q, step_size, settings, rng)

        return run


def _draw_skill(problem: TabularProblem, params: Params, rng: np.random.Generator) -> int:
    """Draw a skill uniformly, or by a learned prior averaged over start states."""
    prior = skill_prior(problem, params)
    if prior is None:
        return int(rng.integers(len(problem.skills)))
    return int(rng.choice(len(problem.skills), p=prior.mean(axis=1)))


def paper_q_learning(gamma: float = 0.99, episodes: int = 500_000) -> QLearning:
    """Return the settings as literal as can be made to learn (docs/q-learning.md).

    Alpha and gamma of the appendix, values that start at 0, every episode updates the
    discriminator and may start in any state, and terminating is an action like the others, learned
    where it was taken.

    Args:
        gamma: Discount.
        episodes: Episodes of all skills together.
    """
    return QLearning(
        gamma=gamma, episodes=episodes, update_on_greedy_only=False, all_stop_values=False,
        start_where_controllable=False,
    )  # fmt: skip


def literal_q_learning(gamma: float = 0.99, episodes: int = 320_000) -> QLearning:
    """Return Q-learning by the letter of the paper's algorithms and appendix.

    Nothing is added that makes skills learn: every episode is epsilon-greedy and may terminate at
    any time, each transition updates its own start alone, and the discriminator learns from every
    episode with its full weight. The paper gives no epsilon; 0.1 is a common one. What differs is
    listed in docs/deviations.md; above all the order of Algorithm 1, with which skills of VIC and
    LSD end up standing still (`update_first`), and that skills take turns in blocks. After 20,000
    episodes of each of sixteen skills the appendix's step size has fallen to 0.1 exp(-10), and more
    episodes change nothing.

    Args:
        gamma: Discount.
        episodes: Episodes of all skills together.
    """
    return QLearning(
        gamma=gamma, episodes=episodes, decay=0.0005, epsilon=0.1, greedy_share=0.0,
        estimator_rate_scale=1.0, hindsight=False, explore_without_stopping=False,
        update_on_greedy_only=False, all_stop_values=False, start_where_controllable=False,
        name="literal",
    )  # fmt: skip


def greedy_policy(q: np.ndarray) -> np.ndarray:
    """Return the best action, uint8 [n_states, n_contexts], of values [n_states, n_actions + 1,
    n_contexts]; terminate on ties."""
    terminate = q.shape[1] - 1
    moves = q[:, :-1].argmax(axis=1)
    stops = q[:, -1] >= q[:, :-1].max(axis=1)
    return np.where(stops, terminate, moves).astype(np.uint8)
