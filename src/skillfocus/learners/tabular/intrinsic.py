"""From learned parameters to an `IntrinsicReward` that can be stored beside skills."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.learners.tabular.kernels import Params, group_reward
from skillfocus.learners.tabular.problem import Group, TabularProblem
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardGroup

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
    count = min(group.starts.size, max(8, limit // per_start))
    starts = np.unique(np.linspace(0, group.starts.size - 1, count).astype(np.int64))
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
