"""What a world consists of, and what a user should know of it, in words and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from skillfocus.metrics.reach import changes_alone
from skillfocus.objectives.assignment import usual_counts
from skillfocus.table import Table
from skillfocus.worlds.world import World

SHOWN = 6
"""More values than this are not listed one by one."""


def describe(world: World, table: Table) -> dict[str, object]:
    """As JSON can hold it: states, actions, variables, and notes in sentences."""
    skills, alone = usual_counts(world), changes_alone(table, world.step_limit)
    variables = [
        {
            "name": variable.name,
            "values": len(variable.values),
            "listed": listed(variable.values),
            "changes": _change(table, j),
            "alone": alone[variable.name],
            "skills": skills.get(variable.name, 0),
        }
        for j, variable in enumerate(world.space.variables)
    ]
    return {
        "world": world.id,
        "states": table.n_states,
        "actions": list(world.actions),
        "step_limit": world.step_limit,
        "variables": variables,
        "notes": list(remarks(world, table, alone)),
    }


def remarks(
    world: World, table: Table, alone: Mapping[str, float | None] | None = None
) -> Iterator[str]:
    """What may surprise in this world; `alone` is what `changes_alone` found, if it is known."""
    alone = changes_alone(table, world.step_limit) if alone is None else alone
    yield from world.notes
    if table.fixed:
        them = "it" if len(table.fixed) == 1 else "them"
        yield f"no action changes {' or '.join(table.fixed)}, so no skill targets {them} by default"
    never = [name for name, share in alone.items() if share == 0]
    if never:
        shown = ", ".join(never[:SHOWN]) + (", …" if len(never) > SHOWN else "")
        verb = "changes" if len(never) == 1 else "change"
        yield (
            f"{shown} never {verb} alone: whatever does it changes something else too, so such "
            f"skills have side effects or do nothing (groups=… joins what changes together)"
        )
    for name, values in table.left_for_good.items():
        if table.reversible[table.space.index(name)]:
            yield f"{name}: once it has left {listed(values)} it never comes back"


def listed(values: tuple[Hashable, ...]) -> str:
    """The values, or the first and the last of many."""
    if len(values) <= SHOWN:
        return ", ".join(map(str, values))
    return f"{values[0]} … {values[-1]}"


def _change(table: Table, variable: int) -> str:
    name = table.space.names[variable]
    if name in table.fixed:
        return "never"
    if not table.reversible[variable]:
        return "for good"
    return "partly for good" if name in table.left_for_good else "and back"
