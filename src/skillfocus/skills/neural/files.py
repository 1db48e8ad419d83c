"""Networks in skills files: their header entries and arrays.

The header names the objective with its settings, and the components of every skill or mode. With
the world, these determine the `SkillModel`. The arrays are the weights, with names such as
`costs/w0` and `groups/3/table`; each is checked against the model before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import from_dict
from skillfocus.objectives.targets import MAX_SKILLS, Assignment
from skillfocus.skills.neural.groups import Group
from skillfocus.skills.neural.model import SkillModel
from skillfocus.skills.neural.network import Parameters
from skillfocus.skills.neural.policy import NeuralPolicy
from skillfocus.worlds.jax.world import JaxWorld

if TYPE_CHECKING:
    from skillfocus.skills.files import Header

MAX_TERMS = 20_000_000
"""Upper bound of the targets of all skills together, times the number of variables."""
_ADVICE = "use fewer skills"


# ---------------------------------------------------------------------- writing


class NetworkHeader(msgspec.Struct, forbid_unknown_fields=True):
    """The objective of networks (`Objective.to_dict`) and the components of every skill or mode."""

    objective: dict[str, Any]
    components: list[list[tuple[str, Annotated[int, Meta(ge=0, lt=MAX_SKILLS)]]]]


def network_header(policy: NeuralPolicy) -> NetworkHeader | None:
    """Return the header entry of networks; None if their objective cannot be made from a file."""
    model = policy.model
    try:
        if from_dict(model.objective.to_dict()) != model.objective:
            return None
    except UserError:
        return None
    names = model.space.names
    components = [
        [(names[j], int(component)) for j, component in skill.items()]
        for skill in model.assignment.skills
    ]
    return NetworkHeader(model.objective.to_dict(), components)


def network_arrays(policy: NeuralPolicy) -> dict[str, np.ndarray]:
    """Return the weights by their names in a file."""
    weights = policy.weights
    arrays = {
        "unit": weights["unit"],
        "strength": np.reshape(weights["strength"], 1),
        "temperature": np.reshape(weights["temperature"], 1),
    }
    arrays |= {f"costs/{name}": array for name, array in weights["costs"].items()}
    for number, parts in enumerate(weights["groups"]):
        prefix = f"groups/{number}"
        for name in ("table", "linear", "log_nu"):
            if name in parts:
                arrays[f"{prefix}/{name}"] = parts[name]
        for name, array in parts.get("network", {}).items():
            arrays[f"{prefix}/network/{name}"] = array
    return {name: np.asarray(array, np.float32) for name, array in arrays.items()}


def same_networks(one: NeuralPolicy, other: NeuralPolicy) -> bool:
    """Return whether two policies have the same networks for the same skills."""
    mine, others = network_arrays(one), network_arrays(other)
    return (
        one.model.assignment == other.model.assignment
        and mine.keys() == others.keys()
        and all(np.array_equal(array, others[name]) for name, array in mine.items())
    )


# ---------------------------------------------------------------------- reading


def networks_from_file(
    world: World, mdp: TabularMDP | None, header: Header, arrays: Mapping[str, np.ndarray]
) -> NeuralPolicy:
    """Restore networks from a file's checked header and its arrays.

    Args:
        world: The world.
        mdp: Its table, if it has one.
        header: The whole header.
        arrays: The weights by name, without any other arrays.

    Raises:
        UserError: If header, arrays and world are inconsistent.
    """
    if header.network is None:
        raise UserError("its header says nothing of its networks")
    objective = from_dict(header.network.objective)
    assignment = _assignment(world, objective, header.network)
    modes = tuple(header.modes) or (1,) * len(header.targets)
    _check_targets(world, assignment, modes, header.targets)
    model = SkillModel(world.space, one_way(world, mdp), len(world.actions), objective, assignment)
    policy = NeuralPolicy(model, _weights(model, dict(arrays)), modes, mdp)
    if [list(names) for names in policy.context_variables] != header.context_variables:
        raise UserError("the context variables of its skills differ from those of its networks")
    return policy


def one_way(world: World, mdp: TabularMDP | None) -> tuple[str, ...]:
    """Return the variables that never return to a value they have left."""
    if isinstance(world, JaxWorld):
        return world.one_way
    assert mdp is not None
    return mdp.one_way


def _assignment(world: World, objective: Objective, header: NetworkHeader) -> Assignment:
    """Return the components of every skill or mode, within the limits on their number."""
    skills = []
    for parts in header.components:
        skill = {world.space.index(name): component for name, component in parts}
        if len(skill) != len(parts) or bool(skill) != objective.targeted:
            raise UserError(f"a skill of {objective.name} cannot have the components {parts}")
        skills.append(skill)
    if not 1 <= len(skills) <= MAX_SKILLS:
        raise UserError(f"it has components of {len(skills):,} skills, not of 1 to {MAX_SKILLS:,}")
    most: dict[int, int] = {}
    for skill in skills:
        for j, component in skill.items():
            most[j] = max(most.get(j, 0), component + 1)
    if sum(map(len, skills)) * len(world.space) > MAX_TERMS:
        raise UserError(f"it has more than {MAX_TERMS:,} targets times variables")
    entries = len(skills) * (sum(most.values()) or len(skills))
    require_memory(8 * entries, "the components of its skills", _ADVICE)
    return Assignment(tuple(skills))


def _check_targets(
    world: World, assignment: Assignment, modes: Sequence[int], targets: Sequence[Sequence[str]]
) -> None:
    if len(modes) != len(targets) or sum(modes) != len(assignment):
        raise UserError(
            f"it has components of {len(assignment)} skills or modes, not of {sum(modes)}"
        )
    first = 0
    for z, (names, count) in enumerate(zip(targets, modes, strict=True)):
        for mode in range(first, first + count):
            own = [world.space.names[j] for j in assignment.targets(mode)]
            if own != list(names):
                raise UserError(f"skill {z} targets {list(names)}, its components are for {own}")
        first += count


def _weights(model: SkillModel, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the weights of a model; reject arrays that it does not have."""
    weights = {
        "unit": take(arrays, "unit", (model.n_skills,)),
        "strength": take(arrays, "strength", (1,))[0],
        "temperature": take(arrays, "temperature", (1,))[0],
        "costs": take_network(arrays, "costs", model.n_inputs, model.n_outputs),
        "groups": [
            _take_group(model, arrays, f"groups/{number}", group)
            for number, group in enumerate(model.groups)
        ],
    }
    if arrays:
        raise UserError(f"its networks need no array {min(arrays)!r}")
    return weights


