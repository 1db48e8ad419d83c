"""Skills files: policies, learned rewards and where they come from, in one sealed file.

    table     `policy/numbers` and `policy/blocks`, see `PackedPolicy`
    network   the weights of a cost network, `costs/w0`, `groups/3/table`, …
    actor     the weights of an actor and its estimators, `actor/w0`, `judges/w0`, …

The header names the world, the step limit, and per skill the targets; of networks it names the
objective with its settings, and the components of every skill. With the world, these determine a
model, and the model the names and shapes of its arrays. Learned rewards (`reward.0`, …) may come
with tables and cost networks.

Reading a file parses and checks; nothing in it is ever run. Whether the header, the arrays and the
world belong together is checked where they meet.
"""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Mapping
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
from skillfocus.skills.intrinsic_reward import RewardHeader, reward_from_file
from skillfocus.skills.network import Group, NeuralPolicy, Parameters, SkillModel
from skillfocus.skills.policy import PackedPolicy, Policy, pack_policy
from skillfocus.world import MAX_STEPS, World
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import as_world, fingerprint, has_table, remake, table_of

if TYPE_CHECKING:
    from skillfocus.skills.skills import Skills

# -------------------- The header

FORMAT, VERSION = "skillfocus-skills", 1
MAX_DEPTH = 20
"""How deep lists and objects may be nested in `info` and in the world's settings."""
MAX_TERMS = 20_000_000
"""Upper bound of the targets of all skills together, times the number of variables."""
MAX_WIDTH = 1_000_000
"""Largest `SkillLayout.width` that a file may have."""


class Origin(msgspec.Struct, forbid_unknown_fields=True):
    """The world that skills were learned in."""

    id: str
    settings: dict[str, Any]


class NetworkHeader(msgspec.Struct, forbid_unknown_fields=True):
    """The objective of networks (`Objective.to_dict`) and the components of every skill or mode."""

    objective: dict[str, Any]
    components: list[list[tuple[str, Annotated[int, Meta(ge=0, lt=MAX_SKILLS)]]]]


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
    targets: list[list[str]] = []
    context_variables: list[list[str]] = []
    modes: list[Annotated[int, Meta(ge=1)]] = []
    reward: RewardHeader | None = None
    network: NetworkHeader | None = None
    objective: dict[str, Any] | None = None
    kinds: Kinds = []


def header_of(skills: Skills | ContinuousSkills) -> Header:
    """Return the header of a set's file."""
    world = skills.world
    common: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "world": Origin(world.id, dict(world.settings)),
        "step_limit": skills.step_limit,
        "info": skills.info,
    }
    if isinstance(skills, ContinuousSkills):
        kinds = msgspec.convert(skills.layout.describe(skills.world.space), Kinds)
        objective = skills.objective.to_dict()
        return Header(
            **common, kind="actor", fingerprint=fingerprint(world), objective=objective, kinds=kinds
        )
    reward, network, is_network = skills.intrinsic_reward, None, False
    if isinstance(skills.policies, NeuralPolicy):
        network = _network_header(skills.policies.model)
        is_network = network is not None or not skills.has_table
    return Header(
        **common,
        kind="network" if is_network else "table",
        fingerprint=skills.mdp.fingerprint if skills.has_table else fingerprint(world),
        targets=[list(names) for names in skills.targets],
        context_variables=[list(names) for names in skills.context_variables],
        modes=[] if skills.n_modes.max(initial=1) == 1 else skills.n_modes.tolist(),
        reward=None if reward is None else reward.header(),
        network=network,
    )


def _network_header(model: SkillModel) -> NetworkHeader | None:
    """Return the header entry of networks; None if their objective cannot be made from a file."""
    if not _is_known(model.objective):
        return None
    names = model.space.names
    components = [
        [(names[j], int(component)) for j, component in skill.items()]
        for skill in model.assignment.skills
    ]
    return NetworkHeader(model.objective.to_dict(), components)


def _is_known(objective: Objective) -> bool:
    try:
        return from_dict(objective.to_dict()) == objective
    except UserError:
        return False


# -------------------- Writing


def to_bytes(skills: Skills | ContinuousSkills) -> bytes:
    """Return the contents of a skills file (docs/skills-files.md).

    Raises:
        UserError: If a file cannot describe the objective of its networks.
    """
    header, objective = header_of(skills), None
    if isinstance(skills, ContinuousSkills):
        objective = skills.objective
    elif header.kind == "network" and isinstance(skills.policies, NeuralPolicy):
        objective = skills.policies.model.objective
    if objective is not None and not _is_known(objective):
        raise UserError(
            f"{objective.name} has a reward or a penalty of your own, which a skills file "
            f"cannot describe: pickle the skills instead"
        )
    return seal(header, _arrays_of(skills, header.kind), compress=1)


