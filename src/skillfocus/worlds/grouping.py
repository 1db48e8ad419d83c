"""The states of a model as columns of values: groups joined, constants found, values in order."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase

from skillfocus.core.factored import Variable
from skillfocus.errors import UserError, unknown

Values = tuple[Hashable, ...]
"""A state of a model: the value of each of its variables."""
Groups = Mapping[str, str | Sequence[str]]
"""Variables to join: {new name: names, or patterns such as `at_*`}. Where a function of the states
found is taken too, it says what to join."""


def columns_of(
    names: tuple[str, ...], order: list[tuple[Values, bool]], groups: Groups
) -> dict[str, list[Hashable]]:
    """Per variable, its value in every state, groups joined, `ended` added if it is needed."""
    columns: dict[str, list[Hashable]] = {
        name: list(column)
        for name, column in zip(names, zip(*(v for v, _ in order), strict=True), strict=True)
    }
    if len({values for values, _ in order}) < len(order):
        if "ended" in columns:
            raise UserError("a variable is named ended, which is needed for episodes that ended")
        columns["ended"] = [ended for _, ended in order]
    for new, wanted in groups.items():
        patterns = [wanted] if isinstance(wanted, str) else list(wanted)
        members = [n for n in columns if any(fnmatchcase(n, pattern) for pattern in patterns)]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in members):
                raise unknown(f"variable in the group {new!r}", pattern, columns)
        if new in columns and new not in members:
            raise UserError(f"the group {new!r} has the name of a variable; choose another")
        place = list(columns).index(members[0])
        rows = list(zip(*(columns.pop(name) for name in members), strict=True))
        before = list(columns.items())
        columns = dict([*before[:place], (new, _joined(members, rows)), *before[place:]])
    return columns


def constant(columns: Mapping[str, list], declared: Mapping[str, Variable]) -> list[str]:
    """Variables with one value only, which need not be variables; of none if too few were left
    for a skill to have a target and something to leave alone."""
    alike = [n for n, column in columns.items() if len(set(column)) == 1 and n not in declared]
    return alike if len(columns) - len(alike) >= 2 else []


def _joined(members: list[str], rows: list[tuple[Hashable, ...]]) -> list[Hashable]:
    """The values of a group: of flags, which are up; else all of them."""
    if not all(type(value) is bool for row in rows for value in row):
        return list(rows)
    labels = telling_parts(members)
    up = ([label for label, flag in zip(labels, row, strict=True) if flag] for row in rows)
    return [" + ".join(which) or "none" for which in up]


def telling_parts(names: list[str]) -> list[str]:
    """What tells names apart: of at(x1,y2) and at(x2,y2), x1,y2 and x2,y2; of on_a and on_b, a and
    b. Names are cut at signs, not within words."""
    words = [re.split(r"([\W_]+)", name) for name in names]
    shortest = min(map(len, words))
    first = last = 0
    while first < shortest and len({w[first] for w in words}) == 1:
        first += 1
    while last < shortest - first and len({w[-1 - last] for w in words}) == 1:
        last += 1
    parts = ["".join(w[first : len(w) - last]).strip("(),_") for w in words]
    return parts if all(parts) and len(set(parts)) == len(parts) else names


def in_order(values: set[Hashable]) -> tuple[Hashable, ...]:
    """Numbers before texts before tuples, each in their order; the same on every run."""

    def key(value: Hashable) -> tuple:
        if isinstance(value, (bool, int, float)):
            return 0, value
        if isinstance(value, str):
            return 1, value
        if isinstance(value, tuple):
            return 2, tuple(key(part) for part in value)
        return 3, repr(value)

    return tuple(sorted(values, key=key))