def _take_group(
    model: SkillModel, arrays: dict[str, np.ndarray], name: str, group: Group
) -> dict[str, Any]:
    n = group.n_components
    if group.is_table:
        return {"table": take(arrays, f"{name}/table", (n, group.n_starts, group.n_values))}
    if model.objective.reward.estimate.discriminates:
        n_inputs = model.encoded_width(group.variables, group.start_variables)
        return {
            "log_nu": take(arrays, f"{name}/log_nu", (n,)),
            "network": take_network(arrays, f"{name}/network", n_inputs, n),
        }
    dimensions = sum(model.space.variables[j].coordinates.shape[1] for j in group.variables)
    return {"linear": take(arrays, f"{name}/linear", (dimensions, n))}


def take_network(
    arrays: dict[str, np.ndarray], name: str, n_inputs: int, n_outputs: int
) -> Parameters:
    """Take the layers of a network with given input and output sizes and any hidden widths."""
    last = 0
    while f"{name}/w{last + 1}" in arrays:
        last += 1
    parameters: Parameters = {}
    for i in range(last + 1):
        width = n_outputs
        if i < last:
            shape = np.shape(arrays.get(f"{name}/w{i}", ()))
            width = max(shape[1], 1) if len(shape) == 2 else 1
        parameters[f"w{i}"] = take(arrays, f"{name}/w{i}", (n_inputs, width))
        parameters[f"b{i}"] = take(arrays, f"{name}/b{i}", (width,))
        if i < last:
            parameters[f"g{i}"] = take(arrays, f"{name}/g{i}", (width,))
        n_inputs = width
    return parameters


def take(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Remove and return a finite float32 array of a given shape.

    Raises:
        UserError: If there is no such array.
    """
    array = arrays.pop(name, None)
    if array is None:
        raise UserError(f"its networks need an array {name!r}")
    if array.dtype != np.float32 or array.shape != shape:
        raise UserError(
            f"the array {name!r} is {array.dtype} {list(array.shape)}, its networks need float32 "
            f"{list(shape)}"
        )
    if not np.isfinite(array).all():
        raise UserError(f"the array {name!r} holds numbers that are not finite")
    return array
