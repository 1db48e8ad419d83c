"""Arguments of metrics that work on a table: what is not meant is one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus._internal.checks import is_whole, shown, whole
from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError


def check_table(name: str, mdp: object) -> None:
    """Raise a `UserError` unless this is a world's table."""
    if not isinstance(mdp, TabularMDP):
        raise UserError(f"{name} takes the world's table, tabulate(world), got {shown(mdp)}")


def target_numbers(mdp: TabularMDP, targets: object, at_least: int = 1) -> tuple[int, ...]:
    """Return the indices of target variables, which may also be given by name.

    Raises:
        UserError: If they are too few, or one is no variable.
    """
    if isinstance(targets, str | bytes) or not isinstance(targets, Sequence | np.ndarray):
        raise UserError(
            f"targets must be a list of variables, such as [{mdp.space.names[0]!r}], got "
            f"{shown(targets)}"
        )
    numbers = tuple(
        mdp.space.index(target) if isinstance(target, str) else whole("a target", target)
        for target in targets
    )
    for number in numbers:
        if not 0 <= number < len(mdp.space):
            raise UserError(
                f"there is no variable {number}: they are numbered 0 to {len(mdp.space) - 1}"
            )
    if len(numbers) < at_least:
        raise UserError("a change needs at least one target")
    return numbers


def start_numbers(mdp: TabularMDP, starts: object) -> np.ndarray:
    """Return numbers of states as an int64 array.

    Raises:
        UserError: If they are no numbers of states.
    """
    numbers = np.asarray(starts)
    if not numbers.size:
        return np.zeros(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise UserError(
            f"starts must be a list of numbers of states, as mdp.number(state) gives them, got "
            f"{shown(starts)}"
        )
    if not ((numbers >= 0) & (numbers < mdp.n_states)).all():
        raise UserError(f"starts must be numbers of states, 0 to {mdp.n_states - 1}")
    return numbers.astype(np.int64)


def start_number(mdp: TabularMDP, start: object) -> int:
    """Return the number of one state.

    Raises:
        UserError: If it is none.
    """
    if not is_whole(start):
        raise UserError(
            f"start must be the number of a state, as mdp.number(state) gives it, got "
            f"{shown(start)}"
        )
    return int(start_numbers(mdp, [start])[0])
