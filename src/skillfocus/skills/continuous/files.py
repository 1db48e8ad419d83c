"""Skills files of continuous skills.

The header names the world, the objective and the components. These determine names and shapes of
the arrays, which are checked before use.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.files import read_bytes, seal
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import from_dict
from skillfocus.objectives.skill_layout import SkillLayout, Sphere, lay_out
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.skills.continuous.estimates import SkillEstimates
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.files import (
    FORMAT,
    VERSION,
    Header,
    Kinds,
    Origin,
    read,
    require_same_world,
    world_of,
)
from skillfocus.skills.neural.files import take, take_network
from skillfocus.skills.tables import fingerprint
from skillfocus.worlds.continuous import ContinuousBase

MAX_WIDTH = 1_000_000
"""Largest `SkillLayout.width` that a file may have."""


def _header(skills: ContinuousSkills) -> Header:
    kinds = msgspec.convert(skills.layout.describe(skills.world.space), Kinds)
    return Header(
        format=FORMAT, version=VERSION, kind="actor",
        world=Origin(skills.world.id, dict(skills.world.settings)),
        fingerprint=fingerprint(skills.world), step_limit=skills.step_limit, info=skills.info,
        objective=skills.objective.to_dict(), kinds=kinds,
    )  # fmt: skip


def _arrays(skills: ContinuousSkills) -> dict[str, np.ndarray]:
    weights = skills.weights
    arrays = {name: weights[name] for name in ("shift", "scale")}
    for part in ("actor", "judges"):
        arrays |= {f"{part}/{name}": array for name, array in weights[part].items()}
    return {name: np.asarray(array, np.float32) for name, array in arrays.items()}


def same_skills(one: ContinuousSkills, other: ContinuousSkills) -> bool:
    """Return whether two sets of skills are the same, weights included."""
    mine, others = _arrays(one), _arrays(other)
    return (
        _header(one) == _header(other)
        and mine.keys() == others.keys()
        and all(np.array_equal(array, others[name]) for name, array in mine.items())
    )


def to_bytes(skills: ContinuousSkills) -> bytes:
    """Return the contents of a skills file.

    Raises:
        UserError: If the objective is not a built-in one.
    """
    if not _is_known(skills.objective):
        raise UserError(
            f"{skills.objective.name} has a reward or a penalty of your own, which a skills file "
            f"cannot describe: pickle the skills instead"
        )
    return seal(_header(skills), _arrays(skills), compress=1)


def _is_known(objective: Objective) -> bool:
    try:
        return from_dict(objective.to_dict()) == objective
    except UserError:
        return False


def load(path: Path, world: ContinuousBase | str | None = None) -> ContinuousSkills:
    """Read a skills file; see `ContinuousSkills.load`."""
    header, arrays = read(read_bytes(path, "skills"), str(path))
    if header.kind != "actor":
        raise UserError(f"{path} holds skills of a finite world: use Skills.load")
    return from_file(header, arrays, str(path), world)


def from_file(
    header: Header, arrays: dict[str, np.ndarray], name: str, world: World | str | None
) -> ContinuousSkills:
    """Restore skills from a file's checked header and its arrays.

    Raises:
        UserError: If they do not belong together, or to the world.
    """
    made = world_of(header, name, world)
    require_same_world(header, name, made, fingerprint(made))
    if not isinstance(made, ContinuousBase) or header.objective is None:
        raise UserError(
            f"{name} is not a usable skills file: {made.id} has no continuous variables"
        )
    try:
        objective = from_dict(header.objective)
        layout = _layout(made, objective, header.kinds)
        skills = ContinuousSkills(made, objective, layout, {}, header.step_limit, header.info)
        skills.weights.update(_weights(skills.model, skills.estimates, arrays))
    except UserError as error:
        raise UserError(f"{name} is not a usable skills file: {error}") from None
    return skills


def _layout(world: ContinuousBase, objective: Objective, kinds: list[Any]) -> SkillLayout:
    """Return the layout that a header describes, if it is small enough."""

    def component(described: Any) -> Any:
        return described if isinstance(described, int) else Sphere(described.sphere)

    if objective.targeted:
        if any(name is None for kind in kinds for name, _ in kind):
            raise UserError(f"{objective.name} skills have targets, and a component names none")
        listed = [{name: component(described) for name, described in kind} for kind in kinds]
        layout = lay_out(world.space, objective, listed)
    else:
        if len(kinds) != 1 or len(kinds[0]) != 1 or kinds[0][0][0] is not None:
            raise UserError(f"{objective.name} skills have one component and no target")
        only = component(kinds[0][0][1])
        layout = (
            lay_out(world.space, objective, only)  # pyright: ignore[reportArgumentType]
            if isinstance(only, Sphere)
            else lay_out(world.space, objective, n_skills=only)
        )
    if layout.width > MAX_WIDTH:
        raise UserError(f"its skills have {layout.width:,} numbers, more than {MAX_WIDTH:,}")
    return layout


def _weights(
    model: ActorModel, estimates: SkillEstimates, arrays: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Return the weights of skills; reject arrays that they do not have."""
    size = model.world.observation_size
    weights = {
        "shift": take(arrays, "shift", (size,)),
        "scale": take(arrays, "scale", (size,)),
        "actor": take_network(arrays, "actor", model.n_inputs, model.n_outputs),
        "judges": _take_judges(estimates, arrays),
    }
    if (weights["scale"] <= 0).any():
        raise UserError("the array 'scale' holds numbers that are not positive")
    if arrays:
        raise UserError(f"its networks need no array {min(arrays)!r}")
    return weights


def _take_judges(estimates: SkillEstimates, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    first = np.shape(arrays.get("judges/w0", ()))
    hidden = max(first[2], 1) if len(first) == 3 else 1
    sizes = [estimates.n_inputs, hidden, hidden, estimates.width]
    judges = {}
    for i, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
        judges[f"w{i}"] = take(arrays, f"judges/w{i}", (estimates.n_copies, fan_in, fan_out))
        judges[f"b{i}"] = take(arrays, f"judges/b{i}", (estimates.n_copies, 1, fan_out))
    return judges
