"""Default groups of an RDDL world: flags that together say where something is."""

from __future__ import annotations

import itertools

import numpy as np

from skillfocus.worlds.adapters.rddl_model import ExactModel
from skillfocus.worlds.grouping import Groups
from skillfocus.worlds.model import Values


def position_groups(model: ExactModel, states: list[Values]) -> Groups:
    """Find flags that together say where something is.

    These are flags of which never more than one is up (the place of one thing), or of which always
    equally many are (the places of several things alike); the former win. Of a fluent
    `at(x, y, z)`, any subset of the parameters may name the thing while the others are its place;
    the smallest that works is used.

    Args:
        model: The domain's fluents.
        states: Every reachable state.

    Returns:
        {group: pattern of entries}.
    """
    groups: dict[str, str] = {}
    assignments = [model.assignment(values) for values in states]
    for name in (name for name in model.next if model.fluents[name].kind is bool):
        fluent = model.fluents[name]
        flags = np.array([assignment[name] for assignment in assignments])
        changing = [
            entry
            for entry, column in zip(fluent.entries, flags.T, strict=True)
            if np.unique(column).size > 1
        ]
        flags, axes = flags.reshape(-1, *fluent.shape), range(len(fluent.shape))
        subsets = [parameters for n in axes for parameters in itertools.combinations(axes, n)]
        n_up = {
            parameters: flags.sum(axis=tuple(axis + 1 for axis in axes if axis not in parameters))
            for parameters in subsets
        }
        at_most_one = [parameters for parameters in subsets if n_up[parameters].max() == 1]
        constant = [
            parameters
            for parameters in subsets
            if (n_up[parameters].min(axis=0) == n_up[parameters].max(axis=0)).all()
        ]
        for parameters in (*at_most_one, *constant)[:1]:
            groups |= _group_patterns(name, changing, parameters)
    return groups


def _group_patterns(name: str, changing: list[str], parameters: tuple[int, ...]) -> dict[str, str]:
    """Return {group: pattern} for flags that share the objects at some parameters.

    Only groups in which two or more flags change.
    """
    families: dict[tuple[str, ...], int] = {}
    for entry in changing:
        objects = entry[len(name) + 1 : -1].split(",")
        family = tuple(o if i in parameters else "*" for i, o in enumerate(objects))
        families[family] = families.get(family, 0) + 1
    groups: dict[str, str] = {}
    for family, size in families.items():
        if size > 1:
            objects = ",".join(family[i] for i in parameters)
            groups[f"{name}({objects})" if parameters else name] = f"{name}({','.join(family)})"
    return groups
