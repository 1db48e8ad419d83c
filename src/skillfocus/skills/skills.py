"""Sets of skills: what they target, what they do, and where they come from.

`Skills` is a set with its world: it acts, runs, shows itself and is saved. A `Skill` is one of its
skills. Below are the ways from sets to sets (`skills[2:5]`, `a + b`), and what `info` says: the
objective's name, and the values that skills are told to reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.files import write_atomically
from skillfocus.mdp import TabularMDP
from skillfocus.objectives.kinds import read_value_label
from skillfocus.rollout import PolicyArrays, Trajectory, mdp_arrays, most_likely_path, run_many
from skillfocus.skills import files
from skillfocus.skills.intrinsic_reward import IntrinsicReward, join_rewards
from skillfocus.skills.policy import (
    MAX_UNPACKED,
    PackedPolicy,
    Policy,
    SkillPolicy,
    TabularPolicy,
    draw_keys,
    pack_tables,
)
from skillfocus.spaces import State
from skillfocus.world import World, check_step_limit
from skillfocus.worlds.jax.world import JaxWorld
from skillfocus.worlds.registry import has_table, table_of

if TYPE_CHECKING:
    from skillfocus.skills.continuous import ContinuousSkills
    from skillfocus.skills.jax_rollouts import JaxRunner, Rollouts


Index = int | str | slice | Sequence[int] | Sequence[str]
"""What a set is indexed with."""


MAX_NOTEBOOK_ENTRIES = 60_000_000
"""Policies with more entries are not shown in a notebook unasked: their page takes too long."""


@dataclass(frozen=True, eq=False)
class Skills:
    """A set of skills in a world.

        skills = sf.discover(sf.make("FourRooms-v0"), sf.focused(sf.vic()), seed=0)
        trajectory = skills.rollout(0, skills.world.state(position=(6, 9)), rng)
        skills[["tool_1", "position"]], skills[2:5], skills + others  # sets again

    Attributes:
        world: The world they act in.
        policies: Which action each skill takes, or stop.
        targets: Per skill, the variables it targets; none for plain objectives.
        step_limit: Most steps a skill may take.
        info: Objective, learner, seed and versions, as JSON can hold them.
        intrinsic_reward: Learned intrinsic reward; None if not stored.
    """

    world: World
    policies: Policy
    targets: tuple[tuple[str, ...], ...]
    step_limit: int
    info: dict[str, object] = field(default_factory=dict)
    intrinsic_reward: IntrinsicReward | None = None

    def __post_init__(self) -> None:
        if len(self.context_variables) != len(self.targets):
            raise UserError(
                f"{len(self.targets)} skills have targets, {len(self.context_variables)} have "
                f"contexts"
            )
        check_step_limit(self.step_limit)
        if self.intrinsic_reward is not None:
            if self.intrinsic_reward.mdp.fingerprint != self.mdp.fingerprint:
                raise UserError(f"the rewards were learned in another world than {self.world.id}")
            rewarded = [len(modes) for modes in self.intrinsic_reward.terms]
            if rewarded != self.n_modes.tolist():
                raise UserError(
                    f"the skills have {self.n_modes.tolist()} modes, their rewards {rewarded}"
                )

    def __len__(self) -> int:
        return len(self.targets)

    @overload
    def __getitem__(self, index: int) -> Skill: ...
    @overload
    def __getitem__(self, index: str | slice | Sequence[int] | Sequence[str]) -> Skills: ...
    def __getitem__(self, index: Index) -> Skill | Skills:
        """Return one skill by its number, or some as a set of their own.

        Args:
            index: A number; or a slice, a list of numbers, the name of a target ("key", or
                "key+door" for skills on both) or a list of names.
        """
        numbers = numbers_of(self, index)
        return Skill(self, numbers[0]) if isinstance(index, Integral) else pick(self, numbers)

    def __iter__(self) -> Iterator[Skill]:
        return (Skill(self, number) for number in range(len(self)))

    def __add__(self, other: Skills) -> Skills:
        """Return the skills of both sets as one set; see `join`."""
        return join(self, other) if isinstance(other, Skills) else NotImplemented

    def __radd__(self, other: object) -> Skills:
        """Return this set for `0 + skills`, with which `sum(sets)` begins."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skills) and files.same_skills(self, other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        name = objective_label(self.info)
        return f"<{len(self)} {name} skills in {self.world.id}, seed {self.info.get('seed')}>"

    # ------------------------------------------------------------------ policies

    @property
    def has_table(self) -> bool:
        """Whether the world's states are numbered; worlds in JAX may have too many."""
        return self.policies.mdp is not None or has_table(self.world)

    @cached_property
    def mdp(self) -> TabularMDP:
        """The world's tabular MDP.

        Raises:
            UserError: If the world has none.
        """
        if not self.has_table:
            raise UserError(
                f"{self.world.id} has no table of its states, and this needs one: rollouts, side "
                f"effects, environments and pages work without"
            )
        return table_of(self.world) if self.policies.mdp is None else self.policies.mdp

    @cached_property
    def jax_runner(self) -> JaxRunner:
        """The compiled functions of a world without a table."""
        from skillfocus.skills.jax_rollouts import JaxRunner

        assert isinstance(self.world, JaxWorld)
        return JaxRunner(self.world)

    def _check_state(self, state: Sequence[int]) -> None:
        """Raise a `UserError` if the world cannot be in a state given as value indices."""
        if self.has_table:
            self.mdp.number(state)
        else:
            self.world.space.check_state(state)

    @cached_property
    def tabular(self) -> TabularPolicy:
        """The policies as a table over all states and contexts."""
        return self.policies.tabulate(self.mdp)

    @property
    def context_variables(self) -> tuple[tuple[str, ...], ...]:
        """Per skill, the variables whose start value its policy sees."""
        return self.policies.context_variables

    @property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: how many modes each skill draws from when it starts."""
        return self.policies.n_modes

    @property
    def contexts(self) -> np.ndarray:
        """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
        return self.tabular.contexts

    @property
    def arrays(self) -> PolicyArrays:
        """What kernels need of the policies."""
        return self.tabular.arrays

    def policy_of(self, skill: int, mode: int = 0) -> np.ndarray:
        """Return a skill's table, uint8 [n_states, n_contexts]; n_actions means "terminate"."""
        self._check_skill(skill)
        self._check_mode(skill, mode)
        return self.tabular.table(skill, mode)

    def action(self, skill: int, first: State, now: State, mode: int = 0) -> str | None:
        """Return the name of what a skill that started in `first` does in `now`; None if it
        terminates."""
        self._check_skill(skill)
        self._check_mode(skill, mode)
        first, now = (self.world.space.as_state(state) for state in (first, now))
        for state in (first, now):
            self._check_state(state)
        starts, states = np.array([first]), np.array([now])
        choice = int(self.policies.actions(skill, starts, states, mode)[0])
        return None if choice == len(self.world.actions) else self.world.actions[choice]

    def policy(self, skill: int, rng: np.random.Generator | None = None) -> SkillPolicy:
        """Return one skill as a function from a state to an action, for a loop of your own.

        Args:
            skill: The skill's number.
            rng: Needed if the skill has several modes: it draws one when it starts.
        """
        self._check_skill(skill)
        return SkillPolicy(
            self.policies, skill, len(self.world.actions), self.step_limit, rng, self.world.space
        )

    def _check_skill(self, skill: int) -> None:
        if isinstance(skill, str) or not 0 <= skill < len(self):
            named = [str(z) for z, names in enumerate(self.targets) if skill in names]
            advice = f" (for {skill}: {', '.join(named)})" if named else ""
            raise UserError(
                f"there is no skill {skill!r}: skills are numbered 0 to {len(self) - 1}{advice}"
            )

    def _check_mode(self, skill: int, mode: int) -> None:
        if not 0 <= mode < self.n_modes[skill]:
            raise UserError(f"skill {skill} has {self.n_modes[skill]} modes, so no mode {mode!r}")

    # ------------------------------------------------------------------ rollouts

    def rollout(self, skill: int, start: State, rng: np.random.Generator) -> Trajectory:
        """Run a skill from a state until it terminates or reaches its step limit.

        Args:
            skill: The skill's number.
            start: The state it starts in, as value indices.
            rng: Draws the outcomes, and the skill's mode if it has several.

        Returns:
            The states it visited, the start included.
        """
        self._check_skill(skill)
        first = self.world.space.as_state(start)
        paths, steps = self.run(np.array([skill]), np.array([first]), rng)
        states = map(tuple, paths[0, : steps[0] + 1].tolist())
        return Trajectory(states, self.world, skill, self.targets[skill])

    def likely_path(self, skill: int, start: State, mode: int = 0) -> Trajectory:
        """Return the states of a skill if every action has its likeliest outcome.

        It may mislead where an action works with probability below 1/2: the likeliest outcome may
        be that it fails, every time. `rollout` draws outcomes, and `metrics.side_effects` follows
        all of them.
        """
        self._check_skill(skill)
        self._check_mode(skill, mode)
        first = self.mdp.number(start)
        path = most_likely_path(self.mdp, self.arrays, skill, first, mode, self.step_limit)
        states = (self.mdp.state(s) for s in path)
        return Trajectory(states, self.world, skill, self.targets[skill])

    def run(
        self, skills: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run many skills.

        Args:
            skills: int [n_runs], skill numbers.
            starts: int [n_runs], state numbers, or value indices [n_runs, n_variables].
            rng: Draws outcomes and modes.

        Returns:
            Paths, int32 [n_runs, step_limit + 1], the last state repeated, or value indices
            [n_runs, length of the longest + 1, n_variables] if the starts are; and how many steps
            each run took, int32 [n_runs].
        """
        skills, starts = np.asarray(skills), np.asarray(starts)
        if len(skills) != len(starts):
            raise UserError(
                f"{len(skills)} skills cannot run from {len(starts)} starts: give one each"
            )
        if len(skills) and not 0 <= min(skills) <= max(skills) < len(self):
            raise UserError(f"skills are numbered 0 to {len(self) - 1}")
        if starts.ndim == 2:
            return self._run_from_values(np.asarray(skills, np.int64), starts, rng)
        if len(starts) and not 0 <= min(starts) <= max(starts) < self.mdp.n_states:
            raise UserError(f"states are numbered 0 to {self.mdp.n_states - 1}")
        return run_many(
            mdp_arrays(self.mdp), self.arrays, np.asarray(skills, np.int64),
            np.asarray(starts, np.int64), self.step_limit, self.mdp.n_marks, rng,
        )  # fmt: skip

    def _run_from_values(
        self, skills: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.has_table:
            numbers = np.array([self.mdp.number(start) for start in starts], np.int64)
            paths, steps = self.run(skills, numbers, rng)
            return self.mdp.values[paths[:, : steps.max(initial=0) + 1]], steps
        done = self.rollouts(skills, starts, rng)
        return done.paths, done.steps

    def rollouts(
        self, skills: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> Rollouts:
        """Run many skills in a world without a table; arguments as for `run`."""
        self.world.space.check_states(starts)
        return self.jax_runner.run(self.policies, skills, starts, self.step_limit, rng)

    def draw_starts(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw states in which a world without a table may start, int32 [n, n_variables]."""
        return self.jax_runner.reset(draw_keys(n, rng))

    # ------------------------------------------------------------------ pictures

    def view(self, path: str | Path, *beside: Skills) -> Path:
        """Write a page to watch these skills on, with others beside them.

        Args:
            path: The HTML file; it needs nothing but a browser.
            beside: Other sets of skills to compare with.
        """
        return import_module("skillfocus.viewer.page").write_page([self, *beside], Path(path))

    def _repr_html_(self) -> str | None:
        if not self.has_table:
            return None
        return None if self.tabular.index.n_entries > MAX_NOTEBOOK_ENTRIES else self._frame

    @cached_property
    def _frame(self) -> str:
        """The page, for notebook cells. It takes seconds, so it is made once."""
        return import_module("skillfocus.viewer.page").frame_html([self])

    def __getstate__(self) -> dict[str, object]:
        made_again = ("_frame", "jax_runner")
        return {name: value for name, value in self.__dict__.items() if name not in made_again}

    # ------------------------------------------------------------------ files

    def to_bytes(self) -> bytes:
        """Return the contents of a skills file (docs/skills-files.md)."""
        return files.to_bytes(self)

    def save(self, path: str | Path) -> Path:
        """Write a skills file atomically."""
        write_atomically(Path(path), self.to_bytes())
        return Path(path)

    @staticmethod
    def from_bytes(content: bytes, world: World | str | None = None) -> Skills:
        """Restore skills from `to_bytes`, for example out of a database; see `load`."""
        return _of_a_finite_world(files.from_bytes(content, "these bytes", world), "these bytes")

    @staticmethod
    def load(
        path: str | Path, world: World | str | None = None, *, mdp: TabularMDP | None = None
    ) -> Skills:
        """Read a skills file. Nothing in it is executed.

        Args:
            path: The file.
            world: Needed where the file cannot say how to make it: for an object or a class of
                your own, and for worlds that take longer to make than a file may ask for. It may
                be given by name, as `make` takes it.
            mdp: The world's tabular MDP, if you have it already.
        """
        return _of_a_finite_world(files.load(Path(path), world, mdp), str(path))


def _of_a_finite_world(skills: Skills | ContinuousSkills, name: str) -> Skills:
    if not isinstance(skills, Skills):
        raise UserError(f"{name} holds skills of a continuous world: use ContinuousSkills.load")
    return skills


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


# -------------------- Sets cut and joined: `skills[2:5]`, `skills[["key", "door"]]`, `a + b`


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
    reaches = reaches_of(skills)
    info = skills.info
    if reaches is not None:
        info = {**info, "reaches": [reaches[z] for z in numbers]}
    return _gather([(skills, z) for z in numbers], info)


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
    return _gather(members, _joined_info(one, other))


def _gather(members: Sequence[tuple[Skills, int]], info: dict[str, object]) -> Skills:
    """Return skills of one or more sets of a world as one set."""
    one = members[0][0]
    return replace(
        one,
        policies=_gather_policies(
            [(each.policies, z) for each, z in members], one.mdp if one.has_table else None
        ),
        targets=tuple(each.targets[z] for each, z in members),
        info=info,
        intrinsic_reward=join_rewards([(each.intrinsic_reward, z) for each, z in members]),
    )


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


def _gather_policies(members: Sequence[tuple[Policy, int]], mdp: TabularMDP | None) -> Policy:
    """Return the policies of skills of one or more sets as those of one set."""
    if mdp is None:
        return PickedPolicy(members)
    known = {id(policy): policy for policy, _ in members}
    tabular = {key: policy.tabulate(mdp) for key, policy in known.items()}
    tables = [(tabular[id(policy)], z) for policy, z in members]
    variables = [table.context_variables[z] for table, z in tables]
    modes = [int(table.n_modes[z]) for table, z in tables]
    columns = (table.columns(z) for table, z in tables)
    n_entries = mdp.n_states * sum(int(table.index.widths[z]) for table, z in tables)
    if n_entries > MAX_UNPACKED or any(isinstance(table, PackedPolicy) for table, _ in tables):
        return pack_tables(mdp, variables, columns, modes)
    return TabularPolicy(mdp, variables, np.concatenate([c.ravel() for c in columns]), modes)


# -------------------- What `info` says: the objective, and the values that `reach` skills reach


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


def reaches_of(skills: Skills) -> list[object] | None:
    """Return what each skill is told to reach; None if `info` does not say it of every skill."""
    reaches = skills.info.get("reaches")
    return reaches if isinstance(reaches, list) and len(reaches) == len(skills) else None


def told_values(skills: Skills, z: int) -> dict[int, int] | None:
    """Return the values that a skill is told to reach, by target; None if any other will do."""
    reaches = reaches_of(skills)
    if reaches is None:
        return None
    return read_value_label(skills.world.space, skills.targets[z], reaches[z])
