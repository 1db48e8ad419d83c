"""Skills files: policies, learned rewards and where they come from, in one sealed file.

    table     `policy/numbers` and `policy/blocks`, see `TabularPolicy`
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

import itertools
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from skillfocus.errors import UserError
from skillfocus.files import Damaged, read_bytes, seal, unseal
from skillfocus.machine import require_memory
from skillfocus.mdp import TabularMDP, index_values, tabulate
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
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardGroup, RewardHeader
from skillfocus.skills.network import NeuralPolicy, SkillModel
from skillfocus.skills.policy import Policy, TabularPolicy
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

    sphere: Annotated[int, Meta(ge=2, le=MAX_SKILLS)]


SkillHeader = list[tuple[str | None, Annotated[int, Meta(ge=0, lt=MAX_SKILLS)] | list[float]]]
"""A skill's components by target; None for the whole state."""
KindHeader = list[tuple[str | None, Annotated[int, Meta(ge=2, le=MAX_SKILLS)] | SphereHeader]]
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
    targets: Annotated[list[list[str]], Meta(min_length=1, max_length=MAX_SKILLS)]
    goals: list[dict[str, Annotated[int, Meta(ge=0)]]] = []
    context_variables: list[list[str]] = []
    modes: list[Annotated[int, Meta(ge=1, lt=2**62)]] = []
    reward: RewardHeader | None = None
    objective: dict[str, Any] | None = None
    skills: Annotated[list[SkillHeader], Meta(max_length=MAX_SKILLS)] = []
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
    if header.kind == "table" and not one.has_table:  # joined from networks
        return one.policies is other.policies
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
        packed = skills.tabular.pick(range(len(skills)))  # equal policies, equal numbers
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
    for variable in itertools.chain(*header.targets, *header.context_variables, *header.goals):
        space.index(variable)
    rewards = {key: arrays.pop(key) for key in [*arrays] if key.startswith("reward.")}
    make = {"table": _table, "network": _network, "actor": _actor}[header.kind]
    policies = make(world, mdp, header, arrays)
    reward = _reward(mdp, header.reward, rewards)
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
    return TabularPolicy(
        mdp, header.context_variables, arrays["policy/numbers"], header.modes,
        arrays["policy/blocks"],
    )  # fmt: skip


def _reward(
    mdp: TabularMDP | None, header: RewardHeader | None, arrays: Mapping[str, np.ndarray]
) -> IntrinsicReward | None:
    groups = () if header is None else header.groups
    shapes: Shapes = {}
    for k, group in enumerate(groups):
        if mdp is None:
            raise UserError("its world has no tables of rewards")
        names, known = group.variables, set(group.variables)
        if not names or len(known) < len(names) or not known.issuperset(group.start_variables):
            raise UserError(
                f"reward group {k} looks at {list(names)} and at the first "
                f"{list(group.start_variables)}: variables must be named once each, the second "
                f"among the first"
            )
        seen = [names] if group.separable else [names, group.start_variables]
        sizes = [index_values(mdp, mdp.space.indices(each)).size for each in seen]
        n_components = np.shape(arrays.get(f"reward.{k}", ()))[:1]
        shapes[f"reward.{k}"] = (max(1, *n_components), *sizes)
    tables = list(_read_floats(arrays, shapes).values())
    if header is None or mdp is None:
        return None
    for z, modes in enumerate(header.terms):
        for k, component, _ in itertools.chain(*modes):
            if k >= len(tables):
                raise UserError(f"skill {z} is rewarded by group {k} of {len(tables)}")
            if component >= len(tables[k]):
                raise UserError(
                    f"skill {z} is rewarded by component {component} of group {k}, of "
                    f"{len(tables[k])}"
                )
    restored = (
        RewardGroup(group.variables, group.start_variables, table, group.separable)
        for group, table in zip(groups, tables, strict=True)
    )
    return IntrinsicReward(mdp, tuple(restored), header.terms)


def _objective(header: Header) -> Objective:
    if header.objective is None:
        raise UserError("its header says nothing of the objective of its networks")
    return from_dict(header.objective)


def _components(parts: list[Any], objective: Objective, space: Space) -> dict[int, Any]:
    """Return what the header has by target, by variable."""
    found = {WHOLE if name is None else space.index(name): part for name, part in parts}
    if len(found) < len(parts) or any((j == WHOLE) == objective.targeted for j in found):
        raise UserError(f"a skill of {objective.name} cannot have the components {parts}")
    return found