def same_skills(one: Skills | ContinuousSkills, other: Skills | ContinuousSkills) -> bool:
    """Return whether two sets have equal headers and equal arrays."""
    header = header_of(one)
    if header != header_of(other):
        return False
    if header.kind == "table":
        return _same_tables(one, other)  # pyright: ignore[reportArgumentType]
    mine, others = _arrays_of(one, header.kind), _arrays_of(other, header.kind)
    return mine.keys() == others.keys() and all(
        np.array_equal(array, others[name]) for name, array in mine.items()
    )


def _same_tables(one: Skills, other: Skills) -> bool:
    """Compare actions, because equal policies may be packed in different orders."""
    if not one.has_table:  # skills picked from networks
        return one.policies is other.policies
    return one.intrinsic_reward == other.intrinsic_reward and all(
        np.array_equal(one.tabular.columns(z), other.tabular.columns(z)) for z in range(len(one))
    )


def _arrays_of(skills: Skills | ContinuousSkills, kind: str) -> dict[str, np.ndarray]:
    if isinstance(skills, ContinuousSkills):
        return _flatten({name: skills.weights[name] for name in ACTOR_WEIGHTS})
    if kind == "network":
        assert isinstance(skills.policies, NeuralPolicy)
        weights = skills.policies.weights
        groups = [
            {name: parts[name] for name in GROUP_WEIGHTS if name in parts}
            for parts in weights["groups"]
        ]
        arrays = _flatten({**{name: weights[name] for name in NETWORK_WEIGHTS}, "groups": groups})
    else:
        packed = pack_policy(skills.tabular)
        arrays = {"policy/numbers": packed.numbers, "policy/blocks": packed.blocks}
    reward = skills.intrinsic_reward
    return arrays if reward is None else {**arrays, **reward.arrays()}


ACTOR_WEIGHTS = ("shift", "scale", "actor", "judges")
NETWORK_WEIGHTS = ("unit", "strength", "temperature", "costs")
GROUP_WEIGHTS = ("table", "linear", "log_nu", "network")


def _flatten(tree: Any, name: str = "") -> dict[str, np.ndarray]:
    """Return the arrays of nested dictionaries and lists by path, such as `groups/3/table`."""
    if not isinstance(tree, dict | list):
        return {name: np.atleast_1d(np.asarray(tree, np.float32))}
    arrays = {}
    for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
        arrays |= _flatten(part, f"{name}/{key}" if name else str(key))
    return arrays


# -------------------- Reading


def load(
    path: Path, world: World | str | None = None, mdp: TabularMDP | None = None
) -> Skills | ContinuousSkills:
    """Read skills of any kind from a file; see `Skills.load`."""
    return from_bytes(read_bytes(path, "skills"), str(path), world, mdp)


def from_bytes(
    content: bytes, name: str, world: World | str | None = None, mdp: TabularMDP | None = None
) -> Skills | ContinuousSkills:
    """Restore skills of any kind from `to_bytes`; see `Skills.load`."""
    header, arrays = read(content, name)
    try:
        made = remake(header.world.id, header.world.settings) if world is None else as_world(world)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    if mdp is None and has_table(made):
        mdp = table_of(made)
    if header.fingerprint != (fingerprint(made) if mdp is None else mdp.fingerprint):
        raise UserError(
            f"{name} holds skills for another world than this {made.id}: they were learned in "
            f"{header.world.id} with {reprlib.repr(header.world.settings)}"
        )
    try:
        if header.kind == "actor":
            return _continuous_skills(made, header, arrays)
        return _finite_skills(made, mdp, header, arrays)
    except UserError as error:
        raise UserError(f"{name} is not a usable skills file: {error}") from None


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


# -------------------- Skills of finite worlds: tables, and cost networks


