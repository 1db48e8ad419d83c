"""Kernels that evaluate and update rewards, for any formula and estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numba import types

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import (
    COORDINATES,
    PARAMS,
    ROW_POINTER,
    STARTS,
    UPDATE_POINTER,
    compiled_row,
    compiled_update,
)
from skillfocus.learners.planning.problem import Group, TabularProblem
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardGroup

Params = tuple[np.ndarray, ...]
"""Per group, the estimator's parameters."""
_INTS = types.Array(types.int32, 1, "C")
_INTS3 = types.Array(types.int32, 3, "C")
_FLOATS2 = types.Array(types.float32, 2, "C")
_FLOATS3 = types.Array(types.float32, 3, "C")


@njit(
    types.void(
        ROW_POINTER, PARAMS, COORDINATES, types.int64, _INTS, _INTS, STARTS, STARTS, types.float32,
        _FLOATS2,
    ),
    cache=True, nogil=True,
)  # fmt: skip
def _add_state_rewards(
    row, params, coordinates, component, states, begins, columns, starts, weight, out
):
    """out[s, c] += weight * reward(value of s, start of c). The states that have a value are
    contiguous in `states`; `starts` are those that occur in `columns`, sorted."""
    scratch = np.empty(starts[-1] + 1, np.float32)
    for value in range(begins.shape[0] - 1):
        row(params, coordinates, component, value, starts, scratch)
        for i in range(begins[value], begins[value + 1]):
            into = out[states[i]]
            for c in range(into.shape[0]):
                into[c] += weight * scratch[columns[c]]


@njit(
    types.void(
        ROW_POINTER, PARAMS, COORDINATES, types.int64, _INTS, _INTS, _INTS3, types.float32,
        _FLOATS3,
    ),
    cache=True, nogil=True,
)  # fmt: skip
def _add_transition_rewards(
    row, params, coordinates, component, value_of, start_of, successors, weight, out
):
    """out[s, a, m] += weight * reward(value of the successor, start of s)"""
    start = np.empty(1, np.uint32)
    scratch = np.empty(start_of.max() + 1, np.float32)
    for s in range(successors.shape[0]):
        start[0] = start_of[s]
        for a in range(successors.shape[1]):
            for m in range(successors.shape[2]):
                value = value_of[successors[s, a, m]]
                row(params, coordinates, component, value, start, scratch)
                out[s, a, m] += weight * scratch[start[0]]


@njit(
    types.void(UPDATE_POINTER, PARAMS, COORDINATES, _INTS, _INTS, _INTS, types.float64),
    cache=True, nogil=True,
)  # fmt: skip
def _update_all(update, params, coordinates, components, starts, values, rate):
    for i in range(components.shape[0]):
        update(params, coordinates, components[i], starts[i], values[i], rate)


@njit(cache=True, nogil=True)
def _add_gathered(out, table, rows, columns, weight):
    """out[s, c] += weight * table[rows[s], columns[c]]"""
    for s in range(out.shape[0]):
        row = table[rows[s]]
        for c in range(out.shape[1]):
            out[s, c] += weight * row[columns[c]]


def reward_row(problem: TabularProblem) -> Callable:
    """Return the compiled function that evaluates the objective's reward by the row."""
    return compiled_row(problem.objective.reward.formula, problem.estimator.predict)


def state_reward(
    problem: TabularProblem, params: Params, z: int, contexts: np.ndarray | None = None
) -> np.ndarray:
    """Return what skill z earns in a state, less the penalty on changes that could be undone
    (Equation 5; see also `outcome_cost`).

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.
        z: The skill.
        contexts: int [n], the contexts to evaluate (default: all).

    Returns:
        float32 [n_states, n]. Rewards of transitions are not in it.
    """
    skill = problem.skills[z]
    if contexts is None:
        contexts = np.arange(skill.context.size)
    out = np.zeros((problem.mdp.n_states, len(contexts)), dtype=np.float32)
    if problem.objective.reward.timing != "transition":
        row = reward_row(problem)
        for term in skill.terms:
            group = problem.groups[term.group]
            columns = term.start_in_context[contexts].astype(np.uint32)
            _add_state_rewards(
                row, params[term.group], group.coordinates, term.component, *group.values.states,
                columns, np.unique(columns), np.float32(term.weight), out,
            )  # fmt: skip
    if problem.objective.penalty is not None:
        _add_gathered(
            out, skill.penalty, skill.penalty_now, skill.penalty_then[contexts], np.float32(-1.0)
        )
    return out


