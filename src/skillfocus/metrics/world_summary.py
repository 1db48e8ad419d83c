"""Summary of a world: its variables in numbers, and what may surprise a user in sentences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator

from skillfocus.mdp import TabularMDP, uninfluenced
from skillfocus.metrics.reachability import isolated_change_chances
from skillfocus.objectives.kinds import default_counts
from skillfocus.spaces import Variable
from skillfocus.world import World
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.world import JaxWorld

MAX_LISTED = 6
"""The most values or names to list one by one."""


def describe(world: World, mdp: TabularMDP) -> dict[str, object]:
    """Return a JSON-compatible summary of a world.

    Args:
        world: The world.
        mdp: `tabulate(world)`.

    Returns:
        `world` (id), `states`, `actions`, `step_limit`, `notes`, and `variables`: per variable
        `name`, `values` (how many), `listed` (as text), `changes` ("never", "by itself", "for
        good", "partly for good" or "and back"), `alone` (see `isolated_change_chances`) and
        `skills` (how many by default).
    """
    skills: dict[str, int] = {}  # by variable; no skill has a target where nothing ever changes
    if len(mdp.fixed) < len(mdp.space):
        skills = default_counts(world, left_out=uninfluenced(mdp))
    alone = _alone(world, mdp)
    variables = [
        {
            **_finite_variable(variable, _describe_changes(mdp, j)),
            "alone": alone[variable.name],
            "skills": skills.get(variable.name, 0),
        }
        for j, variable in enumerate(world.space.variables)
    ]
    return {
        "world": world.id,
        "states": mdp.n_states,
        "actions": list(world.actions),
        "step_limit": world.step_limit,
        "variables": variables,
        "notes": list(remarks(world, mdp)),
    }


def describe_without_table(world: JaxWorld) -> dict[str, object]:
    """Return a JSON-compatible summary of a world that has no table.

    Returns:
        As `describe`, with `combinations` of values in place of `states`, `goals`, and without
        `alone`, which only a table can tell.
    """
    skills = default_counts(world)
    variables = [
        {
            **_finite_variable(variable, _declared_changes(world, variable.name)),
            "skills": skills.get(variable.name, 0),
        }
        for variable in world.space.variables
    ]
    return {
        "world": world.id,
        "combinations": world.space.size,
        "actions": list(world.actions),
        "step_limit": world.step_limit,
        "goals": list(world.goals),
        "variables": variables,
        "notes": [
            *world.notes,
            "there is no table of its states: use learner=Neural() or --learner neural",
        ],
    }


def describe_continuous(world: ContinuousBase) -> dict[str, object]:
    """Return a JSON-compatible summary of a world with continuous variables.

    Returns:
        `world` (id), `actions` (per dimension `name`, `low`, `high`), `observations` (how many
        numbers a policy sees), `step_limit`, `episode_steps`, `notes`, and `variables`: per
        variable `name`, `numbers`, `low`, `high` (null where there is no bound), `scale` and
        `changes`.
    """
    variables = [
        {
            "name": variable.name,
            "numbers": variable.size,
            "low": [x if math.isfinite(x) else None for x in variable.low],
            "high": [x if math.isfinite(x) else None for x in variable.high],
            "scale": variable.largest_distance,
            "changes": _declared_changes(world, variable.name),
        }
        for variable in world.space.variables
    ]
    bounds = zip(world.actions, world.action_low, world.action_high, strict=True)
    return {
        "world": world.id,
        "actions": [{"name": name, "low": low, "high": high} for name, low, high in bounds],
        "observations": world.observation_size,
        "step_limit": world.step_limit,
        "episode_steps": world.episode_steps,
        "variables": variables,
        "notes": [
            *world.notes,
            "its variables are continuous: use learner=Neural() or --learner neural",
        ],
    }


def _finite_variable(variable: Variable, changes: str) -> dict[str, object]:
    return {
        "name": variable.name,
        "values": len(variable.values),
        "listed": list_values(variable.values),
        "changes": changes,
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


def _declared_changes(world: JaxWorld | ContinuousBase, name: str) -> str:
    if name in world.fixed:
        return "never"
    return "for good" if name in world.one_way else "and back"


def _describe_changes(mdp: TabularMDP, variable: int) -> str:
    name = mdp.space.names[variable]
    if name in mdp.fixed:
        return "never"
    if name in uninfluenced(mdp):
        return "by itself"
    if not mdp.reversible[variable]:
        return "for good"
    return "partly for good" if name in mdp.irrecoverable_values else "and back"
