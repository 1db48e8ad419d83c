"""Skills files: policies, learned rewards and where they come from, in one sealed file.

    table     `policy/numbers` and `policy/blocks`, see `PackedPolicy`
    network   the weights of a cost network, `costs/w0`, `groups/3/table`, …
    actor     the weights of an actor and its estimators, `actor/w0`, `judges/w0`, …

Reading one parses and checks; nothing in it is ever run. Whether the header, the arrays and the
world belong together is checked where they meet.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import MAX_STEPS, World
from skillfocus.errors import UserError
from skillfocus.files import Damaged, seal, unseal
from skillfocus.objectives.targets import MAX_SKILLS
from skillfocus.skills.intrinsic_reward import IntrinsicReward, RewardHeader, reward_from_file
from skillfocus.skills.neural.files import (
    NetworkHeader,
    network_arrays,
    network_header,
    networks_from_file,
)
from skillfocus.skills.neural.policy import NeuralPolicy
from skillfocus.skills.packed_policy import PackedPolicy, pack_policy
from skillfocus.skills.policy import Policy
from skillfocus.skills.tables import fingerprint, has_table, table_of
from skillfocus.worlds.registry import as_world
from skillfocus.worlds.remaking import remake

if TYPE_CHECKING:
    from skillfocus.skills.continuous.skills import ContinuousSkills
    from skillfocus.skills.skills import Skills

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
        from skillfocus.skills.continuous.files import from_file

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
