"""Which skills target what: each skill is a set of components, one per target variable.

The paper writes a skill as z = (z^1, ..., z^N) with z^i = 0 where i is no target. Here a skill is
a mapping {variable: component}; two skills that share a component are rewarded alike for it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillfocus._internal.checks import shown, whole
from skillfocus.core.factored import FactoredSpace
from skillfocus.core.world import World, check_declared
from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective

N_SKILLS = 16
"""Number of skills in the paper's experiments."""
MAX_SKILLS = 10_000
"""The most skills, with their modes, in one set."""
Skill = Mapping[str, int]
Targets = Mapping[str, int] | Sequence[Mapping[str, Any]]
"""Counts ({"tool_1": 2, "position": 8}; "tool_1+position" for two targets) or a list of skills,
{variable: component} each (for `reach`, {variable: value})."""


@dataclass(frozen=True)
class Assignment:
    """Which skills target what.

    Attributes:
        skills: Per skill, {variable index: component}; empty for objectives without targets.
    """

    skills: tuple[dict[int, int], ...]

    def __len__(self) -> int:
        return len(self.skills)

    def targets(self, skill: int) -> tuple[int, ...]:
        """Return the indices of a skill's target variables, in order."""
        return tuple(sorted(self.skills[skill]))

    def n_components(self, variable: int) -> int:
        """Return how many components the skills on a variable have."""
        return 1 + max(parts[variable] for parts in self.skills if variable in parts)

    def split(self, space: FactoredSpace) -> tuple[Assignment, tuple[int, ...]]:
        """Split skills into modes, V // K for a variable of V values and K components.

        Returns:
            The modes of all skills, one after another, as an assignment of their own; and how
            many modes each skill has (see `scattered`).
        """
        shares = {
            j: max(1, space.sizes[j] // self.n_components(j))
            for j in range(len(space))
            if any(j in skill for skill in self.skills)
        }
        check_count(sum(math.prod(shares[j] for j in skill) for skill in self.skills), "modes")
        parts, modes = [], []
        for skill in self.skills:
            choices = list(itertools.product(*(range(shares[j]) for j in skill)))
            modes.append(len(choices))
            parts += [
                {j: skill[j] * shares[j] + m for j, m in zip(skill, choice, strict=True)}
                for choice in choices
            ]
        return Assignment(tuple(parts)), tuple(modes)


def assign(
    world: World,
    n_skills: int | None = None,
    targets: Targets | None = None,
    left_out: Collection[str] = (),
) -> Assignment:
    """Assign targets to skills: the paper's way, or the user's.

    Args:
        world: The world whose variables are targeted.
        n_skills: Number of skills (default: 16, more if the goals need them). Each goal gets two,
            the world's `default_target` the rest, but no more than it has values unless a number
            is given.
        targets: Counts per target, or the skills one by one.
        left_out: Variables that get no skills by default, such as those that no action influences.
    """
    check_declared(world)
    if n_skills is not None:
        n_skills = whole("n_skills", n_skills)
    if targets is None:
        targets = default_counts(world, n_skills, left_out)
    _check_form(targets)
    if isinstance(targets, Mapping):
        check_count(sum(targets.values()))
        skills = _from_counts(world.space, targets)
    else:
        skills = [dict(skill) for skill in targets]
    return make_assignment(world.space, skills, n_skills)


def _check_form(targets: object) -> None:
    """Raise a `UserError` unless targets are counts by name, or skills one by one."""
    form = 'write counts, such as {"tool_1": 2}, or skills, such as [{"tool_1": 0}, {"tool_1": 1}]'
    skills = [targets] if isinstance(targets, Mapping) else targets
    if isinstance(skills, str) or not isinstance(skills, Sequence):
        raise UserError(f"targets cannot be {shown(targets)}: {form}")
    if not targets or not all(isinstance(skill, Mapping) for skill in skills):
        raise UserError(f"targets cannot be {shown(targets)}: {form}")
    for skill in skills:
        for name, number in skill.items():
            if not isinstance(name, str):
                raise UserError(f"targets are named by text, got {name!r}: {form}")
            whole(f"the number of {name!r} in targets", number)


def default_targets(world: World, left_out: Collection[str] = ()) -> tuple[tuple[str, ...], str]:
    """Return the goals and the default target of a world, without variables that are left out.

    Raises:
        UserError: If all are left out.
    """
    goals, default_target = world.goals, world.default_target
    if default_target in left_out:
        rest = [v for v in world.space.variables if v.name not in {*left_out, *world.fixed}]
        if not rest:
            raise UserError(f"no action changes anything in {world.id}, so skills have no targets")
        default_target = max(rest, key=lambda variable: len(variable.values)).name
    return tuple(n for n in goals if n not in left_out and n != default_target), default_target


def default_counts(
    world: World, n_skills: int | None = None, left_out: Collection[str] = ()
) -> dict[str, int]:
    """Return how many skills target each variable by default."""
    sizes = dict(zip(world.space.names, world.space.sizes, strict=True))
    goals, default_target = default_targets(world, left_out)
    counts = {**dict.fromkeys(goals, 2), default_target: 0}
    least = 2 * len(goals)
    wanted = max(N_SKILLS, least + 2) if n_skills is None else n_skills
    if wanted < max(least, 1):
        few = "1 skill is too few" if wanted == 1 else f"{wanted} skills are too few"
        raise UserError(
            f"{few}: every goal of {world.id} needs two, so ask for {least} or more, or give your "
            f"own targets"
        )
    counts[default_target] = min(wanted - least, sizes[default_target])
    left = wanted - sum(counts.values())
    if n_skills is not None and left:
        counts[default_target] += left
    return {name: count for name, count in counts.items() if count}


def check_count(count: int, what: str = "skills") -> None:
    """Raise `UserError` if so many skills would be too many."""
    if count > MAX_SKILLS:
        raise UserError(f"{count:,} {what} were asked for; there may be up to {MAX_SKILLS:,}")


def untargeted(n_skills: int) -> Assignment:
    """Return an assignment of skills without targets, as plain objectives have them."""
    n_skills = whole("n_skills", n_skills)
    if n_skills < 2:
        raise UserError(f"{n_skills} skill cannot be told from others; ask for at least 2")
    check_count(n_skills)
    return Assignment(tuple({} for _ in range(n_skills)))


def assign_skills(
    world: World,
    objective: Objective,
    n_skills: int | None = None,
    targets: Targets | None = None,
    left_out: Collection[str] = (),
) -> Assignment:
    """Assign targets to the skills of an objective, and check that they can be learned.

    Args:
        world: The world whose variables are targeted.
        objective: What the skills are rewarded for; plain objectives have no targets.
        n_skills: Number of skills (default: 16).
        targets: Counts per target, or the skills one by one (default: the paper's assignment).
        left_out: Variables that get no skills by default.

    Raises:
        UserError: If objective and targets do not fit together.
    """
    if objective.modes == "scattered" and not objective.targeted:
        raise UserError(
            f"{objective.name} has no meaning: its skills have no target whose values they could "
            f"share; apply focused or dusdi too, as in scattered(focused(vic()))"
        )
    if not objective.targeted and targets is not None:
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)) or leave "
            f"the targets out"
        )
    assignment = (
        assign(world, n_skills, targets, left_out)
        if objective.targeted
        else untargeted(N_SKILLS if n_skills is None else n_skills)
    )
    if objective.reward.estimate.discriminates:
        _require_multiple_skills(world, assignment)
    return assignment