def outcome_cost(problem: TabularProblem, params: Params, z: int) -> np.ndarray:
    """Return what each outcome costs skill z: penalties of lasting changes, less the rewards of
    transitions, float32 [n_states, n_actions, n_outcomes]."""
    skill = problem.skills[z]
    if problem.objective.reward.timing != "transition":
        return skill.event_cost
    row, rewards = reward_row(problem), np.zeros_like(skill.event_cost)
    for term in skill.terms:
        group = problem.groups[term.group]
        _add_transition_rewards(
            row, params[term.group], group.coordinates, term.component, group.values.of_state,
            group.starts.of_state, problem.mdp.successors, np.float32(term.weight), rewards,
        )  # fmt: skip
    return skill.event_cost - rewards


def group_reward(
    problem: TabularProblem, params: Params, place: int, component: int, starts: np.ndarray
) -> np.ndarray:
    """Return the base reward of one component of a group.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.
        place: The group's index.
        component: The component.
        starts: int [n], numbers of starts.

    Returns:
        float32 [n_values, n].
    """
    group = problem.groups[place]
    every = np.arange(group.values.size + 1, dtype=np.int32)
    out = np.zeros((group.values.size, len(starts)), dtype=np.float32)
    starts = starts.astype(np.uint32)
    _add_state_rewards(
        reward_row(problem), params[place], group.coordinates, component, every[:-1],
        every, starts, np.unique(starts), np.float32(1.0), out,
    )  # fmt: skip
    return out


