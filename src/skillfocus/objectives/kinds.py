"""Kinds of skills: which variables a skill targets, and how a set of skills is counted."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.errors import UserError, join_values
from skillfocus.objectives.objective import Objective, Term
from skillfocus.spaces import ContinuousSpace, FactoredSpace
from skillfocus.world import World

# --------------------
#
# Which skills target what: each skill is a set of components, one per target variable
#
# The paper writes a skill as z = (z^1, ..., z^N) with z^i = 0 where i is no target. Here a skill is
# a mapping {variable: component}; two skills that share a component are rewarded alike for it.
#
# Which skills have which targets, for objectives whose skills are told what to do (`reach`): one
# skill for each value, or one for each target that is to change.

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
    if targets is None:
        targets = default_counts(world, n_skills, left_out)
    if isinstance(targets, Mapping):
        check_count(sum(targets.values()))
        skills = _from_counts(world.space, targets)
    else:
        skills = [dict(skill) for skill in targets]
    return make_assignment(world.space, skills, n_skills)


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
    if n_skills < 2:
        raise UserError(f"n_skills must be at least 2, got {n_skills}")
    check_count(n_skills)
    return Assignment(tuple({} for _ in range(n_skills)))


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


def reaches_values(objective: Objective) -> bool:
    """Return whether components of an objective's skills are values of their targets."""
    return getattr(objective.reward.estimate, "components_are_values", False)


def changes_targets(objective: Objective) -> bool:
    """Return whether skills with equal targets would be alike, so that there is only one."""
    return getattr(objective.reward.estimate, "single_component", False)


