"""Summary of a world: its variables in numbers, and what may surprise a user in sentences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

from skillfocus.mdp import TabularMDP, uninfluenced
from skillfocus.metrics.reachability import isolated_change_chances
from skillfocus.objectives.kinds import default_counts
from skillfocus.spaces import Variable
from skillfocus.world import World

MAX_LISTED = 6
"""The most values or names to list one by one."""


def describe(world: World, mdp: TabularMDP | None = None) -> dict[str, Any]:
    """Return a JSON-compatible summary of a world.

    Args:
        world: The world.
        mdp: `tabulate(world)`, for a world that has a table.

    Returns:
        `world` (id), `actions`, `step_limit`, `notes` and `variables`. With a table, `states`;
        without one, `goals` and `combinations` of values, or for real-valued variables
        `observations` (how many numbers a policy sees) and `episode_steps`. Real-valued actions
        have `name`, `low` and `high`. Per variable `name`, `changes` ("never", "by itself", "for
        good", "partly for good" or "and back"), and `skills` (how many by default); finite ones
        `values` (how many), `listed` (as text) and, with a table, `alone` (see
        `isolated_change_chances`); real-valued ones `numbers`, `low`, `high` (null where there is
        no bound) and `scale`.
    """
    about: dict[str, Any] = {"world": world.id, "actions": _actions(world)}
    about["step_limit"] = world.step_limit
    notes = list(world.notes if mdp is None else remarks(world, mdp))
    if mdp is not None:
        about["states"] = mdp.n_states
    elif world.space.is_finite:
        about |= {"combinations": world.space.n_combinations, "goals": list(world.goals)}
        notes.append("there is no table of its states: use learner=Neural() or --learner neural")
    else:
        about |= {"observations": world.observation_size, "episode_steps": world.episode_steps}
        notes.append("its variables are real-valued: use learner=Actor() or --learner neural")
    variables = [
        _real_variable(world, variable)
        if not variable.is_finite
        else {
            "name": variable.name,
            "values": len(variable.values),
            "listed": list_values(variable.values),
            "changes": _changes(world, mdp, variable.name),
        }
        for variable in world.space.variables
    ]
    if world.space.is_finite:
        skills: dict[str, int] = {}  # no skill has a target where nothing ever changes
        if mdp is None or len(mdp.fixed) < len(mdp.space):
            skills = default_counts(world, left_out=() if mdp is None else uninfluenced(mdp))
        alone = {} if mdp is None else _alone(world, mdp)
        for entry in variables:
            own = {"alone": alone[entry["name"]]} if alone else {}
            entry |= {**own, "skills": skills.get(entry["name"], 0)}
    return {**about, "variables": variables, "notes": notes}


def _actions(world: World) -> list[Any]:
    if not world.has_real_actions:
        return list(world.actions)
    bounds = zip(world.actions, world.action_low, world.action_high, strict=True)
    return [{"name": name, "low": low, "high": high} for name, low, high in bounds]


def _real_variable(world: World, variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "numbers": variable.width,
        "low": [x if math.isfinite(x) else None for x in variable.low],
        "high": [x if math.isfinite(x) else None for x in variable.high],
        "scale": variable.largest_distance,
        "changes": _changes(world, None, variable.name),
    }


def remarks(world: World, mdp: TabularMDP) -> Iterator[str]:
    """Yield what may surprise a user of this world, in sentences; its own `notes` come first.

    Args:
        world: The world.
        mdp: `tabulate(world)`.
    """
    yield from world.notes
    if mdp.fixed:
        them = "it" if len(mdp.fixed) == 1 else "them"
        yield f"no action changes {' or '.join(mdp.fixed)}, so no skill targets {them} by default"
    alive = [name for name in uninfluenced(mdp) if name not in mdp.fixed]
    if alive:
        one = len(alive) == 1
        change = "changes by itself" if one else "change by themselves"
        yield (
            f"{', '.join(alive)} {change}, whatever is done, so no skill targets "
            f"{'it' if one else 'them'} by default; what {'it does' if one else 'they do'} while a "
            f"skill runs counts among the skill's side effects"
        )
    never = [name for name, chance in _alone(world, mdp).items() if chance == 0]
    if never:
        verb = "changes" if len(never) == 1 else "change"
        yield (
            f"{_some_of(never)} never {verb} alone: whatever does it changes something else too, "
            f"so such skills have side effects or do nothing (groups=… joins what changes together)"
        )
    steps_on = [name for j, name in enumerate(mdp.space.names) if _has_stages(mdp, j)]
    if steps_on:
        moves, its, it_has = (
            ("moves", "its", "it has") if len(steps_on) == 1 else ("move", "their", "they have")
        )
        yield (
            f"{_some_of(steps_on)} only {moves} on, so {its} skills are judged from states in "
            f"which {it_has} not moved yet; the columns with * in tables are from every start"
        )
    for name, values in mdp.irrecoverable_values.items():
        if mdp.reversible[mdp.space.index(name)]:
            yield f"{name}: once it has left {list_values(values)} it never comes back"


def _has_stages(mdp: TabularMDP, variable: int) -> bool:
    """Whether a variable only moves on, and has values between its first and its last."""
    between = mdp.can_change[:, variable] & ~mdp.pristine[:, variable]
    return not mdp.n_marks and not mdp.reversible[variable] and bool(between.any())


def _some_of(names: list[str]) -> str:
    return ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")


def _alone(world: World, mdp: TabularMDP) -> dict[str, float | None]:
    default_target = mdp.space.index(world.default_target)
    return isolated_change_chances(mdp, world.step_limit, default_target)


def list_values(values: tuple[Hashable, ...]) -> str:
    """Return the values as text: all of them, or the first and the last of many."""
    if len(values) <= MAX_LISTED:
        return ", ".join(map(str, values))
    return f"{values[0]} … {values[-1]}"


def _changes(world: World, mdp: TabularMDP | None, name: str) -> str:
    """Return how a variable changes, as its table shows, or as the world declares."""
    if mdp is None:
        if name in world.fixed:
            return "never"
        return "for good" if name in world.one_way else "and back"
    if name in mdp.fixed:
        return "never"
    if name in uninfluenced(mdp):
        return "by itself"
    if not mdp.reversible[mdp.space.index(name)]:
        return "for good"
    return "partly for good" if name in mdp.irrecoverable_values else "and back"
