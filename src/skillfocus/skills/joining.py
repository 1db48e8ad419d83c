"""Sets of skills joined and cut: `a + b`, `skills[2:5]`, `skills[["key", "door"]]`, `skills[3]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.trajectory import Trajectory
from skillfocus.errors import UserError, unknown
from skillfocus.skills.intrinsic_reward import join_rewards
from skillfocus.skills.packed_policy import MAX_UNPACKED, PackedPolicy, Packer
from skillfocus.skills.policy import Policy, SkillPolicy, TabularPolicy
from skillfocus.skills.reached_values import reaches_of

if TYPE_CHECKING:
    from skillfocus.skills.skills import Skills

Index = int | str | slice | Sequence[int] | Sequence[str]
"""What a set is indexed with."""


@dataclass(frozen=True, eq=False)
class Skill:
    """One skill of a set: `skills[3]`, or what `for skill in skills` yields.

        for skill in skills:
            print(skill.number, skill.target, skill.likely_path(start))

    Attributes:
        skills: The set it belongs to.
        number: Its number there.
    """

    skills: Skills
    number: int

    @property
    def targets(self) -> tuple[str, ...]:
        """The variables it targets."""
        return self.skills.targets[self.number]

    @property
    def target(self) -> str:
        """The variables it targets as one name, such as "key" or "key+door"."""
        return "+".join(self.targets)

    @property
    def context_variables(self) -> tuple[str, ...]:
        """The variables whose start value its policy sees."""
        return self.skills.context_variables[self.number]

    @property
    def n_modes(self) -> int:
        """How many modes it draws from when it starts."""
        return int(self.skills.n_modes[self.number])

    @property
    def step_limit(self) -> int:
        """Most steps it may take."""
        return self.skills.step_limit

    def policy(self, rng: np.random.Generator | None = None) -> SkillPolicy:
        """Return it as a function from a state to an action; see `Skills.policy`."""
        return self.skills.policy(self.number, rng)

    def action(self, first: State, now: State, mode: int = 0) -> str | None:
        """Return the name of its action in `now`; see `Skills.action`."""
        return self.skills.action(self.number, first, now, mode)

    def rollout(self, start: State, rng: np.random.Generator) -> Trajectory:
        """Run it from a state; see `Skills.rollout`."""
        return self.skills.rollout(self.number, start, rng)

    def likely_path(self, start: State, mode: int = 0) -> Trajectory:
        """Return its states if all outcomes are the likeliest; see `Skills.likely_path`."""
        return self.skills.likely_path(self.number, start, mode)

    def __repr__(self) -> str:
        target = f" ({self.target})" if self.targets else ""
        return f"<skill {self.number}{target} of {self.skills!r}>"


def numbers_of(skills: Skills, index: Index) -> list[int]:
    """Return the numbers of the skills that an index means.

    Raises:
        UserError: If it is none, or there are no such skills.
    """
    if isinstance(index, slice):
        try:
            numbers = list(range(len(skills)))[index]
        except (TypeError, ValueError) as error:
            raise UserError(f"skills cannot be sliced with {index}: {error}") from None
    else:
        members: list[object] = [index]
        if isinstance(index, Sequence | np.ndarray) and not isinstance(index, str | bytes):
            members = list(index)
        numbers = [number for member in members for number in _numbers_of_one(skills, member)]
    if not numbers:
        raise UserError(f"{index!r} picks none of the {len(skills)} skills")
    if len(set(numbers)) < len(numbers):
        raise UserError(f"{index!r} picks a skill twice")
    return numbers


def _numbers_of_one(skills: Skills, member: object) -> list[int]:
    if isinstance(member, str):
        wanted = {name.strip() for name in member.split("+")}
        found = [z for z, names in enumerate(skills.targets) if set(names) == wanted]
        if not found:
            raise unknown("target", member, dict.fromkeys(skill.target for skill in skills))
        return found
    if not isinstance(member, Integral) or isinstance(member, bool | np.bool_):
        raise UserError(
            f"skills are picked by number, by slice or by names of targets, not by {member!r}"
        )
    number = int(member)
    if not -len(skills) <= number < len(skills):
        raise UserError(f"there is no skill {number}: skills are numbered 0 to {len(skills) - 1}")
    return [number % len(skills)]


def pick(skills: Skills, numbers: Sequence[int]) -> Skills:
    """Return some of a set's skills, in this order, as a set of their own."""
    reward = skills.intrinsic_reward
    return replace(
        skills,
        policies=_pick_policies([(skills.policies, z) for z in numbers], _table(skills)),
        targets=tuple(skills.targets[z] for z in numbers),
        info=_picked_info(skills, numbers),
        intrinsic_reward=None if reward is None else join_rewards([(reward, z) for z in numbers]),
    )


