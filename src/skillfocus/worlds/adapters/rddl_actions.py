"""The actions of an RDDL instance: `noop` and every combination of changed action fluents."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from skillfocus.core.world import MAX_ACTIONS
from skillfocus.errors import UserError
from skillfocus.worlds.adapters.rddl_fluents import Assignment
from skillfocus.worlds.adapters.rddl_model import ExactModel


class _Choice(NamedTuple):
    """One entry of an action fluent set to another value than its default."""

    label: str
    fluent: str
    entry: int
    value: Any


def list_actions(
    world_id: str, rddl: Any, model: ExactModel, simulator: Any
) -> dict[str, Assignment]:
    """Return every action by its name, as the values of all action fluents.

    As many fluents are changed at a time as the instance allows (`max-nondef-actions`).

    Args:
        world_id: The world's id, for errors.
        rddl: pyRDDLGym's lifted model.
        model: The dynamics, which know the fluents.
        simulator: pyRDDLGym's simulator, for default values and bounds.

    Raises:
        UserError: If there are too many actions, or infinitely many.
    """
    defaults = {n: model.fluents[n].values(simulator.init_values[n]) for n in model.actions}
    choices: list[list[_Choice]] = []
    for name in model.actions:
        fluent = model.fluents[name]
        for place, entry in enumerate(fluent.entries):
            default = defaults[name][place]
            if fluent.kind is bool:
                choices.append([_Choice(entry, name, place, not default)])
                continue
            values = fluent.objects or _integer_range(world_id, entry, place, name, rddl, simulator)
            others = [v for v in values if v != default]
            choices.append([_Choice(f"{entry}={v}", name, place, v) for v in others])
    max_changes = min(rddl.max_allowed_actions, len(choices))
    _check_count(world_id, choices, max_changes)
    noop = "default" if "noop" in model.actions else "noop"
    actions: dict[str, Assignment] = {}
    for n_changes in range(max_changes + 1):
        for entries in itertools.combinations(choices, n_changes):
            for changes in itertools.product(*entries):
                values = {name: list(default) for name, default in defaults.items()}
                for change in changes:
                    values[change.fluent][change.entry] = change.value
                label = "+".join(change.label for change in changes) or noop
                actions[label] = {name: tuple(entries) for name, entries in values.items()}
    return actions


def _check_count(world_id: str, choices: list[list[_Choice]], max_changes: int) -> None:
    """Refuse too many actions without listing them: counts[k] of them change k entries."""
    counts = [1] + [0] * len(choices)
    for options in choices:
        for k in range(len(choices), 0, -1):
            counts[k] += counts[k - 1] * len(options)
    possible = [k for k in range(max_changes + 1) if sum(counts[: k + 1]) <= MAX_ACTIONS]
    if possible[-1] < max_changes:
        advice = (
            f"give an instance file with max-nondef-actions = {possible[-1]}"
            if possible[-1]
            else "use a smaller instance"
        )
        raise UserError(
            f"{world_id} has {sum(counts[: max_changes + 1]):,} actions, counting up to "
            f"{max_changes} at a time, but at most {MAX_ACTIONS} are possible: {advice}"
        )


def _integer_range(
    world_id: str, entry: str, place: int, name: str, rddl: Any, simulator: Any
) -> range:
    """Return the values of an integer action, from the bounds that the preconditions set."""
    from pyRDDLGym.core.constraints import RDDLConstraints

    low = high = math.inf
    if rddl.variable_ranges[name] == "int":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bounds = RDDLConstraints(simulator, vectorized=True).bounds[name]
        low, high = (float(np.ravel(bound)[place]) for bound in bounds)
    if not math.isfinite(low) or not math.isfinite(high):
        raise UserError(
            f"{world_id}: the action {entry} has infinitely many values: make it bool, an "
            f"enumeration, or an int with bounds in action-preconditions"
        )
    return range(math.ceil(low), math.floor(high) + 1)
