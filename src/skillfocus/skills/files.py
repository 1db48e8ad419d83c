"""Skills files: policies, learned rewards and where they come from, in one sealed file.

    table     `policy/numbers` and `policy/blocks`, see `PackedPolicy`
    network   the weights of a cost network, `costs/w0`, `groups/3/table`, …
    actor     the weights of an actor and its estimators, `actor/w0`, `judges/w0`, …

Reading one parses and checks; nothing in it is ever run. Whether the header, the arrays and the
world belong together is checked where they meet.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from skillfocus.errors import UserError
from skillfocus.files import Damaged, read_bytes, seal, unseal
from skillfocus.machine import require_memory
from skillfocus.mdp import TabularMDP
from skillfocus.objectives.kinds import MAX_SKILLS, Assignment, SkillLayout, Sphere, lay_out
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import from_dict
from skillfocus.skills.actor import ActorModel, SkillEstimates
from skillfocus.skills.continuous import ContinuousSkills
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardHeader, reward_from_file
from skillfocus.skills.network import Group, NeuralPolicy, Parameters, SkillModel
from skillfocus.skills.policy import PackedPolicy, Policy, pack_policy
from skillfocus.world import MAX_STEPS, World
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import as_world, fingerprint, has_table, remake, table_of

if TYPE_CHECKING:
    from skillfocus.skills.skills import Skills


# -------------------- Networks in skills files: their header entries and arrays
#
# The header names the objective with its settings, and the components of every skill or mode. With
# the world, these determine the `SkillModel`. The arrays are the weights, with names such as
# `costs/w0` and `groups/3/table`; each is checked against the model before it is used.

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


FORMAT, VERSION = "skillfocus-skills", 1
MAX_DEPTH = 20
"""How deep lists and objects may be nested in `info` and in the world's settings."""
Names = list[str]


class Origin(msgspec.Struct, forbid_unknown_fields=True):
    """The world that skills were learned in."""

    id: str
    settings: dict[str, Any]


class SphereHeader(msgspec.Struct, forbid_unknown_fields=True):
    """A component that lies on a sphere."""

    sphere: int


Kinds = list[list[tuple[str | None, int | SphereHeader]]]
"""Per kind of skill, its targets and their components."""


class Header(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The header of a skills file."""

    format: str = msgspec.field(default="")
    version: int = 0
    kind: Literal["table", "network", "actor"]
    world: Origin
    fingerprint: str
    step_limit: Annotated[int, Meta(ge=1, le=MAX_STEPS)]
    info: dict[str, Any]
    targets: list[Names] = []
    context_variables: list[Names] = []
    modes: list[Annotated[int, Meta(ge=1)]] = []
    reward: RewardHeader | None = None
    network: NetworkHeader | None = None
    objective: dict[str, Any] | None = None
    kinds: Kinds = []


def header_of(skills: Skills, kind: Literal["table", "network"] = "table") -> Header:
    """Return the header of a set's file."""
    modes = [] if skills.n_modes.max(initial=1) == 1 else skills.n_modes.tolist()
    reward = skills.intrinsic_reward
    return Header(
        format=FORMAT, version=VERSION, kind=kind,
        world=Origin(skills.world.id, dict(skills.world.settings)),
        fingerprint=skills.mdp.fingerprint if skills.has_table else fingerprint(skills.world),
        targets=[list(names) for names in skills.targets],
        context_variables=[list(names) for names in skills.context_variables],
        step_limit=skills.step_limit, info=skills.info, modes=modes,
        reward=None if reward is None else reward.header(),
    )  # fmt: skip


def to_bytes(skills: Skills) -> bytes:
    """Return the contents of a skills file (docs/skills-files.md)."""
    rewards = {} if skills.intrinsic_reward is None else skills.intrinsic_reward.arrays()
    if isinstance(skills.policies, NeuralPolicy):
        network = network_header(skills.policies)
        if network is not None:
            header = header_of(skills, "network")
            header.network = network
            return seal(header, {**network_arrays(skills.policies), **rewards}, compress=1)
        if not skills.has_table:
            raise UserError(
                f"{skills.policies.model.objective.name} has a reward or a penalty of your own, "
                f"which a skills file cannot describe: pickle the skills instead"
            )
    packed = pack_policy(skills.tabular)
    policy = {"policy/numbers": packed.numbers, "policy/blocks": packed.blocks}
    return seal(header_of(skills), {**policy, **rewards}, compress=1)


def read(content: bytes, name: str) -> tuple[Header, dict[str, np.ndarray]]:
    """Return the checked header and the arrays of a skills file.

    Args:
        content: The file's contents, of any origin.
        name: The file's name, for errors.

    Raises:
        UserError: If the file is not whole, not of skills, or has a header of another form.
    """
    try:
        header, arrays = unseal(content, Header)
        if header.format != FORMAT:
            raise UserError("it is a file of something else")
        if header.version != VERSION:
            raise UserError(
                f"it has version {header.version} of the format, this program reads version "
                f"{VERSION}: use the skillfocus that wrote it"
            )
        if len(header.targets) > MAX_SKILLS:
            raise UserError(f"it has more than {MAX_SKILLS:,} skills")
        _require_shallow(header)
    except Damaged as error:
        raise UserError(
            f"{name} is not a file of skills, as skillfocus discover and skills.save write them: "
            f"{error}"
        ) from None
    except UserError as error:
        raise UserError(f"{name} is not a usable skills file: {error}") from None
    return header, arrays


def _require_shallow(header: Header) -> None:
    level: list[Any] = [header.info, header.world.settings]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, list | dict)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    if level:
        raise UserError(f"bad header (info is nested deeper than {MAX_DEPTH} levels)")


