"""Names of continuous skills, and their encoding for the actor.

{"agent": 2}              the third value of the agent's component
{"box": (0.6, 0.8)}       a direction for the box
{"agent": 2, "box": 0}    two targets at once
{}                        no target: leave everything unchanged
2, or (0.6, 0.8)          a skill of a plain objective, which has no targets
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skillfocus.core.continuous import ContinuousSpace
from skillfocus.errors import UserError
from skillfocus.objectives.skill_layout import SkillLayout, Sphere

SkillName = Mapping[str, Any] | int | Sequence[float]
"""A skill, as in the module's docstring."""
MAX_LISTED = 10_000
"""Most skills that `list_skills` returns."""


def encode_skill(
    space: ContinuousSpace, layout: SkillLayout, skill: SkillName
) -> tuple[int, np.ndarray]:
    """Return the index of a skill's kind, and its z, float32 [layout.width].

    Raises:
        UserError: If there is no such skill.
    """
    plain = layout.slots[0].variable is None
    given: Mapping[Any, Any] = {None: skill} if plain else skill  # pyright: ignore[reportAssignmentType]
    if not isinstance(given, Mapping):
        raise UserError(
            f"{skill!r} is not a skill: give a component per target, such as "
            f"{{{space.names[layout.slots[0].variable or 0]!r}: 0}}"
        )
    variables = {None if name is None else space.index(name): name for name in given}
    chosen = tuple(k for k, slot in enumerate(layout.slots) if slot.variable in variables)
    if chosen not in layout.kinds or len(chosen) != len(given):
        kinds = ", ".join(_kind_name(space, layout, kind) for kind in layout.kinds[:6])
        raise UserError(f"no skills target {' + '.join(map(str, given)) or 'nothing'}: {kinds} do")
    z = np.zeros(layout.width, np.float32)
    for k in chosen:
        slot = layout.slots[k]
        z[layout.places[k]] = _component(slot.component, given[variables[slot.variable]])
    return layout.kinds.index(chosen), z


def _component(component: int | Sphere, value: Any) -> np.ndarray:
    if isinstance(component, Sphere):
        direction = np.asarray(value, np.float32)
        length = float(np.linalg.norm(direction)) if direction.ndim == 1 else 0.0
        if direction.shape != (component.dimensions,) or not 0 < length < np.inf:
            raise UserError(
                f"{value!r} is not a direction: give {component.dimensions} finite numbers, "
                f"not all 0"
            )
        return direction / length
    if not 0 <= value < component:
        raise UserError(f"there is no skill {value!r}: they are numbered 0 to {component - 1}")
    return np.eye(component, dtype=np.float32)[int(value)]


def _kind_name(space: ContinuousSpace, layout: SkillLayout, kind: tuple[int, ...]) -> str:
    names = [space.names[j] for k in kind if (j := layout.slots[k].variable) is not None]
    return " + ".join(names) or ("nothing" if layout.slots[0].variable is not None else "numbers")


def list_skills(
    space: ContinuousSpace, layout: SkillLayout, directions: int = 8
) -> list[SkillName]:
    """Return all skills, by kind; spheres are represented by some directions.

    Args:
        space: The world's variables.
        layout: The layout of the components.
        directions: Number of directions per sphere: evenly spaced on a circle, otherwise random
            with a fixed seed.

    Raises:
        UserError: If there are too many.
    """
    listed: list[SkillName] = []
    for kind in layout.kinds:
        each_slot = [choices(layout.slots[k].component, directions) for k in kind]
        total = len(listed) + int(np.prod([len(each) for each in each_slot], dtype=float))
        if total > MAX_LISTED:
            raise UserError(
                f"there are more than {MAX_LISTED:,} skills: name those you mean, such as "
                f"{{{space.names[layout.slots[0].variable or 0]!r}: 0, …}}"
            )
        for values in itertools.product(*each_slot):
            named = {
                None if (j := layout.slots[k].variable) is None else space.names[j]: value
                for k, value in zip(kind, values, strict=True)
            }
            listed.append(named.get(None, named))  # pyright: ignore[reportArgumentType]
    return listed


def choices(component: int | Sphere, directions: int) -> list[Any]:
    """Return the values of a component; a sphere is represented by some directions."""
    if not isinstance(component, Sphere):
        return list(range(component))
    if component.dimensions == 2:
        angles = 2 * np.pi * np.arange(directions) / directions
        return [(float(np.cos(a)), float(np.sin(a))) for a in angles]
    sampled = np.random.default_rng(0).standard_normal((directions, component.dimensions))
    sampled /= np.linalg.norm(sampled, axis=1, keepdims=True)
    return [tuple(row) for row in sampled.tolist()]
