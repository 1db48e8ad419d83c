"""The kernel of Q-learning: episodes of one skill, for any number of contexts at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from skillfocus.compilation import njit
from skillfocus.core.rollout import MDPArrays, mdp_arrays, reset_marks, step
from skillfocus.learners.tabular.compiled import ROW_POINTER, UPDATE_POINTER
from skillfocus.learners.tabular.kernels import Params
from skillfocus.learners.tabular.problem import TabularProblem


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
    earned: np.float32
    rate: float
    epsilon: float
    greedy_share: float
    at_steps: bool
    """Whether the reward is earned in every state on the way."""
    on_transitions: bool
    """Whether the reward is earned on every move."""
    uses_context: bool
    hindsight: bool
    walk: bool
    own_behaviour: bool
    counterfactual: bool
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
    """out[c] = T(s, c) for the contexts low <= c < high; `bonus` is minus the penalty of s."""
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
        here = q[s, terminate] if settings.counterfactual else spare[0]
        state_values(
            row, terms, settings.on_transitions, bonus[penalty_now[s]], s, low, high, scratch, here
        )
        while steps < limit:
            if not greedy and rng.random() < settings.epsilon:
                a = int(rng.random() * (terminate if settings.walk else terminate + 1))
            else:
                a = best_action(q[s], own)
                if a == terminate and settings.walk and not greedy:
                    a = int(rng.random() * terminate)
            if a == terminate:
                break
            following, m = step(mdp, s, a, marked, rng)
            cost = np.float32(0.0)
            if following == mdp.successors[s, a, m]:
                cost = skill.event_cost[s, a, m]
            if settings.on_transitions:
                cost -= transition_value(row, terms, s, following, scratch)
            there = q[following, terminate] if settings.counterfactual else spare[(steps + 1) % 2]
            state_values(
                row, terms, settings.on_transitions, bonus[penalty_now[following]], following, low,
                high, scratch, there,
            )  # fmt: skip
            improve(
                q[s, a], q[following], here, settings.earned, settings.gamma, cost, step_size, low,
                high, best,
            )  # fmt: skip
            here = there
            s = following
            steps += 1
            path[steps] = s
        learns = greedy or not settings.own_behaviour
        if learns and settings.update_first:
            update_terms(update, terms, path, steps, limit, settings)
            bonus_here = bonus[penalty_now[s]]
            state_values(row, terms, False, bonus_here, s, low, high, scratch, here)
        if not settings.counterfactual:
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
