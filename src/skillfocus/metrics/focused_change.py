"""Focused changes: which states a skill may stop in, compared with its start.

A change is *focused* if every target differs from its first value (or has the value it is to reach,
if one is named) and every variable to be restored equals its first value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError, unknown

Restore = Literal["all", "reversible"]
"""What a focused change restores: all variables but the targets, or those that can be changed back;
the others are then free."""
RESTORES: tuple[Restore, ...] = ("all", "reversible")


@dataclass(frozen=True)
class Change:
    """A focused change: which states are in G, compared with the start.

    Attributes:
        targets: Variables that must end changed.
        restored: Variables that must end as they were.
        values: The values that targets must end with instead; None if any other will do.
    """

    targets: tuple[int, ...]
    restored: tuple[int, ...]
    values: tuple[int, ...] | None = None

    @property
    def compared(self) -> list[int]:
        """The variables whose first values decide what is in G."""
        return [*self.targets, *self.restored] if self.values is None else [*self.restored]

    def done(self, values: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Return bool [n_rows, n_goals]: whether the change that a start asks for is done.

        Args:
            values: Values of rows, [n_rows, n_variables].
            goals: Values of starts, [n_goals, n_variables].
        """
        done = np.ones((len(values), len(goals)), dtype=bool)
        for number, j in enumerate(self.targets):
            if self.values is None:
                done &= values[:, j][:, None] != goals[None, :, j]
            else:
                done &= (values[:, j] == self.values[number])[:, None]
        for j in self.restored:
            done &= values[:, j][:, None] == goals[None, :, j]
        return done


def restored_variables(
    mdp: TabularMDP, targets: Sequence[int], restore: Restore = "all"
) -> tuple[int, ...]:
    """Return the variables that a focused change of `targets` restores."""
    return tuple(
        j
        for j in range(len(mdp.space))
        if j not in targets and (restore == "all" or mdp.reversible[j])
    )


def make_change(
    mdp: TabularMDP,
    targets: Sequence[int | str],
    restore: Restore,
    values: Sequence[int] | None,
) -> Change:
    """Return the change of some targets; arguments are those of `best_focus`.

    Raises:
        UserError: If an argument is not what it must be, such as a value that there is not.
    """
    numbers = mdp.space.indices(targets)
    if restore not in RESTORES:
        raise unknown("kind of restoring", str(restore), RESTORES)
    restored = restored_variables(mdp, numbers, restore)
    if values is None:
        return Change(numbers, restored)
    if len(values) != len(numbers):
        raise UserError(f"values must have one value per target, {len(numbers)}, got {len(values)}")
    for j, k in zip(numbers, values, strict=True):
        if not 0 <= k < mdp.space.sizes[j]:
            raise UserError(
                f"{mdp.space.names[j]} has no value number {k}; they are numbered 0 to "
                f"{mdp.space.sizes[j] - 1}"
            )
    return Change(numbers, restored, tuple(int(k) for k in values))
