"""Skills files: policies, learned rewards and where they come from, in one sealed file.

    table     `policy/numbers` and `policy/blocks`, see `PackedPolicy`
    network   the weights of a cost network, `q_params/w0`, `groups/3/table`, …
    actor     the weights of an actor and its estimators, `actor/w0`, `estimators/w0`, …

The header names the world, the step limit, and per skill the targets; of networks it names the
objective with its settings, and the components of every skill. With the world, these determine a
model, and the model the names and shapes of its arrays. Learned rewards (`reward.0`, …) may come
with tables and cost networks.

Reading a file parses and checks; nothing in it is ever run. Whether the header, the arrays and the
world belong together is checked where they meet.
"""

from __future__ import annotations

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
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.objectives.kinds import (
    MAX_SKILLS,
    WHOLE,
    Components,
    SkillKind,
    SkillKinds,
    Sphere,
    group_skills,
)
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.registry import from_dict, is_registered
from skillfocus.skills.actor import ActorModel, ActorPolicy, make_code
from skillfocus.skills.estimators import SkillEstimates
from skillfocus.skills.intrinsic_reward import RewardHeader, reward_from_file
from skillfocus.skills.network import Group, NeuralPolicy, Parameters, SkillModel
from skillfocus.skills.policy import PackedPolicy, Policy, pack_policy
from skillfocus.spaces import Space
from skillfocus.world import MAX_STEPS, World
from skillfocus.worlds.registry import as_world, fingerprint, remake

if TYPE_CHECKING:
    from skillfocus.skills.skills import Skills

# -------------------- The header

FORMAT, VERSION = "skillfocus-skills", 2
MAX_DEPTH = 20
"""How deep lists and objects may be nested in `info` and in the world's settings."""
MAX_TERMS = 20_000_000
"""Upper bound of the targets of all skills together, times the number of variables."""
MAX_WIDTH = 1_000_000
"""Largest `SkillCode.width` that a file may have."""


class Origin(msgspec.Struct, forbid_unknown_fields=True):
    """The world that skills were learned in."""

    id: str
    settings: dict[str, Any]


class SphereHeader(msgspec.Struct, forbid_unknown_fields=True):
    """Components that lie on a sphere."""

    sphere: int


Component = Annotated[int, Meta(ge=0, lt=MAX_SKILLS)] | list[float]
SkillHeader = list[tuple[str | None, Component]]
"""A skill's components by target; None for the whole state."""
KindHeader = list[tuple[str | None, int | SphereHeader]]
"""How many components the targets of a kind of skill have, or the sphere they lie on."""