def world_of(header: Header, name: str, world: World | str | None) -> World:
    """Return the world of a file: the one given, or the one that the header describes."""
    try:
        if world is not None:
            return as_world(world)
        return remake(header.world.id, header.world.settings)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None


def require_same_world(header: Header, name: str, world: World, found: str) -> None:
    """Raise a `UserError` unless a world has the fingerprint of the header."""
    if found != header.fingerprint:
        raise UserError(
            f"{name} holds skills for another world than this {world.id}: they were learned in "
            f"{header.world.id} with {reprlib.repr(header.world.settings)}"
        )


def from_bytes(
    content: bytes, name: str, world: World | str | None = None, mdp: TabularMDP | None = None
) -> Skills | ContinuousSkills:
    """Restore skills of any kind from `to_bytes`; see `Skills.load`."""
    header, arrays = read(content, name)
    if header.kind == "actor":
        return from_file(header, arrays, name, world)
    made = world_of(header, name, world)
    if mdp is None and has_table(made):
        mdp = table_of(made)
    require_same_world(header, name, made, fingerprint(made) if mdp is None else mdp.fingerprint)
    try:
        for variable in chain(*header.targets, *header.context_variables):
            made.space.index(variable)
        rewards = {key: arrays.pop(key) for key in [*arrays] if key.startswith("reward.")}
        policies = _policies(made, mdp, header, arrays)
        reward = _reward(mdp, header, rewards)
        from skillfocus.skills.skills import Skills

        targets = tuple(tuple(names) for names in header.targets)
        return Skills(made, policies, targets, header.step_limit, header.info, reward)
    except UserError as error:
        raise UserError(f"{name} is not a usable skills file: {error}") from None


def _policies(
    world: World, mdp: TabularMDP | None, header: Header, arrays: Mapping[str, np.ndarray]
) -> Policy:
    if header.kind == "network":
        return networks_from_file(world, mdp, header, arrays)
    if mdp is None:
        raise UserError(f"{world.id} has no table of states")
    if arrays.keys() != {"policy/numbers", "policy/blocks"}:
        raise UserError(f"it holds the arrays {sorted(arrays)}, not those of a policy")
    modes = header.modes or [1] * len(header.context_variables)
    packed = PackedPolicy(
        mdp, header.context_variables, arrays["policy/numbers"], arrays["policy/blocks"], modes
    )
    return packed.unpacked()


def _reward(
    mdp: TabularMDP | None, header: Header, arrays: Mapping[str, np.ndarray]
) -> IntrinsicReward | None:
    if header.reward is None:
        if arrays:
            raise UserError(f"it holds rewards {sorted(arrays)} that its header does not name")
        return None
    if mdp is None:
        raise UserError("its world has no tables of rewards")
    return reward_from_file(mdp, header.reward, arrays)


# -------------------- Skills files of continuous skills
#
# The header names the world, the objective and the components. These determine names and shapes of
# the arrays, which are checked before use.

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


def continuous_to_bytes(skills: ContinuousSkills) -> bytes:
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
        skills.weights.update(_actor_weights(skills.model, skills.estimates, arrays))
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


def _actor_weights(
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
