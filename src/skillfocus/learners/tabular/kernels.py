"""The kernels that turn an objective's functions into numbers, for any objective."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from skillfocus.learners.tabular.compiled import (
    PARAMS,
    ROW_POINTER,
    STARTS,
    UPDATE_POINTER,
    VALUES,
    compiled_row,
    compiled_update,
)
from skillfocus.learners.tabular.problem import Problem

_INTS = types.Array(types.int32, 1, "C")


_FLOATS2 = types.Array(types.float32, 2, "C")


@njit(
    types.void(
        ROW_POINTER, PARAMS, VALUES, types.int64, _INTS, _INTS, STARTS, STARTS, types.float32,
        _FLOATS2,
    ),
    cache=True, nogil=True,
)  # fmt: skip
def _earn(row, params, values, skill, states, begins, columns, starts, weight, out):
    """out[s, c] += weight * reward(value of s, start of c). The states that have a value stand
    together in `states`; `starts` are those that occur in `columns`, sorted."""
    scratch = np.empty(starts[-1] + 1, np.float32)
    for value in range(begins.shape[0] - 1):
        row(params, values, skill, value, starts, scratch)
        for i in range(begins[value], begins[value + 1]):
            into = out[states[i]]
            for c in range(into.shape[0]):
                into[c] += weight * scratch[columns[c]]


@njit(
    types.void(UPDATE_POINTER, PARAMS, VALUES, _INTS, _INTS, _INTS, types.float64),
    cache=True, nogil=True,
)  # fmt: skip
def _learn(update, params, values, skills, starts, seen, rate):
    for i in range(skills.shape[0]):
        update(params, values, skills[i], starts[i], seen[i], rate)


@njit(cache=True, nogil=True)
def _add(out, table, rows, columns, weight):
    """out[s, c] += weight * table[rows[s], columns[c]]"""
    for s in range(out.shape[0]):
        row = table[rows[s]]
        for c in range(out.shape[1]):
            out[s, c] += weight * row[columns[c]]


def skill_reward(
    problem: Problem, params: tuple[np.ndarray, ...], z: int, contexts: np.ndarray | None = None
) -> np.ndarray:
    """[state, context]: what skill z earns in a state, penalty on undoable changes included, in
    these contexts (default: in all)."""
    skill = problem.skills[z]
    if contexts is None:
        contexts = np.arange(skill.context.size)
    row = compiled_row(problem.base.reward)
    out = np.zeros((problem.mdp.n_states, len(contexts)), dtype=np.float32)
    for term in skill.terms:
        group = problem.groups[term.group]
        columns = term.start_in_context[contexts].astype(np.uint32)
        _earn(
            row, params[term.group], group.coordinates, term.component, *group.values.states,
            columns, np.unique(columns), np.float32(term.weight), out,
        )  # fmt: skip
    if problem.objective.penalty is not None:
        _add(out, skill.penalty, skill.penalty_now, skill.penalty_then[contexts], np.float32(-1.0))
    return out


def base_reward(
    problem: Problem, params: tuple[np.ndarray, ...], place: int, component: int, starts: np.ndarray
) -> np.ndarray:
    """[value, start]: the base reward of one component of a group, at these of its starts."""
    group = problem.groups[place]
    every = np.arange(group.values.size + 1, dtype=np.int32)
    out = np.zeros((group.values.size, len(starts)), dtype=np.float32)
    starts = starts.astype(np.uint32)
    _earn(
        compiled_row(problem.base.reward), params[place], group.coordinates, component, every[:-1],
        every, starts, np.unique(starts), np.float32(1.0), out,
    )  # fmt: skip
    return out


def learn_rewards(
    problem: Problem,
    params: tuple[np.ndarray, ...],
    skills: np.ndarray,
    paths: np.ndarray,
    rate: float,
    rng: np.random.Generator,
) -> None:
    """Update the parameters, in place, from runs of skills: from each last state, or from every
    state entered where the objective earns at every step. The order is random: a moving average
    that hears forty states of one run in a row would remember that run alone."""
    update = compiled_update(problem.base.update)
    seen = paths[:, 1:] if problem.objective.every_step else paths[:, -1:]
    order = rng.permutation(seen.size)
    run = order // seen.shape[1]
    seen, first, skills = seen.ravel()[order], paths[run, 0], skills[run]
    for place, group in enumerate(problem.groups):
        component = np.full(len(problem.skills), -1, dtype=np.int32)
        for z, skill in enumerate(problem.skills):
            for term in skill.terms:
                if term.group == place:
                    component[z] = term.component
        mine = component[skills] >= 0
        _learn(
            update,
            params[place],
            group.coordinates,
            component[skills[mine]],
            group.starts.of_state[first[mine]],
            group.values.of_state[seen[mine]],
            rate,
        )
