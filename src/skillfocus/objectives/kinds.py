"""Kinds of skills: which variables skills target, and with which components.

The paper writes a skill as z = (z^1, ..., z^N) with z^i = 0 where i is no target. Here a skill is a
mapping {variable: component}; two skills that share a component are rewarded alike for it. A
component is a number, of goal-conditioned skills (`reach`) the index of a value; of real-valued
variables it may also be a direction on a sphere. Targets are written as

    {"tool_1": 2, "position": 8}              how many skills target what
    {"tool_1+position": 4}                    four skills on both
    {"agent": 4, "box": Sphere(2)}            of real-valued variables, how many components
    {"agent": 4, "box": 8, "agent+box": None, "nothing": None}
                                              also skills on both at once, and one that leaves all
    {"agent": 4, "box": 8, "each": None}      of DUSDi, one target at a time instead of all at once
    [{"tool_1": 0}, {"tool_1": 1}]            the skills of finite variables one by one

and on the command line as `tool_1=2,position=8` or `agent=4,box=sphere2,agent+box,nothing`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective
from skillfocus.spaces import Space
from skillfocus.world import World

N_SKILLS = 16
"""Number of skills in the paper's experiments."""
MAX_SKILLS = 10_000
"""The most skills, with their modes, in one set; the most components of a target."""
N_COMPONENTS = 5
"""Components of a real-valued target by default, as in DUSDi's experiments."""
N_DIRECTIONS = 8
"""Directions that stand for a sphere where its skills are listed."""
WHOLE = -1
"""In place of a target's index: the whole state, which skills of plain objectives are about."""
NOTHING = "nothing"
"""In place of a target's name: skills that leave everything."""
EACH = "each"
"""In place of a target's name: of DUSDi, skills for one target at a time."""


@dataclass(frozen=True)
class Sphere:
    """Continuous skills: z is a direction, a point on the unit sphere.

        sf.discover(world, sf.focused(sf.metra()), seed=0, learner="neural",
                    targets={"box": sf.Sphere(2)})

    Attributes:
        dimensions: Of the space that the sphere lies in; a direction has as many numbers.
    """

    dimensions: int

    def __post_init__(self) -> None:
        if not 2 <= self.dimensions <= MAX_SKILLS:
            raise UserError(
                f"a Sphere of {self.dimensions} dimensions has no directions to choose from; take "
                f"2 to {MAX_SKILLS:,}, or a number of discrete skills"
            )

    def directions(self, n: int = N_DIRECTIONS) -> list[tuple[float, ...]]:
        """Return some directions: evenly spaced on a circle, else random with a fixed seed."""
        if self.dimensions == 2:
            angles = 2 * np.pi * np.arange(n) / n
            return [(float(np.cos(a)), float(np.sin(a))) for a in angles]
        sampled = np.random.default_rng(0).standard_normal((n, self.dimensions))
        sampled /= np.linalg.norm(sampled, axis=1, keepdims=True)
        return [tuple(row) for row in sampled.tolist()]


Components = int | Sphere
"""How many components a target has, or the sphere they lie on."""
Skill = Mapping[int, Any]
"""A skill: {variable: component}, where a component is a number or a direction."""
Targets = Mapping[str, Components | None] | Sequence[Mapping[str, Any]] | Sphere
"""What `discover` takes as `targets`, see above; a sphere alone is for plain objectives."""


@dataclass(frozen=True)
class SkillKind:
    """Skills with the same targets.

        SkillKind({1: 2}, ({1: 0}, {1: 1}))  # two skills for variable 1

    Attributes:
        components: Per target, how many components it has in the whole set, or its sphere.
        skills: The skills of this kind. One that leaves out a target draws its component when it
            starts, as DUSDi's skills on many variables at once are judged.
    """

    components: Mapping[int, Components]
    skills: tuple[Skill, ...]