def _require_multiple_skills(world: World, assignment: Assignment) -> None:
    """A discriminator of a single skill is constant: that skill would earn 0 for anything."""
    for variable, name in enumerate(world.space.names):
        targeted = any(variable in skill for skill in assignment.skills)
        if targeted and assignment.n_components(variable) < 2:
            raise UserError(
                f"only one skill targets {name}, so there is nothing to tell it from; give "
                f"{name} at least 2 skills, or none"
            )


def _from_counts(space: FactoredSpace, counts: Mapping[str, int]) -> list[dict[str, int]]:
    """Turn counts into skills.

    Skills on one variable each get a component of their own. Skills on several variables get their
    own component of the one with the most values, and share the components of the others, which
    have too few values to tell more skills apart. If even that one has too few for all of them,
    they combine the components of all. Two sets of targets share the components of a variable that
    has too few values for both: a component without a value of its own would want nothing.
    """
    used: dict[str, int] = {}
    skills, earlier = [], []
    for names, count in counts.items():
        if count < 1:
            raise UserError(f"target {names!r} has {count} skills; give it at least 1")
        parts = [part.strip() for part in names.split("+")]
        if len(set(parts)) != len(parts):
            raise UserError(f"target {names!r} names a variable twice")
        sizes = {name: space.sizes[space.index(name)] for name in parts}
        largest = max(parts, key=lambda name: sizes[name])
        first = used.get(largest, 0)
        combined = False
        if set(parts) not in earlier:
            first = 0 if first + count > sizes[largest] else first
            combined = sizes[largest] < count <= math.prod(sizes.values())
        earlier.append(set(parts))
        for n in range(count):
            skill = {name: n % sizes[name] for name in parts}
            skill[largest] = first + n
            if combined:
                laps, skill[largest] = divmod(n, sizes[largest])
                for name in parts:
                    if name != largest:
                        laps, shift = divmod(laps, sizes[name])
                        skill[name] = (n + shift) % sizes[name]
            skills.append(skill)
            for name in parts:
                used[name] = max(used.get(name, 0), skill[name] + 1)
    return skills


def make_assignment(
    space: FactoredSpace, skills: Sequence[Skill], n_skills: int | None
) -> Assignment:
    """Return the assignment that skills make.

    Raises:
        UserError: If another number of them was asked for, or a skill's targets are not valid.
    """
    if n_skills is not None and len(skills) != n_skills:
        raise UserError(
            f"{n_skills} skills were asked for, but the targets given make {len(skills)}; leave "
            f"one of the two out"
        )
    return Assignment(tuple(_check_skill(space, skill) for skill in skills))


def _check_skill(space: FactoredSpace, skill: Skill) -> dict[int, int]:
    """Return a skill with variables by number; raise `UserError` unless its targets are valid."""
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
