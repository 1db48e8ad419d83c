"""Joint initial rewards of skills with several targets.

Each target has a reward of its own, whose random initial parameters decide what a skill wants of
it. Of two skills for a key and a door, one may so want the key left and the door opened, which is
impossible, and then no skill ever opens the door. Before learning, components are swapped until the
targets agree: the skill that wants the first one to stay wants the others to stay, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from skillfocus.learners.tabular.problem import SkillProblem, TabularProblem


@runtime_checkable
class Swaps(Protocol):
    """An estimator whose components can change places."""

    def swap(self, params: np.ndarray, one: int, other: int) -> None:
        """Let two components change places, in place."""
        ...


def align_components(problem: TabularProblem, params: tuple[np.ndarray, ...]) -> None:
    """Swap components, in place, so that skills begin by wanting the same of all their targets.

    It concerns sets of skills with equal targets of which each has components of its own. Where
    skills share components (four on a tool and the position), every combination is wanted by one.
    """
    estimator = problem.estimator
    if not isinstance(estimator, Swaps):
        return
    for skills in _sets(problem):
        components = np.array([[term.component for term in skill.terms] for skill in skills])
        if any(len(set(column)) < len(skills) for column in components.T.tolist()):
            continue
        places = [term.group for term in skills[0].terms]
        stays = _who_stays(problem, params, places[0], components[:, 0])
        for place, column in zip(places[1:], components.T[1:], strict=True):
            other = _who_stays(problem, params, place, column)
            estimator.swap(params[place], column[stays], column[other])


def _sets(problem: TabularProblem) -> list[list[SkillProblem]]:
    """Return the sets of skills that have the same targets, several, and a term for each."""
    sets: dict[tuple[int, ...], list[SkillProblem]] = {}
    for skill in problem.skills:
        if len(skill.targets) > 1 and len(skill.terms) == len(skill.targets):
            sets.setdefault(skill.targets, []).append(skill)
    return list(sets.values())


def _who_stays(
    problem: TabularProblem, params: tuple[np.ndarray, ...], place: int, components: np.ndarray
) -> int:
    """Return which of the components, from the first state, prefers most to stay: it gains the most
    there compared with the mean of the other values."""
    group, held = problem.groups[place], params[place]
    predict, formula = problem.estimator.predict, problem.objective.reward.formula
    start, own = group.starts.of_state[0], group.values.of_state[0]
    rewards = np.array(
        [
            [
                formula(*predict(held, group.coordinates, k, start, v))
                for v in range(group.values.size)
            ]
            for k in components.tolist()
        ]
    )
    return int((rewards[:, own] - np.delete(rewards, own, axis=1).mean(axis=1)).argmax())