def assign_targets(
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
        n_skills: Number of skills (default: 16; of `reach`, one for each value; of
            `reach(change=True)`, one for each target).
        targets: Counts per target, or the skills one by one (default: the goals, and the world's
            `default_target` for the rest). `reach` spreads a count evenly over the values, and
            takes skills as `{variable: value}`.
        left_out: Variables that get no skills by default.

    Raises:
        UserError: If objective and targets do not fit together.
    """
    _check_variants(objective, targets)
    if not objective.targeted:
        assignment = untargeted(N_SKILLS if n_skills is None else n_skills)
    elif changes_targets(objective):
        return _assign_changes(world, n_skills, targets, left_out)
    elif reaches_values(objective):
        return _assign_values(world, n_skills, targets, left_out)
    else:
        assignment = assign(world, n_skills, targets, left_out)
    if objective.reward.estimate.discriminates:
        _require_multiple_skills(world, assignment)
    return assignment


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
    if not objective.targeted and targets is not None:
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)) or leave "
            f"the targets out"
        )


def _assign_changes(
    world: World, n_skills: int | None, targets: Targets | None, left_out: Collection[str]
) -> Assignment:
    """Give every target one skill, which is to change it."""
    if targets is None:
        goals, default_target = default_targets(world, left_out)
        targets = dict.fromkeys((*goals, default_target), 1)
    assignment = assign(world, n_skills, targets)
    sets = [assignment.targets(z) for z in range(len(assignment))]
    for members in sets:
        if sets.count(members) > 1:
            name = "+".join(world.space.names[j] for j in members)
            raise UserError(
                f"{name} has {sets.count(members)} skills, which would all be the same: a skill "
                f"that changes it to any other value; give it 1, or one per value with reach()"
            )
    return Assignment(tuple(dict.fromkeys(members, 0) for members in sets))


def _assign_values(
    world: World, n_skills: int | None, targets: Targets | None, left_out: Collection[str]
) -> Assignment:
    """Assign a target value to every skill."""
    if targets is None:
        targets = default_value_counts(world, n_skills, left_out)
    if isinstance(targets, Mapping):
        check_count(sum(targets.values()))
        skills = [skill for name, n in targets.items() for skill in _spread(world.space, name, n)]
    else:
        skills = [
            {name: _value_index(world.space, name, value) for name, value in skill.items()}
            for skill in targets
        ]
    return make_assignment(world.space, skills, n_skills)


def default_value_counts(
    world: World, n_skills: int | None = None, left_out: Collection[str] = ()
) -> dict[str, int]:
    """Return how many values of each variable are reached by default: all of them, up to 16."""
    sizes = dict(zip(world.space.names, world.space.sizes, strict=True))
    goals, default_target = default_targets(world, left_out)
    counts = {name: min(sizes[name], N_SKILLS) for name in (*goals, default_target)}
    if n_skills is not None:
        rest = n_skills - sum(counts[name] for name in goals)
        most = sizes[default_target]
        if not 0 <= rest <= most:
            skills = "1 skill is" if n_skills == 1 else f"{n_skills} skills are"
            raise UserError(
                f"{skills} too {'few' if rest < 0 else 'many'}: {world.id}'s goals "
                f"take {n_skills - rest}, one per value, and {default_target} up to {most}; "
                f"give your own targets"
            )
        counts[default_target] = rest
    return {name: count for name, count in counts.items() if count}


def _spread(space: FactoredSpace, name: str, count: int) -> list[dict[str, int]]:
    """Return skills for `count` values of a variable, evenly spread over all of them."""
    if "+" in name:
        raise UserError(
            f"reach counts values of single variables, not of {name!r}; for several targets give "
            f"the skills one by one: targets=[{{variable: value, other: value}}, …]"
        )
    size = space.sizes[space.index(name)]
    if not 1 <= count <= size:
        raise UserError(f"{name} has {size} values, so it can have 1 to {size} skills, not {count}")
    return [{name: int(i)} for i in np.arange(count) * size // count]


def _value_index(space: FactoredSpace, name: str, value: object) -> int:
    values = space.variables[space.index(name)].values
    if value not in values:
        raise UserError(f"{name} has no value {value!r}; it has {join_values(values)}")
    return values.index(value)


def value_labels(space: FactoredSpace, assignment: Assignment) -> list[str]:
    """Return what each skill reaches as text: `passenger=in taxi`."""
    return [
        ", ".join(
            f"{space.names[j]}={space.variables[j].values[k]}" for j, k in sorted(skill.items())
        )
        for skill in assignment.skills
    ]


def read_value_label(
    space: FactoredSpace, targets: Sequence[str], label: object
) -> dict[int, int] | None:
    """Return what a skill is told to reach, as value indices by variable.

    The inverse of `value_labels`. Files hold the text, so it may be anything.

    Args:
        space: The world's variables.
        targets: Names of the skill's targets.
        label: Text such as `passenger=in taxi`.

    Returns:
        One value per target; None if the text names other variables or values, or more than one
        value of a target reads alike.
    """
    # A value's own text may hold a comma, so the labels that values make are compared.
    starts: list[tuple[dict[int, int], str]] = [({}, "")]
    for j in sorted(space.index(name) for name in targets):
        starts = [
            ({**values, j: k}, longer)
            for values, text in starts
            for k, value in enumerate(space.variables[j].values)
            if isinstance(label, str)
            and label.startswith(longer := f"{text}{', ' * bool(text)}{space.names[j]}={value}")
        ]
    found = [values for values, text in starts if text == label]
    return found[0] if len(found) == 1 and targets else None


# --------------------
#
# What a skill of a continuous world is: which variables it targets, and what z it has for each
#
# A skill is a mask of target variables and, for each of them, a component: one of K values, or a
# direction on a sphere. `targets` lists the kinds of skills that are learned:
#
#     {"agent": 4, "box": Sphere(2)}    focused: 4 skills for the agent, and directions for the box;
#                                       DUSDi: both at once, a component for every variable
#     [{"agent": 4}, {"agent": 4, "box": Sphere(2)}, {}]
#                                       one kind each: the agent alone, both at once, and nothing
#                                       ("leave everything")
#
# A kind that is listed twice is one kind. Skills without targets have a single component, for the
# whole state.

N_COMPONENTS = 5
"""Values of a component by default, as in DUSDi's experiments."""
N_PLAIN = 16
"""Number of skills without targets, by default."""
MAX_COMPONENTS = 10_000
"""The most values, or dimensions, of a component."""


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
        if not 2 <= self.dimensions <= MAX_COMPONENTS:
            raise UserError(
                f"a Sphere of {self.dimensions} dimensions has no directions to choose from; take "
                f"2 to {MAX_COMPONENTS:,}, or a number of discrete skills"
            )


Component = int | Sphere
"""The number of values that a component has, or the sphere it lies on."""
ContinuousTargets = Mapping[str, Component] | Sequence[Mapping[str, Component]]
"""Components by target variable, or one such mapping per kind of skill."""


@dataclass(frozen=True)
class Slot:
    """One component of skills.

    Attributes:
        variable: The target variable's index; None for skills without targets.
        component: How many values it has, or its sphere.
    """

    variable: int | None
    component: Component

    @property
    def width(self) -> int:
        """How many numbers of z it takes: one per value, or one per dimension."""
        return self.component.dimensions if isinstance(self.component, Sphere) else self.component

    @property
    def is_discrete(self) -> bool:
        """Whether it has finitely many values."""
        return not isinstance(self.component, Sphere)


@dataclass(frozen=True)
class SkillLayout:
    """The components of all skills of a set, and the kinds of skills there are.

    Attributes:
        n_variables: How many variables the world has.
        slots: The components, in the order of their variables.
        kinds: Per kind of skill, the numbers of the slots that are active.
    """

    n_variables: int
    slots: tuple[Slot, ...]
    kinds: tuple[tuple[int, ...], ...]

    @cached_property
    def width(self) -> int:
        """How many numbers z has."""
        return sum(slot.width for slot in self.slots)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each slot's numbers are in z."""
        ends = np.cumsum([slot.width for slot in self.slots]).tolist()
        return tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))

    @cached_property
    def active(self) -> np.ndarray:
        """Which slots each kind has, float32 [n_kinds, n_slots]."""
        rows = [[float(k in kind) for k in range(len(self.slots))] for kind in self.kinds]
        return np.array(rows, np.float32).reshape(len(self.kinds), len(self.slots))

    @cached_property
    def masks(self) -> np.ndarray:
        """Which variables each kind targets, float32 [n_kinds, n_variables]."""
        masks = np.zeros((len(self.kinds), self.n_variables), np.float32)
        for row, kind in enumerate(self.kinds):
            for k in kind:
                if (variable := self.slots[k].variable) is not None:
                    masks[row, variable] = 1.0
        return masks

    @property
    def is_discrete(self) -> bool:
        """Whether every component has finitely many values."""
        return all(slot.is_discrete for slot in self.slots)

    def count(self, kind: int) -> int | None:
        """Return how many skills are of a kind; None if they are infinitely many."""
        total = 1
        for k in self.kinds[kind]:
            component = self.slots[k].component
            if isinstance(component, Sphere):
                return None
            total *= component
        return total

    def terms(self, objective: Objective) -> list[tuple[int, Term]]:
        """Return the copies of the reward that skills can earn, each with its slot's number."""
        if not objective.targeted:
            return [(0, term) for term in objective.terms((), self.n_variables)]
        variables = [slot.variable for slot in self.slots if slot.variable is not None]
        terms = objective.terms(variables, self.n_variables)
        return [(variables.index(term.target), term) for term in terms if term.target is not None]

    def describe(self, space: ContinuousSpace) -> list[Any]:
        """Return the kinds of skills as JSON can hold them; `from_description` reads it."""
        return [
            [[self._name(k, space), _plain(self.slots[k].component)] for k in kind]
            for kind in self.kinds
        ]

    def _name(self, k: int, space: ContinuousSpace) -> str | None:
        variable = self.slots[k].variable
        return None if variable is None else space.names[variable]