@dataclass(frozen=True)
class SkillKinds:
    """The kinds of skills in a set, which number its skills one after another.

    Attributes:
        kinds: The kinds.
    """

    kinds: tuple[SkillKind, ...]

    @cached_property
    def skills(self) -> tuple[Skill, ...]:
        """All skills, {variable: component}; those of plain objectives have none."""
        return tuple(skill for kind in self.kinds for skill in kind.skills)

    def __len__(self) -> int:
        return len(self.skills)

    def targets(self, skill: int) -> tuple[int, ...]:
        """Return the indices of a skill's target variables, in order."""
        return tuple(sorted(j for j in self.skills[skill] if j != WHOLE))

    def n_components(self, variable: int) -> int:
        """Return how many components the skills on a finite variable have."""
        return 1 + max(parts[variable] for parts in self.skills if variable in parts)

    def split(self, space: Space) -> tuple[SkillKinds, tuple[int, ...]]:
        """Split skills into modes, V // K for a variable of V values and K components.

        Returns:
            The modes of all skills, one after another, as kinds of their own; and how many modes
            each skill has (see `scattered`).
        """
        targets = {j for skill in self.skills for j in skill}
        shares = {j: max(1, space.sizes[j] // self.n_components(j)) for j in targets}
        check_count(sum(math.prod(shares[j] for j in skill) for skill in self.skills), "modes")
        parts, modes = [], []
        for skill in self.skills:
            choices = list(itertools.product(*(range(shares[j]) for j in skill)))
            modes.append(len(choices))
            parts += [
                {j: skill[j] * shares[j] + m for j, m in zip(skill, choice, strict=True)}
                for choice in choices
            ]
        return group_skills(parts), tuple(modes)


def group_skills(skills: Sequence[Skill]) -> SkillKinds:
    """Return skills of finite variables, in this order, as kinds."""
    most: dict[int, int] = {}
    for skill in skills:
        for j, component in skill.items():
            most[j] = max(most.get(j, 0), component + 1)
    kinds = [
        SkillKind({j: most[j] for j in targets}, tuple(members))
        for targets, members in itertools.groupby(skills, key=lambda skill: tuple(sorted(skill)))
    ]
    return SkillKinds(tuple(kinds))


# -------------------- The skills of an objective: the user's targets, or the default ones


def make_kinds(
    world: World,
    objective: Objective,
    n_skills: int | None = None,
    targets: Targets | None = None,
    left_out: Collection[str] = (),
) -> SkillKinds:
    """Return the skills that an objective is to learn, and check that they can be learned.

    Args:
        world: The world whose variables are targeted.
        objective: What the skills are rewarded for; plain objectives have no targets.
        n_skills: Number of skills (default: 16; of `reach`, one for each value; of
            `reach(change=True)`, one for each target).
        targets: How many skills target what, or the skills one by one, see above (default: the
            goals, and the world's `default_target` for the rest). `reach` spreads a count evenly
            over the values, and takes skills as `{variable: value}`.
        left_out: Variables that get no skills by default.

    Raises:
        UserError: If objective and targets do not fit together.
    """
    _check_variants(objective, targets)
    if not world.space.is_finite:
        return _real_valued(world, objective, n_skills, targets)
    if not objective.targeted:
        return untargeted(N_SKILLS if n_skills is None else n_skills)
    if isinstance(targets, Sphere):
        raise UserError(
            f"a Sphere is for real-valued variables, and those of {world.id} are finite"
        )
    kinds = assign(
        world, n_skills, targets, left_out, of_values=reaches_values(objective),
        to_change=changes_targets(objective),
    )  # fmt: skip
    if objective.reward.estimate.discriminates:
        # A discriminator of a single skill is constant: that skill would earn 0 for anything.
        for variable in sorted({j for skill in kinds.skills for j in skill}):
            if kinds.n_components(variable) < 2:
                name = world.space.names[variable]
                raise UserError(
                    f"only one skill targets {name}, so there is nothing to tell it from; give "
                    f"{name} at least 2 skills, or none"
                )
    return kinds


def assign(
    world: World,
    n_skills: int | None = None,
    targets: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    left_out: Collection[str] = (),
    *,
    of_values: bool = False,
    to_change: bool = False,
) -> SkillKinds:
    """Assign targets to skills on finite variables: the paper's way, or the user's.

    Args:
        world: The world whose variables are targeted.
        n_skills: Number of skills (default: 16, more if the goals need them). Each goal gets two,
            the world's `default_target` the rest, but no more than it has values unless a number
            is given.
        targets: Counts per target, or the skills one by one.
        left_out: Variables that get no skills by default, such as those that no action influences.
        of_values: Whether components are values of their targets, as those of `reach` are: by
            default there is one for each, up to 16 of a variable.
        to_change: Whether a skill is to change its targets to any value, so that there is one for
            each set of targets.

    Raises:
        UserError: If another number of them was asked for, or a skill's targets are not valid.
    """
    space = world.space
    if targets is None and to_change:
        goals, default_target = default_targets(world, left_out)
        targets = dict.fromkeys((*goals, default_target), 1)
    elif targets is None:
        targets = default_counts(world, n_skills, left_out, of_values=of_values)
    if isinstance(targets, Mapping):
        check_count(sum(count for count in targets.values() if isinstance(count, int)))
        skills = (_spread if of_values else _from_counts)(space, targets)
    elif of_values:
        skills = [
            {name: space.variables[space.index(name)].numbers(label) for name, label in one.items()}
            for one in targets
        ]
    else:
        skills = targets
    if n_skills is not None and len(skills) != n_skills:
        raise UserError(
            f"{n_skills} skills were asked for, but the targets given make {len(skills)}; leave "
            f"one of the two out"
        )
    checked = [_check_skill(space, skill) for skill in skills]
    if to_change:
        checked = [dict.fromkeys(sorted(skill), 0) for skill in checked]
        for skill in checked:
            if (count := checked.count(skill)) > 1:
                raise UserError(
                    f"{'+'.join(space.names[j] for j in skill)} has {count} skills, which would "
                    f"all be the same: a skill that changes it to any other value; give it 1, or "
                    f"one per value with reach()"
                )
    return group_skills(checked)


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
    world: World,
    n_skills: int | None = None,
    left_out: Collection[str] = (),
    *,
    of_values: bool = False,
) -> dict[str, int]:
    """Return how many skills target each variable by default, or reach a value of it."""
    sizes = dict(zip(world.space.names, world.space.sizes, strict=True))
    goals, default_target = default_targets(world, left_out)
    counts = {name: min(sizes[name], N_SKILLS) if of_values else 2 for name in goals}
    taken, most = sum(counts.values()), sizes[default_target]
    if n_skills is None:
        rest = min(most, N_SKILLS if of_values else max(N_SKILLS - taken, 2))
    else:
        rest = n_skills - taken
        too_many = of_values and rest > most
        if rest < 0 or n_skills < 1 or too_many:
            limit = f"to {taken + most}" if of_values else "or more"
            raise UserError(
                f"{'1 skill is' if n_skills == 1 else f'{n_skills} skills are'} too "
                f"{'many' if too_many else 'few'}: the goals of {world.id} take {taken}, so ask "
                f"for {max(taken, 1)} {limit}, or give your own targets"
            )
    counts[default_target] = rest
    return {name: count for name, count in counts.items() if count}


def check_count(count: int, what: str = "skills") -> None:
    """Raise `UserError` if so many skills would be too many."""
    if count > MAX_SKILLS:
        raise UserError(f"{count:,} {what} were asked for; there may be up to {MAX_SKILLS:,}")


def untargeted(n_skills: int) -> SkillKinds:
    """Return skills without targets, as plain objectives have them."""
    if n_skills < 2:
        raise UserError(f"n_skills must be at least 2, got {n_skills}")
    check_count(n_skills)
    return SkillKinds((SkillKind({}, ({},) * n_skills),))


def _from_counts(space: Space, counts: Mapping[str, int]) -> list[dict[str, int]]:
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
        if count is None:
            raise UserError(f"how many skills target {names}? write NAME=COUNT, as in {names}=2")
        if not isinstance(count, int | np.integer) or count < 1:
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


def _check_skill(space: Space, skill: Mapping[str, int]) -> dict[int, int]:
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


def reaches_values(objective: Objective) -> bool:
    """Return whether components of an objective's skills are values of their targets."""
    return getattr(objective.reward.estimate, "components_are_values", False)


def changes_targets(objective: Objective) -> bool:
    """Return whether skills with equal targets would be alike, so that there is only one."""
    return getattr(objective.reward.estimate, "single_component", False)


def _check_variants(objective: Objective, targets: Targets | None) -> None:
    """Raise a `UserError` for variants that the objective's skills cannot have."""
    goal_conditioned = reaches_values(objective) or changes_targets(objective)
    if goal_conditioned and not objective.targeted:
        plain = "reach(change=True)" if changes_targets(objective) else "reach()"
        raise UserError(
            f"{objective.name} skills need a target whose value they reach; use "
            f"focused({plain}), or focused-{objective.name} on the command line"
        )
    if objective.modes == "scattered" and goal_conditioned:
        raise UserError(
            f"{objective.name} has no meaning: a skill that is told what to reach has no modes; "
            f"leave scattered out"
        )
    if objective.modes == "scattered" and not objective.targeted:
        raise UserError(
            f"{objective.name} has no meaning: its skills have no target whose values they could "
            f"share; apply focused or dusdi too, as in scattered(focused(vic()))"
        )
    if not objective.targeted and targets is not None and not isinstance(targets, Sphere):
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)) or leave "
            f"the targets out"
        )


