"""The states of a model as columns of values: join groups, drop constants, sort values."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase

from skillfocus.core.factored import Variable
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.model import Values

Groups = Mapping[str, str | Sequence[str]]
"""Variables to join into one: `{new name: names}`, where patterns such as `at_*` are names too."""


def value_columns(
    names: tuple[str, ...], states: Sequence[tuple[Values, bool]], groups: Groups
) -> dict[str, list[Hashable]]:
    """Return each variable's value in every state, with groups joined.

    Args:
        names: Names of the model's variables.
        states: Values and whether the episode has ended. If the same values occur with both, a
            column `ended` is added.
        groups: Variables to join; a group takes the place of its first member.

    Raises:
        UserError: If a group names no variable, or has the name of a variable outside it.
    """
    columns: dict[str, list[Hashable]] = {
        name: list(column)
        for name, column in zip(names, zip(*(v for v, _ in states), strict=True), strict=True)
    }
    if len({values for values, _ in states}) < len(states):
        if "ended" in columns:
            raise UserError(
                "the name ended is reserved for episodes that have ended: rename that variable"
            )
        columns["ended"] = [ended for _, ended in states]
    for group, wanted in groups.items():
        patterns = [wanted] if isinstance(wanted, str) else list(wanted)
        members = [n for n in columns if any(fnmatchcase(n, pattern) for pattern in patterns)]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in members):
                raise unknown(f"variable in the group {group!r}", pattern, columns)
        if group in columns and group not in members:
            raise UserError(f"the group {group!r} has the name of a variable; choose another")
        place = list(columns).index(members[0])
        rows = list(zip(*(columns.pop(name) for name in members), strict=True))
        others = list(columns.items())
        joined = (group, _join_values(members, rows))
        columns = dict([*others[:place], joined, *others[place:]])
    return columns


def constant_variables(
    columns: Mapping[str, list[Hashable]], declared: Mapping[str, Variable]
) -> list[str]:
    """Return the undeclared variables with a single value, which can be left out.

    If fewer than two others remain, none is returned: a skill needs a target and something to leave
    unchanged.
    """
    constant = [n for n, column in columns.items() if len(set(column)) == 1 and n not in declared]
    return constant if len(columns) - len(constant) >= 2 else []


def _join_values(members: list[str], rows: list[tuple[Hashable, ...]]) -> list[Hashable]:
    """Return the values of a group: of flags, the names of those set; else tuples of all values."""
    if not all(type(value) is bool for row in rows for value in row):
        return list(rows)
    labels = distinguishing_parts(members)
    flags_set = ([label for label, flag in zip(labels, row, strict=True) if flag] for row in rows)
    return [" + ".join(names) or "none" for names in flags_set]


def distinguishing_parts(names: list[str]) -> list[str]:
    """Return the parts of names that tell them apart.

    Of `at(x1,y2)` and `at(x2,y2)` these are `x1,y2` and `x2,y2`; of `on_a` and `on_b`, `a` and `b`.
    Names are cut at punctuation, not within words.
    """
    words = [re.split(r"([\W_]+)", name) for name in names]
    shortest = min(map(len, words))
    n_prefix = n_suffix = 0
    while n_prefix < shortest and len({w[n_prefix] for w in words}) == 1:
        n_prefix += 1
    while n_suffix < shortest - n_prefix and len({w[-1 - n_suffix] for w in words}) == 1:
        n_suffix += 1
    parts = ["".join(w[n_prefix : len(w) - n_suffix]).strip("(),_") for w in words]
    return parts if all(parts) and len(set(parts)) == len(parts) else names


def sort_values(values: set[Hashable]) -> tuple[Hashable, ...]:
    """Return values in a reproducible order: numbers, then texts, then tuples, then the rest."""

    def key(value: Hashable) -> tuple:
        if isinstance(value, (bool, int, float)):
            return 0, value
        if isinstance(value, str):
            return 1, value
        if isinstance(value, tuple):
            return 2, tuple(key(part) for part in value)
        return 3, repr(value)

    return tuple(sorted(values, key=key))