def join(one: Skills, other: Skills) -> Skills:
    """Return the skills of two sets as one, the first set's first.

    Learned rewards, and the values that skills are told to reach, are kept if both sets have them.
    What `info` says of both sets alike is kept, and under `joined` all that it says of each.

    Raises:
        UserError: If the sets are of different worlds, or have different step limits.
    """
    same = one.world.id == other.world.id and one.has_table == other.has_table
    if not same or (one.has_table and one.mdp.fingerprint != other.mdp.fingerprint):
        raise UserError(
            f"skills of {one.world.id} and of {other.world.id} cannot be joined: their worlds are "
            f"not the same"
        )
    if one.step_limit != other.step_limit:
        raise UserError(
            f"skills of up to {one.step_limit} and of up to {other.step_limit} steps cannot be "
            f"joined: discover both with the same step_limit"
        )
    members = [(each, z) for each in (one, other) for z in range(len(each))]
    return replace(
        one,
        policies=_pick_policies([(each.policies, z) for each, z in members], _table(one)),
        targets=(*one.targets, *other.targets),
        info=_joined_info(one, other),
        intrinsic_reward=join_rewards([(each.intrinsic_reward, z) for each, z in members]),
    )


def _table(skills: Skills) -> TabularMDP | None:
    return skills.mdp if skills.has_table else None


def objective_label(info: Mapping[str, object]) -> str:
    """Return the name of the objective in a set's `info`, of a joined set all of them: "?" for
    none. `info` holds what a file says, which may be anything."""
    joined = info.get("joined")
    names = []
    for part in joined if isinstance(joined, list) else [info]:
        objective = part.get("objective") if isinstance(part, dict) else None
        name = objective.get("name") if isinstance(objective, dict) else None
        names.append(name if isinstance(name, str) else "?")
    return " + ".join(dict.fromkeys(names)) or "?"


def _picked_info(skills: Skills, numbers: Sequence[int]) -> dict[str, object]:
    reaches = reaches_of(skills)
    if reaches is None:
        return skills.info
    return {**skills.info, "reaches": [reaches[z] for z in numbers]}


def _joined_info(one: Skills, other: Skills) -> dict[str, object]:
    mine, others = reaches_of(one), reaches_of(other)
    both = {} if mine is None or others is None else {"reaches": [*mine, *others]}
    common, also = (
        {key: value for key, value in each.info.items() if key != "reaches"}
        for each in (one, other)
    )
    if common == also and (both or one.info == other.info):
        return {**one.info, **both}
    parts: list[object] = []
    for info in (one.info, other.info):
        joined = info.get("joined")
        parts += joined if isinstance(joined, list) else [info]
    alike = {k: common[k] for k in common if k != "joined" and also.get(k, parts) == common[k]}
    return {**alike, **both, "joined": parts}


class PickedPolicy(Policy):
    """Policies of skills of other sets, in a world without a table.

    Args:
        members: Per skill, a set's policies and the skill's number there.
    """

    def __init__(self, members: Sequence[tuple[Policy, int]]) -> None:
        self._members = tuple(members)
        self.context_variables = tuple(policy.context_variables[z] for policy, z in members)

    @property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: how many modes each skill draws from when it starts."""
        return np.array([policy.n_modes[z] for policy, z in self._members], dtype=np.int64)

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Ask the skill's own set; see `Policy.actions`."""
        policy, z = self._members[skill]
        return policy.actions(z, starts, states, mode)


def _pick_policies(members: Sequence[tuple[Policy, int]], mdp: TabularMDP | None) -> Policy:
    """Return the policies of skills of one or more sets as those of one set."""
    if mdp is None:
        return PickedPolicy(members)
    known: dict[int, TabularPolicy] = {}
    tables: list[tuple[TabularPolicy, int]] = []
    for policy, z in members:
        if id(policy) not in known:
            known[id(policy)] = policy.tabulate(mdp)
        tables.append((known[id(policy)], z))
    variables = [table.context_variables[z] for table, z in tables]
    modes = [int(table.n_modes[z]) for table, z in tables]
    n_entries = mdp.n_states * sum(int(table.index.widths[z]) for table, z in tables)
    if n_entries <= MAX_UNPACKED and not any(isinstance(t, PackedPolicy) for t, _ in tables):
        flat = np.concatenate([table.columns(z).ravel() for table, z in tables])
        return TabularPolicy(mdp, variables, flat, modes)
    packer = Packer(mdp.n_actions)
    numbers = np.concatenate([_pack(packer, table, z).ravel() for table, z in tables])
    return PackedPolicy(mdp, variables, numbers, packer.blocks.copy(), modes)


def _pack(packer: Packer, table: TabularPolicy, z: int) -> np.ndarray:
    """Return the numbers that a skill's blocks have in another packer."""
    if not isinstance(table, PackedPolicy):
        return packer.pack(table.columns(z))
    used, places = np.unique(table.numbers_of(z), return_inverse=True)
    return packer.pack(table.blocks[used])[:, 0][places]
