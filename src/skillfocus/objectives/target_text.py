"""Targets as text, for the command line and stored runs.

tool_1=2,position=4              skills by target
agent=4,box=sphere2              in continuous worlds, components by target
agent=4,box=sphere2,agent+box    skills on both at once, too
agent=4,nothing                  and one that leaves everything
"""

from __future__ import annotations

import re

from skillfocus.errors import UserError
from skillfocus.objectives.skill_layout import Component, ContinuousTargets, Sphere

NOTHING = "nothing"
"""Stands for skills that leave everything."""


def parse_continuous_targets(text: str | None) -> ContinuousTargets | None:
    """Parse targets, such as `agent=4,box=sphere2,agent+box`.

    Raises:
        UserError: If a part cannot be read.
    """
    if text is None:
        return None
    components: dict[str, Component] = {}
    kinds: list[list[str]] = []
    for part in (part.strip() for part in text.split(",")):
        name, equals, size = (word.strip() for word in part.rpartition("="))
        if not equals:
            kinds.append([] if part == NOTHING else [each.strip() for each in part.split("+")])
            continue
        found = re.fullmatch("(sphere)?([0-9]{1,9})", size)
        if not name or found is None:
            raise UserError(f"cannot read {part!r} in the targets; write NAME=4 or NAME=sphere2")
        if name in components:
            raise UserError(f"the targets name {name!r} twice")
        components[name] = Sphere(int(found[2])) if found[1] else int(found[2])
    if not kinds:
        return components
    for kind in kinds:
        for name in kind:
            if name not in components:
                raise UserError(
                    f"cannot read {name!r} in the targets: say how many skills it has, such as "
                    f"{name}=4"
                )
    singles: list[dict[str, Component]] = [{name: components[name]} for name in components]
    return [*singles, *({name: components[name] for name in kind} for kind in kinds)]


def parse_targets(text: str | None) -> dict[str, int] | None:
    """Parse counts as the command line has them: `tool_1=2,position=4`."""
    if text is None:
        return None
    counts: dict[str, int] = {}
    for part in re.split(r",(?![^()]*\))", text):  # names such as box(x3,y3) have commas too
        name, equals, count = (word.strip() for word in part.rpartition("="))
        if not equals or not name or not re.fullmatch("[0-9]{1,18}", count):
            raise UserError(f"cannot read {part.strip()!r} in the targets; write NAME=COUNT,…")
        if name in counts:
            raise UserError(f"the targets name {name!r} twice")
        counts[name] = int(count)
    return counts
