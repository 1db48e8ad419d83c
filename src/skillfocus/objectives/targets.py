"""Which skills target what: each skill is a set of components, one per target variable.

The paper writes a skill as z = (z^1, ..., z^N) with z^i = 0 where i is no target. Here a skill is
a mapping {variable: component}; two skills that share a component want the same of a variable.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillfocus.core.factored import FactoredSpace
from skillfocus.core.world import World
from skillfocus.errors import UserError

N_SKILLS = 16
"""How many skills the paper's experiments have."""
Skill = Mapping[str, int]
Targets = Mapping[str, int] | Sequence[Skill]
"""Counts ({"tool_1": 2, "position": 8}; "tool_1+position" for two targets) or skills one by one."""


@dataclass(frozen=True)
class Assignment:
    skills: tuple[dict[int, int], ...]
    """Per skill, {variable's place: component}; empty for objectives without targets."""

    def __len__(self) -> int:
        return len(self.skills)

    def targets(self, skill: int) -> tuple[int, ...]:
        return tuple(sorted(self.skills[skill]))

    def n_components(self, variable: int) -> int:
        return 1 + max(parts[variable] for parts in self.skills if variable in parts)


def assign(world: World, n_skills: int | None = None, targets: Targets | None = None) -> Assignment:
    """The paper's assignment of so many skills: two per goal, the rest on the variable that roams.
    Or the user's own. Unless said otherwise there are 16 skills, more if the goals need them, and
    no more on a variable than it has values."""
    if targets is None:
        targets = default_counts(world, n_skills)
    if isinstance(targets, Mapping):
        skills = _from_counts(world.space, targets)
    else:
        skills = [dict(skill) for skill in targets]
    if n_skills is not None and len(skills) != n_skills:
        raise UserError(
            f"{n_skills} skills were asked for, but the targets given make {len(skills)}; leave "
            f"one of the two out"
        )
    return Assignment(tuple(_checked(world.space, skill) for skill in skills))


def default_counts(world: World, n_skills: int | None = None) -> dict[str, int]:
    """How many skills target each variable unless the user says otherwise."""
    sizes = dict(zip(world.space.names, world.space.sizes, strict=True))
    counts = {**dict.fromkeys(world.goals, 2), world.default_target: 0}
    least = 2 * len(world.goals)
    wanted = max(N_SKILLS, least + 2) if n_skills is None else n_skills
    if wanted < max(least, 1):
        raise UserError(
            f"{wanted} skills are too few: {world.id} has {len(world.goals)} goals with two skills "
            f"each, so ask for {least} or more, or give your own targets"
        )
    counts[world.default_target] = min(wanted - least, sizes[world.default_target])
    left = wanted - sum(counts.values())
    if n_skills is not None and left:
        counts[world.default_target] += left
    return {name: count for name, count in counts.items() if count}


def untargeted(n_skills: int) -> Assignment:
    """Skills that are told apart by the whole state, as the plain objectives have them."""
    if n_skills < 2:
        raise UserError(f"{n_skills} skill cannot be told from others; ask for at least 2")
    return Assignment(tuple({} for _ in range(n_skills)))


def split(assignment: Assignment, space: FactoredSpace) -> tuple[Assignment, tuple[int, ...]]:
    """Split skills into modes (see `scattered`): the modes of all skills, one after another, as an
    assignment of their own, and how many each skill has."""
    values = [len(variable.values) for variable in space.variables]
    shares = {
        j: max(1, values[j] // assignment.n_components(j))
        for j in range(len(space))
        if any(j in skill for skill in assignment.skills)
    }
    parts, modes = [], []
    for skill in assignment.skills:
        ways = list(itertools.product(*(range(shares[j]) for j in skill)))
        modes.append(len(ways))
        parts += [
            {j: skill[j] * shares[j] + m for j, m in zip(skill, way, strict=True)} for way in ways
        ]
    return Assignment(tuple(parts)), tuple(modes)


def parse_targets(text: str | None) -> dict[str, int] | None:
    """Counts as the command line has them: `tool_1=2,position=4`."""
    if text is None:
        return None
    counts: dict[str, int] = {}
    for part in re.split(r",(?![^()]*\))", text):  # names such as box(x3,y3) have commas too
        name, equals, count = (word.strip() for word in part.rpartition("="))
        if not equals or not name or not (count.isascii() and count.isdecimal()):
            raise UserError(f"cannot read {part.strip()!r} in the targets; write NAME=COUNT,…")
        if name in counts:
            raise UserError(f"the targets name {name!r} twice")
        counts[name] = int(count)
    return counts


def _from_counts(space: FactoredSpace, counts: Mapping[str, int]) -> list[dict[str, int]]:
    """Skills on one variable are all told apart by it. Skills on several are told apart by the one
    with the most values; of the others they share the values, as no more can be told apart."""
    used: dict[str, int] = {}
    skills = []
    for names, count in counts.items():
        if count < 1:
            raise UserError(f"target {names!r} has {count} skills; give it at least 1")
        parts = [part.strip() for part in names.split("+")]
        if len(set(parts)) != len(parts):
            raise UserError(f"target {names!r} names a variable twice")
        sizes = {name: space.sizes[space.index(name)] for name in parts}
        largest = max(parts, key=lambda name: sizes[name])
        for n in range(count):
            skill = {name: n % sizes[name] for name in parts}
            skill[largest] = used.get(largest, 0)
            skills.append(skill)
            for name in parts:
                used[name] = max(used.get(name, 0), skill[name] + 1)
    return skills


def _checked(space: FactoredSpace, skill: Skill) -> dict[int, int]:
    if not skill:
        raise UserError("a skill has no target variable; every focused skill needs at least one")
    if any(component < 0 for component in skill.values()):
        raise UserError(f"skill {dict(skill)} has a negative component")
    places = {space.index(name): int(component) for name, component in skill.items()}
    if len(space) == 1:
        raise UserError(
            f"{space.names[0]} is the only variable, so there is nothing for a focused skill to "
            f"leave alone: use a plain objective such as vic, or tell variables apart (groups=…)"
        )
    if len(places) == len(space):
        raise UserError(
            f"a skill targets every variable ({', '.join(space.names)}); targets must be a proper "
            f"subset, otherwise nothing is left to keep unchanged"
        )
    return places