class Header(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The header of a skills file."""

    format: str = msgspec.field(default="")
    version: int = 0
    kind: Literal["table", "network", "actor"]
    world: Origin
    fingerprint: str
    step_limit: Annotated[int, Meta(ge=1, le=MAX_STEPS)]
    info: dict[str, Any]
    targets: list[list[str]]
    goals: list[dict[str, Annotated[int, Meta(ge=0)]]] = []
    context_variables: list[list[str]] = []
    modes: list[Annotated[int, Meta(ge=1, lt=2**62)]] = []
    reward: RewardHeader | None = None
    objective: dict[str, Any] | None = None
    skills: list[SkillHeader] = []
    kinds: list[KindHeader] = []


def header_of(skills: Skills) -> Header:
    """Return the header of a set's file."""
    world, policies, reward = skills.world, skills.policies, skills.intrinsic_reward
    own: dict[str, Any] = {}
    kind = "table"
    if isinstance(policies, ActorPolicy):
        kind, code = "actor", policies.model.code
        slots = [
            (
                None if slot.variable == WHOLE else world.space.names[slot.variable],
                slot.components if slot.is_discrete else SphereHeader(slot.width),
            )
            for slot in code.slots
        ]
        own = {
            "objective": policies.model.objective.to_dict(),
            "skills": [_skill_header(skill, world.space) for skill in policies.skills],
            "kinds": [[slots[k] for k in each] for each in code.kinds],
        }
    elif isinstance(policies, NeuralPolicy) and (
        not skills.has_table or is_registered(policies.model.objective)
    ):
        kind, model = "network", policies.model
        own = {
            "objective": model.objective.to_dict(),
            "skills": [_skill_header(skill, world.space) for skill in model.kinds.skills],
        }
    return Header(
        format=FORMAT,
        version=VERSION,
        kind=kind,
        world=Origin(world.id, dict(world.settings)),
        fingerprint=skills.fingerprint,
        step_limit=skills.step_limit,
        info=skills.info,
        targets=[list(names) for names in skills.targets],
        goals=[dict(goal) for goal in skills.goals] if any(skills.goals) else [],
        context_variables=[list(names) for names in skills.context_variables],
        modes=[] if skills.n_modes.max(initial=1) == 1 else skills.n_modes.tolist(),
        reward=None if reward is None else reward.header(),
        **own,
    )


def _skill_header(skill: Mapping[int, Any], space: Space) -> SkillHeader:
    return [
        (
            None if j == WHOLE else space.names[j],
            int(c) if np.ndim(c) == 0 else [float(x) for x in c],
        )
        for j, c in skill.items()
    ]


# -------------------- Writing


def to_bytes(skills: Skills) -> bytes:
    """Return the contents of a skills file (docs/skills-files.md).

    Raises:
        UserError: If a file cannot describe the objective of its networks.
    """
    header, policies = header_of(skills), skills.policies
    if isinstance(policies, NeuralPolicy | ActorPolicy) and header.kind != "table":
        objective = policies.model.objective
        if not is_registered(objective):
            raise UserError(
                f"{objective.name} has a reward or a penalty of your own, which a skills file "
                f"cannot describe: pickle the skills instead"
            )
    elif not skills.has_table:
        raise UserError(
            "skills joined from several networks have no file: save each set, and join them when "
            "they are loaded"
        )
    return seal(header, _arrays_of(skills, header.kind), compress=1)


def same_skills(one: Skills, other: Skills) -> bool:
    """Return whether two sets have equal headers and equal arrays."""
    header = header_of(one)
    if header != header_of(other):
        return False
    if header.kind == "table":  # equal policies may be packed in different orders
        if not one.has_table:  # joined from networks
            return one.policies is other.policies
        return one.intrinsic_reward == other.intrinsic_reward and all(
            np.array_equal(one.tabular.columns(z), other.tabular.columns(z))
            for z in range(len(one))
        )
    mine, others = _arrays_of(one, header.kind), _arrays_of(other, header.kind)
    return mine.keys() == others.keys() and all(
        np.array_equal(array, others[name]) for name, array in mine.items()
    )


ACTOR_WEIGHTS = ("shift", "scale", "actor", "estimators")
NETWORK_WEIGHTS = ("reward_scale", "strength", "temperature", "q_params")
GROUP_WEIGHTS = ("table", "linear", "log_nu", "network")


def _arrays_of(skills: Skills, kind: str) -> dict[str, np.ndarray]:
    policies, reward = skills.policies, skills.intrinsic_reward
    if kind == "actor":
        assert isinstance(policies, ActorPolicy)
        return _flatten({name: policies.weights[name] for name in ACTOR_WEIGHTS})
    if kind == "network":
        assert isinstance(policies, NeuralPolicy)
        weights = policies.weights
        groups = [
            {name: parts[name] for name in GROUP_WEIGHTS if name in parts}
            for parts in weights["groups"]
        ]
        arrays = _flatten({**{name: weights[name] for name in NETWORK_WEIGHTS}, "groups": groups})
    else:
        packed = pack_policy(skills.tabular)
        arrays = {"policy/numbers": packed.numbers, "policy/blocks": packed.blocks}
    return arrays if reward is None else {**arrays, **reward.arrays()}


def _flatten(tree: Any, name: str = "") -> dict[str, np.ndarray]:
    """Return the arrays of nested dictionaries and lists by path, such as `groups/3/table`."""
    if not isinstance(tree, dict | list):
        return {name: np.atleast_1d(np.asarray(tree, np.float32))}
    arrays = {}
    for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
        arrays |= _flatten(part, f"{name}/{key}" if name else str(key))
    return arrays


# -------------------- Reading


def load(path: Path, world: World | str | None = None, mdp: TabularMDP | None = None) -> Skills:
    """Read skills from a file; see `Skills.load`."""
    return from_bytes(read_bytes(path, "skills"), str(path), world, mdp)


def from_bytes(
    content: bytes, name: str, world: World | str | None = None, mdp: TabularMDP | None = None
) -> Skills:
    """Restore skills from `to_bytes`; see `Skills.load`."""
    header, arrays = read(content, name)
    try:
        made = remake(header.world.id, header.world.settings) if world is None else as_world(world)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    if mdp is None and made.has_table:
        mdp = tabulate(made)
    if header.fingerprint not in (fingerprint(made), mdp and mdp.fingerprint):
        raise UserError(
            f"{name} holds skills for another world than this {made.id}: they were learned in "
            f"{header.world.id} with {reprlib.repr(header.world.settings)}"
        )
    try:
        return _restore(made, mdp, header, arrays)
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


# -------------------- Policies from a header and arrays


def _restore(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> Skills:
    from skillfocus.skills.skills import Skills

    space = world.space
    for variable in chain(*header.targets, *header.context_variables, *header.goals):
        space.index(variable)
    rewards = {key: arrays.pop(key) for key in [*arrays] if key.startswith("reward.")}
    make = {"table": _table, "network": _network, "actor": _actor}[header.kind]
    policies = make(world, mdp, header, arrays)
    reward = None
    if header.reward is not None:
        if mdp is None:
            raise UserError("its world has no tables of rewards")
        reward = reward_from_file(mdp, header.reward, rewards)
    elif rewards:
        raise UserError(f"it holds rewards {sorted(rewards)} that its header does not name")
    for goal, names in zip(header.goals, header.targets, strict=bool(header.goals)):
        for name, value in goal.items():
            if name not in names or value >= space.sizes[space.index(name)]:
                raise UserError(f"a skill for {' + '.join(names)} cannot reach {goal}")
    targets = tuple(tuple(names) for names in header.targets)
    return Skills(
        world, policies, targets, header.step_limit, header.info, reward, tuple(header.goals)
    )


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


def _objective(header: Header) -> Objective:
    if header.objective is None:
        raise UserError("its header says nothing of the objective of its networks")
    return from_dict(header.objective)


def _network(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> NeuralPolicy:
    objective = _objective(header)
    kinds = _kinds(world, objective, header)
    modes = tuple(header.modes) or (1,) * len(header.targets)
    if len(modes) != len(header.targets) or sum(modes) != len(kinds):
        raise UserError(f"it has components of {len(kinds)} skills or modes, not of {sum(modes)}")
    skill_of_mode = [z for z, count in enumerate(modes) for _ in range(count)]
    for mode, z in enumerate(skill_of_mode):
        own = [world.space.names[j] for j in kinds.targets(mode)]
        if own != header.targets[z]:
            raise UserError(f"skill {z} targets {header.targets[z]}, its components are for {own}")
    one_way = world.one_way if mdp is None else mdp.one_way
    model = SkillModel(world.space, one_way, len(world.actions), objective, kinds)
    weights = {
        "reward_scale": take(arrays, "reward_scale", (model.n_skills,)),
        "strength": take(arrays, "strength", (1,))[0],
        "temperature": take(arrays, "temperature", (1,))[0],
        "q_params": take_network(arrays, "q_params", model.n_inputs, model.n_outputs),
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


def _kinds(world: World, objective: Objective, header: Header) -> SkillKinds:
    """Return the components of every skill or mode, within the limits on their number."""
    skills = []
    for parts in header.skills:
        skill = {
            world.space.index(name): component
            for name, component in parts
            if name is not None and isinstance(component, int)
        }
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
    return group_skills(skills)


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


def _actor(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> ActorPolicy:
    del mdp
    if not world.has_real_actions:
        raise UserError(f"{world.id} has no real-valued actions")
    objective, space = _objective(header), world.space

    def index(name: str | None) -> int:
        if (name is None) == objective.targeted:
            raise UserError(f"skills of {objective.name} cannot target {name or 'the whole state'}")
        return WHOLE if name is None else space.index(name)

    known: dict[int, Components] = {}
    kinds: list[dict[int, Components]] = []
    for described in header.kinds:
        kinds.append(
            {index(n): c if isinstance(c, int) else Sphere(c.sphere) for n, c in described}
        )
        for j, count in kinds[-1].items():
            if known.setdefault(j, count) != count or (isinstance(count, int) and count < 2):
                raise UserError("its kinds of skills have impossible components")
    code = make_code(SkillKinds(tuple(SkillKind(kind, ()) for kind in kinds)), len(space))
    if not code.slots or code.width > MAX_WIDTH:
        raise UserError(f"its skills have {code.width:,} numbers, not 1 to {MAX_WIDTH:,}")
    skills = [{index(name): component for name, component in each} for each in header.skills]
    if len(skills) != len(header.targets):
        raise UserError(f"it has {len(skills)} skills, and targets of {len(header.targets)}")
    model = ActorModel(world, objective, code, header.step_limit)
    weights = _actor_weights(model, SkillEstimates(space, objective, code), arrays)
    return ActorPolicy(model, weights, []).named(skills)


def _actor_weights(
    model: ActorModel, estimates: SkillEstimates, arrays: dict[str, np.ndarray]
) -> dict[str, Any]:
    size = model.world.observation_size
    weights: dict[str, Any] = {
        "shift": take(arrays, "shift", (size,)),
        "scale": take(arrays, "scale", (size,)),
        "actor": take_network(arrays, "actor", model.n_inputs, model.n_outputs),
        "estimators": {},
    }
    if (weights["scale"] <= 0).any():
        raise UserError("the array 'scale' holds numbers that are not positive")
    first = np.shape(arrays.get("estimators/w0", ()))
    hidden = max(first[2], 1) if len(first) == 3 else 1
    for i, (n, fan_in, fan_out) in enumerate(estimates.shapes(hidden)):
        for name, shape in (("w", (n, fan_in, fan_out)), ("b", (n, 1, fan_out))):
            weights["estimators"][f"{name}{i}"] = take(arrays, f"estimators/{name}{i}", shape)
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