def update_estimates(
    problem: TabularProblem,
    params: Params,
    skills: np.ndarray,
    paths: np.ndarray,
    steps: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Update the parameters, in place, from runs of skills.

    Learned from are last states, all states after the start, or all transitions, as the reward's
    timing says, in random order: a moving average that saw forty states of one run in a row would
    remember that run alone.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.
        skills: int [n_runs], skill numbers.
        paths: int32 [n_runs, step_limit + 1], states, the last one repeated.
        steps: int [n_runs], lengths of the runs.
        rng: Draws the order.
    """
    update = compiled_update(problem.estimator.update)
    timing = problem.objective.reward.timing
    seen = paths[:, -1:] if timing == "final" else paths[:, 1:]
    order = rng.permutation(seen.size)
    run, moment = np.divmod(order, seen.shape[1])
    if timing == "transition":  # a run that is over makes no more transitions
        made = moment < steps[run]
        run, moment, order = run[made], moment[made], order[made]
    first = paths[run, moment] if timing == "transition" else paths[run, 0]
    seen, skills = seen.ravel()[order], skills[run]
    for place, group in enumerate(problem.groups):
        component = np.full(len(problem.skills), -1, dtype=np.int32)
        for z, skill in enumerate(problem.skills):
            for term in skill.terms:
                if term.group == place:
                    component[z] = term.component
        mine = component[skills] >= 0
        _update_all(
            update,
            params[place],
            group.coordinates,
            component[skills[mine]],
            group.starts.of_state[first[mine]],
            group.values.of_state[seen[mine]],
            problem.rate,
        )


def skill_prior(problem: TabularProblem, params: Params) -> np.ndarray | None:
    """Return the learned probability of each skill in a start state, float64 [n_skills, n_states];
    None if the prior is uniform."""
    logs = [problem.estimator.log_prior(held) for held in params]
    if any(log is None for log in logs):
        return None
    shares = np.ones((len(problem.skills), problem.mdp.n_states))
    for z, skill in enumerate(problem.skills):
        for term in skill.terms:
            group, log = problem.groups[term.group], logs[term.group]
            assert log is not None
            nu = np.exp(log[term.component, group.starts.of_state])
            shares[z] *= group.n_components * nu
    return shares / shares.sum(axis=0)


def _spread_starts(group: Group, most: int) -> np.ndarray:
    """Return numbers of starts, evenly spread if there are more than fit: the reward of all
    components and values is to have at most so many entries."""
    count = min(group.starts.size, max(1, most // (group.n_components * group.values.size)))
    return np.unique(np.linspace(0, group.starts.size - 1, count).astype(np.int64))


# --------------------
#
# Check that an objective's reward is a finite number before it is learned from, and after

MAX_REWARDS = 200_000
"""The most rewards of a group that are evaluated; of more, those of evenly spread starts."""


def check_rewards(problem: TabularProblem, params: Params) -> None:
    """Evaluate the reward of every component at every value, and refuse what is no number.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.

    Raises:
        UserError: If the formula raises, or returns NaN or infinity.
    """
    names, reward = problem.mdp.space.names, problem.objective.reward
    for place, group in enumerate(problem.groups):
        starts = _spread_starts(group, MAX_REWARDS)
        for component in range(group.n_components):
            seen = ", ".join(names[j] for j in group.variables)
            about = f"the reward of {reward.name} for component {component} of {seen}"
            try:
                rewards = group_reward(problem, params, place, component, starts)
            except UserError:  # it cannot be compiled
                raise
            except Exception as error:  # formulas may be a user's
                raise UserError(f"{about} raises {type(error).__name__}: {error}") from error
            wrong = ~np.isfinite(rewards)
            if wrong.any():
                value, start = (int(index[0]) for index in np.nonzero(wrong))
                state = problem.mdp.space.labels(problem.mdp.values[group.values.example[value]])
                labels = {names[j]: state[names[j]] for j in group.variables}
                raise UserError(
                    f"{about} is {rewards[value, start]:g} where {labels}; it must be a finite "
                    f"number"
                )


# --------------------
#
# From learned parameters to an `IntrinsicReward` that can be stored beside skills

MAX_ENTRIES = 3_000_000
"""Rewards with more entries than this are not stored."""
TOLERANCE = 1e-5
"""How far a reward may be from a difference, relative to its largest value."""


def make_intrinsic_reward(
    problem: TabularProblem, params: Params, modes: Sequence[int]
) -> IntrinsicReward | None:
    """Return what learned parameters reward; None if it would be too large or is not finite.

    Args:
        problem: The learning problem; its skills are the modes of all skills.
        params: Per group, the estimator's parameters.
        modes: How many modes each skill has.
    """
    if problem.objective.reward.timing == "transition":
        return None  # it is no function of the start and the last state
    terms = [
        [
            (term.group, term.component, float(term.weight))
            for term in skill.terms
            if term.weight > 0
        ]
        for skill in problem.skills
    ]
    used = sorted({place for mode in terms for place, _, _ in mode})
    names, left, groups = problem.mdp.space.names, MAX_ENTRIES, []
    for place in used:
        evaluated = _tables(problem, params, place, left)
        if evaluated is None:
            return None
        group, (tables, separable) = problem.groups[place], evaluated
        left -= tables.size
        seen = tuple(names[j] for j in group.variables)
        first = tuple(names[j] for j in group.start_variables)
        groups.append(RewardGroup(seen, first, tables, separable))
    parts = iter([tuple((used.index(g), c, w) for g, c, w in mode) for mode in terms])
    per_skill = tuple(tuple(next(parts) for _ in range(count)) for count in modes)
    return IntrinsicReward(problem.mdp, tuple(groups), per_skill)


def _tables(
    problem: TabularProblem, params: Params, place: int, limit: int
) -> tuple[np.ndarray, bool] | None:
    """Return a group's tables, and whether they are separable. Where all starts would be too many,
    as many as fit, evenly spread, decide whether they are."""
    group = problem.groups[place]
    per_start = group.n_components * group.values.size
    if per_start > limit:
        return None
    starts = _spread_starts(group, max(8 * per_start, limit))
    tables = np.stack(
        [group_reward(problem, params, place, k, starts) for k in range(group.n_components)]
    )
    if not np.isfinite(tables).all():
        return None
    if _is_difference(group, tables, starts):
        return np.ascontiguousarray(tables[:, :, 0]), True
    return (tables, False) if tables.size == group.entries <= limit else None


def _is_difference(group: Group, tables: np.ndarray, starts: np.ndarray) -> bool:
    """Return whether tables[component, value, start] = f(value) - f(start value) with the f of the
    first start, whichever start state shows a start."""
    f = tables[:, :, 0]
    then = group.values.of_state[group.starts.example]
    near = TOLERANCE * np.abs(tables).max()
    same = np.abs(f[:, group.values.of_state] - f[:, then[group.starts.of_state]]).max() <= near
    expected = f[:, :, None] - f[:, None, then[starts]]
    return bool(same and np.abs(tables - expected).max() <= near)
