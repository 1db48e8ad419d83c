"""Joint initial rewards of skills with several targets, as `tabular/alignment.py` has them: the
skill that begins by wanting the first target to stay wants the others to stay, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.learners.tabular.alignment import Swaps
from skillfocus.objectives.targets import Assignment
from skillfocus.skills.neural.model import SkillModel

if TYPE_CHECKING:
    from skillfocus.learners.neural.rewards import GroupReward


def align_rewards(model: SkillModel, rewards: Sequence[GroupReward], estimator: object) -> None:
    """Swap components, in place, of rewards that are tables; others keep their division, which
    trains along.

    Args:
        model: The model whose groups they are.
        rewards: What supplies the rewards of each group.
        estimator: The estimator of the tables.
    """
    if not isinstance(estimator, Swaps):
        return
    by_target = {
        group.variables: reward
        for group, reward in zip(model.groups, rewards, strict=True)
        if group.sign > 0 and group.is_table
    }
    for skills in _sets(model.assignment):
        targets = sorted(skills[0])
        tables = [by_target.get((j,)) for j in targets]
        columns = [[skill[j] for skill in skills] for j in targets]
        if None in tables or any(len(set(column)) < len(skills) for column in columns):
            continue
        stays, *others = (
            _who_stays(table, column)  # pyright: ignore[reportArgumentType]
            for table, column in zip(tables, columns, strict=True)
        )
        for table, column, other in zip(tables[1:], columns[1:], others, strict=True):
            estimator.swap(table.params, column[stays], column[other])  # pyright: ignore


def _sets(assignment: Assignment) -> list[list[dict[int, int]]]:
    """Return the sets of skills that have the same targets, several."""
    sets: dict[tuple[int, ...], list[dict[int, int]]] = {}
    for skill in assignment.skills:
        if len(skill) > 1:
            sets.setdefault(tuple(sorted(skill)), []).append(skill)
    return list(sets.values())


def _who_stays(reward: GroupReward, components: Sequence[int]) -> int:
    """Return which of the components prefers most to stay at the variable's first value: it gains
    the most there compared with the mean of the other values."""
    table = reward.parts(held=False)["table"][list(components), 0]
    return int(np.argmax(table[:, 0] - table[:, 1:].mean(axis=1)))
