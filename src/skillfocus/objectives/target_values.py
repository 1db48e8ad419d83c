"""Which skills have which targets, for objectives whose skills are told what to do (`reach`): one
skill for each value, or one for each target that is to change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from skillfocus._internal.checks import listed, shown, whole
from skillfocus.core.factored import FactoredSpace
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.targets import (
    N_SKILLS,
    Assignment,
    Targets,
    assign,
    assign_skills,
    check_count,
    default_targets,
    make_assignment,
)


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
    """Assign targets to the skills of any objective: `assign_values`, `assign_changes` or
    `assign_skills`. What is left out gets no skills by default.

    Raises:
        UserError: If objective and targets do not fit together.
    """
    told = reaches_values(objective) or changes_targets(objective)
    if not told:
        return assign_skills(world, objective, n_skills, targets, left_out)
    if not objective.targeted:
        plain = "reach(change=True)" if changes_targets(objective) else "reach()"
        raise UserError(
            f"{objective.name} skills need a target whose value they reach; use "
            f"focused({plain}), or focused-{objective.name} on the command line"
        )
    if objective.modes == "scattered":
        raise UserError(
            f"{objective.name} has no meaning: a skill that is told what to reach has no modes; "
            f"leave scattered out"
        )
    if changes_targets(objective):
        return assign_changes(world, n_skills, targets, left_out)
    return assign_values(world, n_skills, targets, left_out)


def assign_changes(
    world: World,
    n_skills: int | None = None,
    targets: Targets | None = None,
    left_out: Collection[str] = (),
) -> Assignment:
    """Give every target one skill, which is to change it.

    Args:
        world: The world whose variables are targeted.
        n_skills: Number of skills; it can only confirm that of the targets.
        targets: A count of 1 for each (default: the goals and the world's `default_target`), or
            the skills one by one, each as `{variable: 0}`.
        left_out: Variables that get no skills by default.

    Raises:
        UserError: If a target has several skills.
    """
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


def assign_values(
    world: World,
    n_skills: int | None = None,
    targets: Targets | None = None,
    left_out: Collection[str] = (),
) -> Assignment:
    """Assign a target value to every skill.

    Args:
        world: The world whose variables are targeted.
        n_skills: Number of skills (default: as many as the values take). Goals come first, the
            world's `default_target` gets the rest.
        targets: Counts per variable, of values spread evenly over all it has; or the skills one by
            one, each as `{variable: value}`, with a value as `Variable.values` has it.
        left_out: Variables that get no skills by default.

    Raises:
        UserError: If a target has no such value, or has fewer values than skills.
    """
    if n_skills is not None:
        n_skills = whole("n_skills", n_skills)
    if targets is None:
        targets = default_value_counts(world, n_skills, left_out)
    _check_form(targets)
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


def _check_form(targets: object) -> None:
    """Raise a `UserError` unless targets are counts by name, or values one by one."""
    form = 'write counts, such as {"door": 2}, or values, such as [{"door": "open"}]'
    skills = [targets] if isinstance(targets, Mapping) else targets
    if isinstance(skills, str) or not isinstance(skills, Sequence) or not targets:
        raise UserError(f"targets cannot be {shown(targets)}: {form}")
    for skill in skills:
        if not isinstance(skill, Mapping) or not all(isinstance(name, str) for name in skill):
            raise UserError(f"targets cannot be {shown(targets)}: {form}")
    if isinstance(targets, Mapping):
        for name, count in targets.items():
            whole(f"the number of {name!r} in targets", count)


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
        raise UserError(f"{name} has no value {value!r}; it has {listed(values)}")
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
