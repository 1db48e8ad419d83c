"""Skills files of continuous skills.

The format is that of other skills files (`skills/serialization.py`), version 7. The header names
the world, the objective and the components. These determine names and shapes of the arrays, which
are checked before use. Reading a file executes nothing.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.skill_layout import SkillLayout, Sphere, lay_out
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.skills.continuous.estimates import SkillEstimates
from skillfocus.skills.continuous.skills import ContinuousSkills
from skillfocus.skills.header import WITH_ACTORS
from skillfocus.skills.neural.files import describe_objective, make_described, take, take_network
from skillfocus.skills.serialization import FORMAT, POLICY, pack, read
from skillfocus.skills.tables import fingerprint
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.registry import as_world
from skillfocus.worlds.remaking import remake

MAX_WIDTH = 1_000_000
"""Largest `SkillLayout.width` that a file may have."""


def _header(skills: ContinuousSkills) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": WITH_ACTORS,
        "world": {"id": skills.world.id, "settings": skills.world.settings},
        "fingerprint": fingerprint(skills.world),
        "step_limit": skills.step_limit,
        "info": skills.info,
        "objective": describe_objective(skills.objective),
        "kinds": skills.layout.describe(skills.world.space),
    }


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
    header = _header(skills)
    if header["objective"] is None:
        raise UserError(
            f"{skills.objective.name} is a custom objective, which a skills file cannot describe: "
            f"pickle the skills instead"
        )
    return pack(header, {POLICY: np.zeros(0, np.uint8), **_arrays(skills)})


def load(path: Path, world: ContinuousBase | str | None = None) -> ContinuousSkills:
    """Read a skills file; see `ContinuousSkills.load`.

    Raises:
        UserError: If the file is damaged, or does not fit the world.
    """
    arrays, header = read(path)
    if header["version"] != WITH_ACTORS:
        raise UserError(f"{path} holds skills of a finite world: use Skills.load")
    origin = header["world"]
    try:
        made = remake(origin["id"], origin["settings"]) if world is None else as_world(world)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if not isinstance(made, ContinuousBase) or fingerprint(made) != header["fingerprint"]:
        raise UserError(
            f"{path} holds skills for another world than this {made.id}: they were learned in "
            f"{origin['id']} with {reprlib.repr(origin['settings'])}"
        )
    del arrays[POLICY]
    try:
        objective = make_described(header["objective"])
        layout = _layout(made, objective, header["kinds"])
        skills = ContinuousSkills(made, objective, layout, {}, header["step_limit"], header["info"])
        skills.weights.update(_weights(skills.model, skills.estimates, arrays))
    except UserError as error:
        raise UserError(f"{path} is not a usable skills file: {error}") from None
    return skills


def _layout(world: ContinuousBase, objective: Objective, kinds: list[Any]) -> SkillLayout:
    """Return the layout that a header describes, if it is small enough."""

    def component(described: Any) -> Any:
        return Sphere(described["sphere"]) if isinstance(described, Mapping) else described

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
