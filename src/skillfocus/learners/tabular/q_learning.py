"""Tabular Q-learning of skills, as the paper has it, with what it takes to make it learn.

A skill's values q[s, a, c] over state, action (the last one terminates) and context c are moved
towards

    q(s, a, c) <- e T(s, c) + gamma [max_a' q(s', a', c) - cost],    q(s, terminate, c) <- T(s, c)

with T the skill's reward and e as in `planning`. Episodes follow Algorithm 1, except that the
reward is computed before the discriminator hears of the episode (after an update with weight 0.7
almost every outcome looks like success), and that skills take turns in blocks of episodes.
`docs/q-learning.md` says what each switch below does for learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numba import njit, types

from skillfocus.core.progress import Progress
from skillfocus.core.rollout import MDPArrays, mdp_arrays, reset_marks, step
from skillfocus.errors import UserError
from skillfocus.learners.tabular.compiled import (
    PARAMS,
    ROW_POINTER,
    STARTS,
    UPDATE_POINTER,
    VALUES,
    compiled_row,
    compiled_update,
)
from skillfocus.learners.tabular.planning import (
    LARGEST_GAMMA,
    check_gamma,
    earned_share,
    prior,
)
from skillfocus.learners.tabular.problem import Problem
from skillfocus.objectives.objective import Objective

# Loops over contexts count from 0 over slices, and look-ups use unsigned numbers: the compiler then
# knows that no index is negative, and only then does it vectorise.


@njit(cache=True, nogil=True)
def add_gathered(out, base, table, index, weight):
    """out = base + weight * table[index]"""
    for c in range(out.shape[0]):
        out[c] = base[c] + weight * table[index[c]]


@njit(nogil=True)
def earned_in(row, terms, bonus, s, low, high, scratch, out):
    """out[c] = T(s, c) for the contexts low <= c < high; `bonus` is minus the penalty of s."""
    out, base = out[low:high], bonus[low:high]
    for params, values, component, weight, in_context, value_of, _, every in terms:
        columns = in_context[low:high]
        row(params, values, component, value_of[s], columns if high - low == 1 else every, scratch)
        add_gathered(out, base, scratch, columns, np.float32(weight))
        base = out


@njit(cache=True, nogil=True)
def improve(values, following, here, earned, gamma, cost, step_size, low, high, best):
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
        values[c] += step_size * (earned * here[c] + gamma * (best[c] - cost) - values[c])


@njit(cache=True, nogil=True)
def best_action(values, c):
    """The greedy action; to terminate on ties."""
    choice = values.shape[0] - 1
    for a in range(values.shape[0] - 1):
        if values[a, c] > values[choice, c]:
            choice = a
    return choice


def episodes(
    row, update, count, arrays, q, terms, contexts, starts, event_cost, bonus, penalty_now,
    between, limit, n_marks, uses_context, step_size, epsilon, greedy_share, gamma, earned,
    rate, every_step, hindsight, walk, own_behaviour, counterfactual, rng,
):  # fmt: skip
    """Run and learn from `count` episodes of one skill; q is [state, action, context], `bonus`
    minus the penalty [now, context], `between` the penalty [now, then] for skills that do not
    remember their start."""
    n_states, terminate, width = q.shape[0], q.shape[1] - 1, q.shape[2]
    spare = np.empty((2, width), np.float32)
    best = np.empty(width, np.float32)
    scratch = np.empty(n_states, np.float32)
    marked = np.zeros(n_marks, np.uint8)
    path = np.empty(limit + 1, np.int64)
    for _ in range(count):
        greedy = rng.random() < greedy_share
        if hindsight and not greedy:  # whatever is lived here teaches every context
            s = int(rng.random() * n_states)
        else:
            s = starts[int(rng.random() * starts.shape[0])]
        own = contexts[s]
        low, high = (0, width) if hindsight else (own, own + 1)
        if not uses_context:
            bonus[:, 0] = -between[:, penalty_now[s]]
            for term in terms:
                term[4][0] = term[6][s]
        reset_marks(arrays[4], s, marked, rng)
        steps = 0
        path[0] = s
        here = q[s, terminate] if counterfactual else spare[0]
        earned_in(row, terms, bonus[penalty_now[s]], s, low, high, scratch, here)
        while steps < limit:
            if not greedy and rng.random() < epsilon:
                a = int(rng.random() * (terminate if walk else terminate + 1))
            else:
                a = best_action(q[s], own)
                if a == terminate and walk and not greedy:
                    a = int(rng.random() * terminate)
            if a == terminate:
                break
            following, m = step(arrays, s, a, marked, rng)
            cost = np.float32(0.0)
            if following == arrays[0][s, a, m]:
                cost = event_cost[s, a, m]
            there = q[following, terminate] if counterfactual else spare[(steps + 1) % 2]
            bonuses = bonus[penalty_now[following]]
            earned_in(row, terms, bonuses, following, low, high, scratch, there)
            improve(q[s, a], q[following], here, earned, gamma, cost, step_size, low, high, best)
            here = there
            s = following
            steps += 1
            path[steps] = s
        if not counterfactual:
            for c in range(low, high):
                q[s, terminate, c] += step_size * (here[c] - q[s, terminate, c])
        if greedy or not own_behaviour:
            for params, values, component, _, _, value_of, start_of, _ in terms:
                start = start_of[path[0]]
                for t in range(1 if every_step else limit, limit + 1):
                    seen = value_of[path[min(t, steps)]]
                    update(params, values, component, start, seen, rate)


@lru_cache
def episodes_kernel(n_terms: int) -> Callable:
    """`episodes`, compiled for skills with that many reward terms, and kept on disk."""
    ints, numbers = types.Array(types.int32, 1, "C"), types.float32
    ints3, matrix = types.Array(types.int32, 3, "C"), types.Array(numbers, 2, "C")
    cube = types.Array(numbers, 3, "C")
    arrays = types.NamedTuple(
        (ints3, types.Array(types.float64, 3, "C"), ints3, ints3, ints), MDPArrays
    )
    term = types.Tuple((PARAMS, VALUES, types.int64, types.float64, STARTS, ints, ints, STARTS))
    signature = types.void(
        ROW_POINTER, UPDATE_POINTER, types.int64, arrays, cube, types.UniTuple(term, n_terms),
        ints, types.Array(types.int64, 1, "C"), cube, matrix, ints, matrix, types.int64,
        types.int64, types.boolean, numbers, types.float64, types.float64, numbers, numbers,
        types.float64, *[types.boolean] * 5, types.npy_rng,
    )  # fmt: skip
    return njit(signature, cache=True, nogil=True)(episodes)


@dataclass(frozen=True)
class QLearning:
    """The settings of Q-learning; `paper_q_learning()` is the preset nearest to the text."""

    episodes: int = 1_000_000
    alpha: float = 0.1
    decay: float = 0.0
    """alpha falls as exp(-decay n), n the skill's episodes so far."""
    gamma: float = 0.99
    epsilon: float = 1.0
    """The probability of a random move, in episodes that explore."""
    greedy_share: float = 0.2
    """The share of episodes that follow the skill without exploring."""
    pace: float = 0.001
    """Multiplies the rewards' learning rate, so that values keep up with the rewards."""
    block: int = 50
    """Episodes a skill runs before another one is drawn."""
    remember: bool = True
    """Skills know where they began. Off: policies of the current state alone."""
    hindsight: bool = True
    """Every transition updates every context, not only the one it was lived in."""
    walk: bool = True
    """Exploration walks; it does not terminate."""
    own_behaviour: bool = True
    """Only episodes without exploration update the rewards."""
    counterfactual: bool = True
    """The value of terminating is known in every state entered; set it there."""
    start_where_controllable: bool = field(default=True, metadata={"stored_as": "teachable"})
    """What a skill does is only taken into account where its targets could still change."""
    name: str = "q-learning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.episodes, self.block) < 1:
            raise UserError("episodes and block must be at least 1")
        if not 0 < self.alpha <= 1 or self.decay < 0 or not self.pace > 0:
            raise UserError("alpha must be in (0, 1], decay 0 or more, pace positive")
        if not (0 <= self.epsilon <= 1 and 0 <= self.greedy_share <= 1):
            raise UserError("epsilon and greedy_share must be between 0 and 1")
        if self.own_behaviour and self.greedy_share == 0:
            raise UserError("with own_behaviour, greedy_share must be above 0")

    def uses_context(self, objective: Objective) -> bool:
        """Whether policies see the context of s_0. A plain objective's would be the whole of it,
        and a table over pairs of states and actions would not fit."""
        return self.remember and objective.targeted

    def learn(
        self, problem: Problem, rng: np.random.Generator, progress: Progress
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The skills' policies (flat, see `simulation`) and the rewards' parameters."""
        params = problem.initial_params(rng)
        shape = (problem.mdp.n_states, problem.mdp.n_actions + 1)
        q = [np.zeros((*shape, int(width)), dtype=np.float32) for width in problem.widths]
        runs = [self._runner(problem, params, z, q[z], rng) for z in range(len(q))]
        done = np.zeros(len(q), dtype=np.int64)
        for first in range(0, self.episodes, self.block):
            progress(first / self.episodes, f"episode {first:,} of {self.episodes:,}")
            z = self._draw_skill(problem, params, rng)
            count = min(self.block, self.episodes - first)
            runs[z](count, np.float32(self.alpha * np.exp(-self.decay * done[z])))
            done[z] += count
        return np.concatenate([greedy_policy(values).ravel() for values in q]), params

    @staticmethod
    def _draw_skill(
        problem: Problem, params: tuple[np.ndarray, ...], rng: np.random.Generator
    ) -> int:
        """Uniformly, or by a learned prior averaged over first states."""
        if problem.objective.learns_prior:
            return int(rng.choice(len(problem.skills), p=prior(problem, params).mean(axis=1)))
        return int(rng.integers(len(problem.skills)))

    def _runner(
        self,
        problem: Problem,
        params: tuple[np.ndarray, ...],
        z: int,
        q: np.ndarray,
        rng: np.random.Generator,
    ) -> Callable[[int, np.float32], None]:
        """A function that runs episodes of one skill."""
        skill, objective, mdp = problem.skills[z], problem.objective, problem.mdp
        row, update = compiled_row(problem.base.reward), compiled_update(problem.base.update)
        kernel = episodes_kernel(len(skill.terms))
        gamma = min(self.gamma, LARGEST_GAMMA)
        terms = tuple(
            (
                params[term.group], group.coordinates, term.component, term.weight,
                term.start_in_context.astype(np.uint32), group.values.of_state,
                group.starts.of_state, np.arange(group.starts.size, dtype=np.uint32),
            )
            for term, group in ((term, problem.groups[term.group]) for term in skill.terms)
        )  # fmt: skip
        fixed = (
            mdp_arrays(mdp), q, terms, skill.context.of_state, skill.starts, skill.event_cost,
            np.ascontiguousarray(-skill.penalty[:, skill.penalty_then]), skill.penalty_now,
            skill.penalty, problem.step_limit,
            mdp.n_marks, problem.uses_context,
        )  # fmt: skip
        settings = (
            self.epsilon, self.greedy_share, np.float32(gamma),
            np.float32(earned_share(objective, gamma)), problem.rate * self.pace,
            objective.every_step, self.hindsight and problem.uses_context, self.walk,
            self.own_behaviour, self.counterfactual, rng,
        )  # fmt: skip

        def run(count: int, step_size: np.float32) -> None:
            kernel(row, update, count, *fixed, step_size, *settings)

        return run


def paper_q_learning(gamma: float = 0.99, episodes: int = 1_000_000) -> QLearning:
    """As literal as can be made to learn (docs/q-learning.md): alpha and gamma of the appendix,
    values that begin at 0, every episode feeds the discriminator and may start in any state, and
    to terminate is an action like the others, learned where it was taken."""
    return QLearning(
        gamma=gamma,
        episodes=episodes,
        own_behaviour=False,
        counterfactual=False,
        start_where_controllable=False,
    )


def greedy_policy(q: np.ndarray) -> np.ndarray:
    """[state, context]: the best action; to terminate on ties."""
    terminate = q.shape[1] - 1
    moves = q[:, :-1].argmax(axis=1)
    stops = q[:, -1] >= q[:, :-1].max(axis=1)
    return np.where(stops, terminate, moves).astype(np.uint8)