def _finite_skills(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> Skills:
    from skillfocus.skills.skills import Skills

    for variable in chain(*header.targets, *header.context_variables):
        world.space.index(variable)
    rewards = {key: arrays.pop(key) for key in [*arrays] if key.startswith("reward.")}
    policies = (
        _networks(world, mdp, header, arrays)
        if header.kind == "network"
        else _table(world, mdp, header, arrays)
    )
    reward = None
    if header.reward is not None:
        if mdp is None:
            raise UserError("its world has no tables of rewards")
        reward = reward_from_file(mdp, header.reward, rewards)
    elif rewards:
        raise UserError(f"it holds rewards {sorted(rewards)} that its header does not name")
    targets = tuple(tuple(names) for names in header.targets)
    return Skills(world, policies, targets, header.step_limit, header.info, reward)


def _table(
    world: World, mdp: TabularMDP | None, header: Header, arrays: Mapping[str, np.ndarray]
) -> Policy:
    if mdp is None:
        raise UserError(f"{world.id} has no table of states")
    if arrays.keys() != {"policy/numbers", "policy/blocks"}:
        raise UserError(f"it holds the arrays {sorted(arrays)}, not those of a policy")
    packed = PackedPolicy(
        mdp, header.context_variables, arrays["policy/numbers"], arrays["policy/blocks"],
        header.modes,
    )  # fmt: skip
    return packed.unpacked()


def _networks(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> NeuralPolicy:
    if header.network is None:
        raise UserError("its header says nothing of its networks")
    objective = from_dict(header.network.objective)
    assignment = _assignment(world, objective, header.network)
    modes = tuple(header.modes) or (1,) * len(header.targets)
    if len(modes) != len(header.targets) or sum(modes) != len(assignment):
        raise UserError(
            f"it has components of {len(assignment)} skills or modes, not of {sum(modes)}"
        )
    skill_of_mode = [z for z, count in enumerate(modes) for _ in range(count)]
    for mode, z in enumerate(skill_of_mode):
        own = [world.space.names[j] for j in assignment.targets(mode)]
        if own != header.targets[z]:
            raise UserError(f"skill {z} targets {header.targets[z]}, its components are for {own}")
    dynamics = world if isinstance(world, JaxWorld) else mdp
    if dynamics is None:
        raise UserError(f"{world.id} has no table of states")
    model = SkillModel(world.space, dynamics.one_way, len(world.actions), objective, assignment)
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
    _require_all_taken(arrays)
    policy = NeuralPolicy(model, weights, modes, mdp)
    if [list(names) for names in policy.context_variables] != header.context_variables:
        raise UserError("the context variables of its skills differ from those of its networks")
    return policy


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
    require_memory(8 * entries, "the components of its skills", "use fewer skills")
    return Assignment(tuple(skills))


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


# -------------------- Skills of continuous worlds: actors


def _continuous_skills(
    world: World, header: Header, arrays: dict[str, np.ndarray]
) -> ContinuousSkills:
    if not isinstance(world, ContinuousBase) or header.objective is None:
        raise UserError(f"{world.id} has no continuous variables")
    objective = from_dict(header.objective)
    layout = _layout(world, objective, header.kinds)
    skills = ContinuousSkills(world, objective, layout, {}, header.step_limit, header.info)
    skills.weights.update(_actor_weights(skills.model, skills.estimates, arrays))
    return skills


def _layout(world: ContinuousBase, objective: Objective, kinds: Kinds) -> SkillLayout:
    """Return the layout that a header describes, if it is small enough."""

    def component(described: int | SphereHeader) -> int | Sphere:
        return described if isinstance(described, int) else Sphere(described.sphere)

    if objective.targeted:
        if any(name is None for kind in kinds for name, _ in kind):
            raise UserError(f"{objective.name} skills have targets, and a component names none")
        listed: Any = [{name: component(described) for name, described in kind} for kind in kinds]
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
    size = model.world.observation_size
    weights: dict[str, Any] = {
        "shift": take(arrays, "shift", (size,)),
        "scale": take(arrays, "scale", (size,)),
        "actor": take_network(arrays, "actor", model.n_inputs, model.n_outputs),
        "judges": {},
    }
    if (weights["scale"] <= 0).any():
        raise UserError("the array 'scale' holds numbers that are not positive")
    first = np.shape(arrays.get("judges/w0", ()))
    hidden = max(first[2], 1) if len(first) == 3 else 1
    sizes, n = [estimates.n_inputs, hidden, hidden, estimates.width], estimates.n_copies
    for i, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
        weights["judges"][f"w{i}"] = take(arrays, f"judges/w{i}", (n, fan_in, fan_out))
        weights["judges"][f"b{i}"] = take(arrays, f"judges/b{i}", (n, 1, fan_out))
    _require_all_taken(arrays)
    return weights


# -------------------- Arrays of networks


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


def _require_all_taken(arrays: Mapping[str, np.ndarray]) -> None:
    if arrays:
        raise UserError(f"its networks need no array {min(arrays)!r}")
