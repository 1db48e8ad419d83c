"""What a world consists of, and what a user should know of it, in words and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.metrics.reachability import changes_alone
from skillfocus.objectives.targets import default_counts

SHOWN = 6
"""More values than this are not listed one by one."""


def describe(world: World, mdp: TabularMDP) -> dict[str, object]:
    """As JSON can hold it: states, actions, variables, and notes in sentences."""
    skills, alone = default_counts(world), changes_alone(mdp, world.step_limit)
    variables = [
        {
            "name": variable.name,
            "values": len(variable.values),
            "listed": listed(variable.values),
            "changes": _change(mdp, j),
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
        "notes": list(remarks(world, mdp, alone)),
    }


def remarks(
    world: World, mdp: TabularMDP, alone: Mapping[str, float | None] | None = None
) -> Iterator[str]:
    """What may surprise in this world; `alone` is what `changes_alone` found, if it is known."""
    alone = changes_alone(mdp, world.step_limit) if alone is None else alone
    yield from world.notes
    if mdp.fixed:
        them = "it" if len(mdp.fixed) == 1 else "them"
        yield f"no action changes {' or '.join(mdp.fixed)}, so no skill targets {them} by default"
    never = [name for name, share in alone.items() if share == 0]
    if never:
        shown = ", ".join(never[:SHOWN]) + (", …" if len(never) > SHOWN else "")
        verb = "changes" if len(never) == 1 else "change"
        yield (
            f"{shown} never {verb} alone: whatever does it changes something else too, so such "
            f"skills have side effects or do nothing (groups=… joins what changes together)"
        )
    for name, values in mdp.irrecoverable_values.items():
        if mdp.reversible[mdp.space.index(name)]:
            yield f"{name}: once it has left {listed(values)} it never comes back"


def listed(values: tuple[Hashable, ...]) -> str:
    """The values, or the first and the last of many."""
    if len(values) <= SHOWN:
        return ", ".join(map(str, values))
    return f"{values[0]} … {values[-1]}"


def _change(mdp: TabularMDP, variable: int) -> str:
    name = mdp.space.names[variable]
    if name in mdp.fixed:
        return "never"
    if not mdp.reversible[variable]:
        return "for good"
    return "partly for good" if name in mdp.irrecoverable_values else "and back"