def _network(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> NeuralPolicy:
    objective, space = _objective(header), world.space
    skills = [_components(parts, objective, space) for parts in header.skills]
    for skill, parts in zip(skills, header.skills, strict=True):
        if bool(skill) != objective.targeted or not all(isinstance(c, int) for _, c in parts):
            raise UserError(f"a skill of {objective.name} cannot have the components {parts}")
    modes = tuple(header.modes) or (1,) * len(header.targets)
    if len(modes) != len(header.targets) or sum(modes) != len(skills):
        raise UserError(f"it has components of {len(skills)} skills or modes, not of {sum(modes)}")
    kinds = group_skills(skills)
    if sum(map(len, skills)) * len(space) > MAX_TERMS:
        raise UserError(f"it has more than {MAX_TERMS:,} targets times variables")
    n_components = [kinds.n_components(j) for j in {j for skill in skills for j in skill}]
    entries = len(skills) * (sum(n_components) or len(skills))
    require_memory(8 * entries, "the components of its skills", "use fewer skills")
    for mode, z in enumerate(np.repeat(np.arange(len(modes)), modes).tolist()):
        own = [space.names[j] for j in kinds.targets(mode)]
        if own != header.targets[z]:
            raise UserError(f"skill {z} targets {header.targets[z]}, its components are for {own}")
    one_way = world.one_way if mdp is None else mdp.one_way
    model = SkillModel(space, one_way, len(world.actions), objective, kinds)
    weights = _nest(_read_floats(arrays, _network_shapes(model, arrays)))
    weights |= {name: weights[name][0] for name in ("strength", "temperature")}
    weights["groups"] = [weights["groups"][str(k)] for k in range(len(model.groups))]
    policy = NeuralPolicy(model, weights, modes, mdp)
    if [list(names) for names in policy.context_variables] != header.context_variables:
        raise UserError("the context variables of its skills differ from those of its networks")
    return policy


def _actor(
    world: World, mdp: TabularMDP | None, header: Header, arrays: dict[str, np.ndarray]
) -> ActorPolicy:
    del mdp
    if not world.has_real_actions:
        raise UserError(f"{world.id} has no real-valued actions")
    objective, space = _objective(header), world.space
    known: dict[int, Components] = {}
    kinds: list[SkillKind] = []
    for parts in header.kinds:
        components = {
            j: count if isinstance(count, int) else Sphere(count.sphere)
            for j, count in _components(parts, objective, space).items()
        }
        if any(known.setdefault(j, count) != count for j, count in components.items()):
            raise UserError("its kinds of skills have impossible components")
        kinds.append(SkillKind(components, ()))
    code = make_code(SkillKinds(tuple(kinds)), len(space))
    if not code.slots or code.width > MAX_WIDTH:
        raise UserError(f"its skills have {code.width:,} numbers, not 1 to {MAX_WIDTH:,}")
    skills = [_components(parts, objective, space) for parts in header.skills]
    if len(skills) != len(header.targets):
        raise UserError(f"it has {len(skills)} skills, and targets of {len(header.targets)}")
    model = ActorModel(world, objective, code, header.step_limit)
    weights = _nest(_read_floats(arrays, _actor_shapes(model, arrays)))
    if (weights["scale"] <= 0).any():
        raise UserError("the array 'scale' holds numbers that are not positive")
    return ActorPolicy(model, weights, []).named(skills)


# -------------------- Arrays and their shapes by path, given the widths of hidden layers

Shapes = dict[str, tuple[int, ...]]


def _network_shapes(model: SkillModel, arrays: Mapping[str, np.ndarray]) -> Shapes:
    shapes: Shapes = {"reward_scale": (model.n_skills,), "strength": (1,), "temperature": (1,)}
    shapes |= _layer_shapes(arrays, "q_params", model.n_inputs, model.n_outputs)
    for k, group in enumerate(model.groups):
        name, n = f"groups/{k}", group.n_components
        if group.is_table:
            shapes[f"{name}/table"] = (n, group.n_starts, group.n_values)
        elif model.objective.reward.estimate.discriminates:
            n_inputs = model.encoded_width(group.variables, group.start_variables)
            shapes[f"{name}/log_nu"] = (n,)
            shapes |= _layer_shapes(arrays, f"{name}/network", n_inputs, n)
        else:
            points = [model.space.variables[j].coordinates for j in group.variables]
            shapes[f"{name}/linear"] = (sum(each.shape[1] for each in points), n)
    return shapes


def _actor_shapes(model: ActorModel, arrays: Mapping[str, np.ndarray]) -> Shapes:
    size = model.world.observation_size
    estimates = SkillEstimates(model.space, model.objective, model.code)
    shapes: Shapes = {"shift": (size,), "scale": (size,)}
    shapes |= _layer_shapes(arrays, "actor", model.n_inputs, model.n_outputs)
    for i, (n, fan_in, fan_out) in enumerate(estimates.shapes(_width(arrays, "estimators/w0"))):
        shapes |= {f"estimators/w{i}": (n, fan_in, fan_out), f"estimators/b{i}": (n, 1, fan_out)}
    return shapes


def _layer_shapes(
    arrays: Mapping[str, np.ndarray], name: str, n_inputs: int, n_outputs: int
) -> Shapes:
    shapes: Shapes = {}
    last = next(i for i in itertools.count() if f"{name}/w{i + 1}" not in arrays)
    for i in range(last + 1):
        width = _width(arrays, f"{name}/w{i}") if i < last else n_outputs
        shapes |= {f"{name}/w{i}": (n_inputs, width), f"{name}/b{i}": (width,)}
        if i < last:
            shapes[f"{name}/g{i}"] = (width,)
        n_inputs = width
    return shapes


def _width(arrays: Mapping[str, np.ndarray], name: str) -> int:
    """Return how many outputs a layer has, at least 1."""
    shape = np.shape(arrays.get(name, ()))
    return max(1, *shape[-1:])


def _read_floats(arrays: Mapping[str, np.ndarray], shapes: Shapes) -> dict[str, np.ndarray]:
    """Return the finite float32 arrays of a file, which have these shapes.

    Raises:
        UserError: If it has others.
    """
    for name, shape in shapes.items():
        array = arrays.get(name)
        if array is None:
            raise UserError(f"it needs an array {name!r}")
        if array.dtype != np.float32 or array.shape != shape:
            raise UserError(
                f"the array {name!r} is {array.dtype} {list(array.shape)}, and must be float32 "
                f"{list(shape)}"
            )
        if not np.isfinite(array).all():
            raise UserError(f"the array {name!r} holds numbers that are not finite")
    if arrays.keys() > shapes.keys():
        raise UserError(f"it needs no array {min(arrays.keys() - shapes.keys())!r}")
    return {name: arrays[name] for name in shapes}


def _nest(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return arrays by path as nested dictionaries; see `_flatten`."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *folders, last = name.split("/")
        part = tree
        for folder in folders:
            part = part.setdefault(folder, {})
        part[last] = array
    return tree
