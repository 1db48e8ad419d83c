"""Align the initial rewards of skills with several targets, as in `tabular/alignment.py`.

The skill whose initial reward favours an unchanged first target also favours unchanged others.
"""

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
    """Swap components of tabular rewards in place; discriminator networks stay as they are.

    Args:
        model: The skill model.
        rewards: Reward of each of the model's groups.
        estimator: Estimator of the tables.
    """
    if not isinstance(estimator, Swaps):
        return
    by_target = {
        group.variables: reward
        for group, reward in zip(model.groups, rewards, strict=True)
        if group.sign > 0 and group.is_table
    }
    for skills in _sets_by_targets(model.assignment):
        targets = sorted(skills[0])
        tables = [by_target.get((j,)) for j in targets]
        columns = [[skill[j] for skill in skills] for j in targets]
        if None in tables or any(len(set(column)) < len(skills) for column in columns):
            continue
        stays, *others = (
            _staying_component(table, column)  # pyright: ignore[reportArgumentType]
            for table, column in zip(tables, columns, strict=True)
        )
        for table, column, other in zip(tables[1:], columns[1:], others, strict=True):
            estimator.swap(table.params, column[stays], column[other])  # pyright: ignore


def _sets_by_targets(assignment: Assignment) -> list[list[dict[int, int]]]:
    """Group the skills that have several targets by these targets."""
    sets: dict[tuple[int, ...], list[dict[int, int]]] = {}
    for skill in assignment.skills:
        if len(skill) > 1:
            sets.setdefault(tuple(sorted(skill)), []).append(skill)
    return list(sets.values())


def _staying_component(reward: GroupReward, components: Sequence[int]) -> int:
    """Return the component that most favours an unchanged variable.

    Its reward for the first value exceeds its mean reward for the other values the most.
    """
    table = reward.parts(held=False)["table"][list(components), 0]
    return int(np.argmax(table[:, 0] - table[:, 1:].mean(axis=1)))