def _plain(component: Component) -> Any:
    return {"sphere": component.dimensions} if isinstance(component, Sphere) else component


def lay_out(
    space: ContinuousSpace,
    objective: Objective,
    targets: ContinuousTargets | None = None,
    n_skills: int | None = None,
    goals: Sequence[str] | None = None,
) -> SkillLayout:
    """Return the skills that an objective is to learn.

    Args:
        space: The world's variables.
        objective: What skills are rewarded for.
        targets: See the module (default: `N_COMPONENTS` values for each of the goals). Of an
            objective without targets, a `Sphere` or nothing.
        n_skills: Number of skills of an objective without targets (default: 16).
        goals: The variables that are targeted by default (default: all).

    Raises:
        UserError: If objective and targets do not fit together.
    """
    if objective.modes != "single":
        raise UserError(f"{objective.name} needs variables with finitely many values")
    if not objective.targeted:
        return _plain_layout(space, objective, targets, n_skills)
    if n_skills is not None:
        raise UserError(
            f"{objective.name} skills of continuous worlds are counted per target: leave n_skills "
            f"out and give targets, such as {{{space.names[0]!r}: {N_COMPONENTS}}}"
        )
    if targets is None:
        targets = dict.fromkeys(goals or space.names, N_COMPONENTS)
    kinds = _kinds(targets, at_once=objective.weight is not None)
    components: dict[int, Component] = {}
    for kind in kinds:
        for name, component in kind.items():
            j = space.index(name)
            _check_component(name, component, objective)
            if components.setdefault(j, component) != component:
                raise UserError(
                    f"{name} has components {components[j]} and {component}; all kinds of skills "
                    f"that target it must have the same"
                )
    if objective.penalty is not None and all(len(kind) == len(space) for kind in kinds):
        raise UserError(
            f"all skills target every variable ({', '.join(space.names)}), so nothing is left to "
            f"keep unchanged"
        )
    order = sorted(components)
    slots = tuple(Slot(j, components[j]) for j in order)
    active = (sorted(order.index(space.index(name)) for name in kind) for kind in kinds)
    return SkillLayout(len(space), slots, tuple(dict.fromkeys(tuple(kind) for kind in active)))