def _spread(space: Space, counts: Mapping[str, int]) -> list[dict[str, int]]:
    """Return skills for some values of each variable, evenly spread over all of them."""
    skills = []
    for name, count in counts.items():
        if "+" in name:
            raise UserError(
                f"reach counts values of single variables, not of {name!r}; for several targets "
                f"give the skills one by one: targets=[{{variable: value, other: value}}, …]"
            )
        size = space.sizes[space.index(name)]
        if not isinstance(count, int | np.integer) or not 1 <= count <= size:
            raise UserError(
                f"{name} has {size} values, so it can have 1 to {size} skills, not {count}"
            )
        skills += [{name: int(i)} for i in np.arange(count) * size // count]
    return skills


def goals_of(space: Space, objective: Objective, kinds: SkillKinds) -> tuple[dict[str, int], ...]:
    """Return the value that each goal-conditioned skill reaches, its index by target; empty for
    other objectives."""
    if not reaches_values(objective):
        return ({},) * len(kinds)
    return tuple({space.names[j]: k for j, k in sorted(skill.items())} for skill in kinds.skills)


def goal_label(space: Space, goal: Mapping[str, int]) -> str:
    """Return what a skill reaches as text: `passenger=in taxi`."""
    return ", ".join(
        f"{name}={space.variables[space.index(name)].values[k]}" for name, k in goal.items()
    )


# -------------------- Skills on real-valued variables


def _real_valued(
    world: World, objective: Objective, n_skills: int | None, targets: Targets | None
) -> SkillKinds:
    """Return the kinds of skills of a world with real-valued variables."""
    space = world.space
    if objective.modes != "single":
        raise UserError(f"{objective.name} needs variables with finitely many values")
    if not objective.targeted:
        count = targets if isinstance(targets, Sphere) else (n_skills or N_SKILLS)
        _check_components({"the whole state": count}, objective)
        return _list_skills([{WHOLE: count}])
    if n_skills is not None:
        raise UserError(
            f"{objective.name} skills of real-valued variables are counted per target: leave "
            f"n_skills out and give targets, such as {{{space.names[0]!r}: {N_COMPONENTS}}}"
        )
    if targets is None:
        targets = dict.fromkeys(world.goals, N_COMPONENTS)
    if not isinstance(targets, Mapping):
        raise UserError(
            f"targets of real-valued variables are components by name, such as "
            f"{{{space.names[0]!r}: {N_COMPONENTS}}}, got {targets!r}"
        )
    components = {name: count for name, count in targets.items() if count is not None}
    space.indices(list(components))
    _check_components(components, objective)
    several = [name for name, count in targets.items() if count is None]
    # DUSDi's skills have a component for every target at once, unless kinds are listed.
    at_once = objective.weight is not None and not several
    several = [name for name in several if name != EACH]
    named = [list(components)] if at_once else [[name] for name in components]
    named += [[] if name == NOTHING else name.split("+") for name in several]
    if not any(named):
        raise UserError('no skill has a target; write {"agent": 4, "box": sf.Sphere(2)}')
    kinds = []
    for names in named:
        for name in names:
            if name not in components:
                raise UserError(
                    f"the targets name {'+'.join(names)}, but not how many components {name} has: "
                    f"add {name!r}: {N_COMPONENTS}"
                )
        kinds.append({j: components[space.names[j]] for j in sorted(space.indices(names))})
    if objective.penalty is not None and all(len(kind) == len(space) for kind in kinds):
        raise UserError(
            f"all skills target every variable ({', '.join(space.names)}), so nothing is left to "
            f"keep unchanged"
        )
    return _list_skills(kinds)


def _check_components(components: Mapping[str, object], objective: Objective) -> None:
    for name, count in components.items():
        counted = isinstance(count, int | np.integer) and 2 <= count <= MAX_SKILLS
        if not counted and not isinstance(count, Sphere):
            raise UserError(
                f"{name} cannot have {count} skills of {objective.name}; give it 2 to "
                f"{MAX_SKILLS:,}, or a Sphere"
            )


def _list_skills(kinds: Sequence[Mapping[int, Components]]) -> SkillKinds:
    """Return kinds with their skills: one per component of each target, of the kind with the fewest
    targets that has it; those of other targets are drawn when a skill starts."""
    skills: dict[tuple[int, ...], list[Skill]]
    components = {tuple(sorted(kind)): kind for kind in kinds}
    skills = {kind: [] if kind else [{}] for kind in components}
    for j in sorted({j for kind in components for j in kind}):
        fewest = min((kind for kind in components if j in kind), key=len)
        count = components[fewest][j]
        members = count.directions() if isinstance(count, Sphere) else range(count)
        skills[fewest] += [{j: component} for component in members]
    return SkillKinds(
        tuple(SkillKind(components[kind], tuple(mine)) for kind, mine in skills.items())
    )


# -------------------- Targets as text, for the command line and stored runs


def parse_targets(text: str | None) -> dict[str, Components | None] | None:
    """Parse targets as the command line has them: `tool_1=2,position=4` or `agent=4,box=sphere2,
    agent+box`.

    Raises:
        UserError: If a part cannot be read.
    """
    if text is None:
        return None
    targets: dict[str, Components | None] = {}
    for part in re.split(r",(?![^()]*\))", text):  # names such as box(x3,y3) have commas too
        name, equals, count = (word.strip() for word in part.rpartition("="))
        name, count = (name, count) if equals else (part.strip(), "")
        found = re.fullmatch("(sphere)?([0-9]{1,18})", count)
        if not name or (equals and found is None):
            raise UserError(f"cannot read {part.strip()!r} in the targets; write NAME=COUNT,…")
        if name in targets:
            raise UserError(f"the targets name {name!r} twice")
        targets[name] = None
        if found is not None:
            targets[name] = Sphere(int(found[2])) if found[1] else int(found[2])
    return targets