def _plain_layout(
    space: ContinuousSpace, objective: Objective, targets: object, n_skills: int | None
) -> SkillLayout:
    if isinstance(targets, Sphere):
        return SkillLayout(len(space), (Slot(None, targets),), ((0,),))
    if targets is not None:
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)), or "
            f"targets=Sphere(2) for continuous ones"
        )
    count = N_PLAIN if n_skills is None else n_skills
    _check_component("the whole state", count, objective)
    return SkillLayout(len(space), (Slot(None, count),), ((0,),))


def _kinds(targets: object, at_once: bool) -> list[Mapping[str, Component]]:
    given: list[Mapping[str, Component]]
    if isinstance(targets, Mapping):
        given = [targets] if at_once else [{name: targets[name]} for name in targets]
    else:
        given = list(targets)  # pyright: ignore[reportArgumentType]
    if not any(given):
        raise UserError(
            'no skill has a target; write {"agent": 4, "box": Sphere(2)}, or a list of such'
        )
    return given


def _check_component(name: str, component: object, objective: Objective) -> None:
    if isinstance(component, Sphere):
        return
    if not 2 <= component <= MAX_COMPONENTS:  # pyright: ignore[reportOperatorIssue]
        raise UserError(
            f"{name} cannot have {component} skills of {objective.name}; give it 2 to "
            f"{MAX_COMPONENTS:,}, or a Sphere"
        )


# -------------------- Targets as text, for the command line and stored runs
#
# tool_1=2,position=4              skills by target
# agent=4,box=sphere2              in continuous worlds, components by target
# agent=4,box=sphere2,agent+box    skills on both at once, too
# agent=4,nothing                  and one that leaves everything

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
