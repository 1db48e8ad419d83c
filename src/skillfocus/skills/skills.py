"""Sets of skills: what they target, what they do, and where they come from.

`Skills` is a set with its world: it acts, runs, shows itself and is saved. A `Skill` is one of its
skills. Below are the ways from sets to sets (`skills[2:5]`, `a + b`), and the name of the objective
in `info`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any, overload

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.files import write_atomically
from skillfocus.mdp import ContextIndex, TabularMDP, tabulate
from skillfocus.objectives.kinds import goal_label
from skillfocus.rollout import (
    PolicyArrays,
    Rollouts,
    Trajectory,
    mdp_arrays,
    most_likely_path,
    run_many,
)
from skillfocus.skills import files
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.engine import HostEngine, JaxEngine, make_engine
from skillfocus.skills.intrinsic_reward import IntrinsicReward, join_rewards
from skillfocus.skills.policy import (
    CombinedPolicy,
    Policy,
    SkillPolicy,
    TabularPolicy,
    draw_keys,
    join_tables,
)
from skillfocus.spaces import State
from skillfocus.world import World, check_step_limit
from skillfocus.worlds.registry import fingerprint

Index = int | str | slice | Sequence[int] | Sequence[str] | Mapping[str, Any]
"""What a set is indexed with."""
MAX_TABULATED = 128_000_000
"""A policy that is no table is tabulated for exact metrics if it has at most so many entries."""
MAX_NOTEBOOK_ENTRIES = 60_000_000
"""Policies with more entries are not shown in a notebook unasked: their page takes too long."""


@dataclass(frozen=True, eq=False)
class Skills:
    """A set of skills in a world.

        skills = sf.discover(sf.make("FourRooms-v0"), sf.focused(sf.vic()), seed=0)
        trajectory = skills.rollout(0, skills.world.state(position=(6, 9)), rng)
        rollouts = skills.run(0, 100, rng)
        skills[["tool_1", "position"]], skills[2:5], skills + others  # sets again
        skills[{"box": (0.6, 0.8)}]  # of real-valued variables: by component or direction

    Attributes:
        world: The world they act in.
        policies: Which action each skill takes, or stop.
        targets: Per skill, the variables it targets; none for plain objectives.
        step_limit: Most steps a skill may take.
        info: Objective, learner, seed and versions, as JSON can hold them.
        intrinsic_reward: Learned intrinsic reward; None if not stored.
        goals: Per goal-conditioned skill, the value that each target is to take, its index by name;
            empty for a skill that may take any. Left out if all are.
    """

    world: World
    policies: Policy
    targets: tuple[tuple[str, ...], ...]
    step_limit: int
    info: dict[str, object] = field(default_factory=dict)
    intrinsic_reward: IntrinsicReward | None = None
    goals: tuple[Mapping[str, int], ...] = ()

    def __post_init__(self) -> None:
        if len(self.context_variables) != len(self.targets):
            raise UserError(
                f"{len(self.targets)} skills have targets, {len(self.context_variables)} have "
                f"contexts"
            )
        check_step_limit(self.step_limit)
        if not self.goals:
            object.__setattr__(self, "goals", ({},) * len(self.targets))
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
    def __getitem__(
        self, index: str | slice | Sequence[int] | Sequence[str] | Mapping[str, Any]
    ) -> Skills: ...
    def __getitem__(self, index: Index) -> Skill | Skills:
        """Return one skill by its number, or some as a set of their own.

        Args:
            index: A number; or a slice, a list of numbers, the name of a target ("key", or
                "key+door" for skills on both) or a list of names. Of real-valued variables also
                components by target, such as {"agent": 2, "box": (0.6, 0.8)}, and {} for the skill
                that leaves everything; or a list of such.
        """
        named = [index] if isinstance(index, Mapping) else index
        if isinstance(named, list) and named and all(isinstance(one, Mapping) for one in named):
            return name_skills(self, named)  # pyright: ignore[reportArgumentType]
        numbers = numbers_of(self, index)
        if isinstance(index, Integral):
            return Skill(self, numbers[0])
        return _gather([(self, z) for z in numbers], self.info)

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

    @cached_property
    def has_table(self) -> bool:
        """Whether policies are tables, or small enough to be tabulated for exact metrics."""
        if isinstance(self.policies, TabularPolicy):
            return True
        if self.policies.mdp is None and not self.world.has_table:
            return False
        variables = [self.mdp.space.indices(names) for names in self.context_variables]
        return ContextIndex(self.mdp, variables, self.n_modes.tolist()).n_entries <= MAX_TABULATED

    @cached_property
    def mdp(self) -> TabularMDP:
        """The world's tabular MDP.

        Raises:
            UserError: If the world has none.
        """
        if self.policies.mdp is not None:
            return self.policies.mdp
        if not self.world.has_table:
            raise UserError(
                f"{self.world.id} has no table of its states, and this needs one: rollouts, side "
                f"effects, environments and pages work without"
            )
        return tabulate(self.world)

    @cached_property
    def engine(self) -> JaxEngine | HostEngine:
        """What runs skills without a table."""
        return make_engine(self.world, self.policies, self.step_limit)

    @cached_property
    def fingerprint(self) -> str:
        """What identifies the world: a digest of its table, or of what it says of itself."""
        return self.mdp.fingerprint if self.has_table else fingerprint(self.world)

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
        return self.tabular.index.contexts

    @property
    def arrays(self) -> PolicyArrays:
        """What kernels need of the policies."""
        return self.tabular.arrays

    def policy_of(self, skill: int, mode: int = 0) -> np.ndarray:
        """Return a skill's table, uint8 [n_states, n_contexts]; n_actions means "terminate"."""
        self._check(skill, mode)
        return self.tabular.table(skill, mode)

    def action(self, skill: int, first: State, now: State, mode: int = 0) -> str | None:
        """Return the name of what a skill that started in `first` does in `now`; None if it
        terminates."""
        self._check(skill, mode)
        first, now = (self.world.space.as_state(state) for state in (first, now))
        if self.has_table:
            for state in (first, now):
                self.mdp.number(state)
        starts, states = np.array([first]), np.array([now])
        choice = int(self.policies.actions(skill, starts, states, mode)[0])
        return None if choice == len(self.world.actions) else self.world.actions[choice]

    def policy(self, skill: int, rng: np.random.Generator | None = None) -> SkillPolicy:
        """Return one skill as a function from a state to an action, for a loop of your own.

        Args:
            skill: The skill's number.
            rng: Needed if the skill has several modes: it draws one when it starts.
        """
        self._check(skill)
        return SkillPolicy(self.policies, skill, self.world, self.step_limit, rng)

    def phi(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return the representation that an actor's skills were learned with; see
        `ActorPolicy.phi`."""
        if not isinstance(self.policies, ActorPolicy):
            raise UserError("only skills of real-valued actions keep a representation")
        return self.policies.phi(values)

    def _check(self, skill: int, mode: int = 0) -> None:
        if isinstance(skill, str) or not 0 <= skill < len(self):
            named = [str(z) for z, names in enumerate(self.targets) if skill in names]
            advice = f" (for {skill}: {', '.join(named)})" if named else ""
            raise UserError(
                f"there is no skill {skill!r}: skills are numbered 0 to {len(self) - 1}{advice}"
            )
        if not 0 <= mode < self.n_modes[skill]:
            raise UserError(f"skill {skill} has {self.n_modes[skill]} modes, so no mode {mode!r}")

    # ------------------------------------------------------------------ rollouts

    def run(
        self, skills: int | Sequence[int] | np.ndarray, starts: Any, rng: np.random.Generator
    ) -> Rollouts:
        """Run skills, many at once.

        Args:
            skills: One skill's number for all rollouts, or one per rollout.
            starts: The number of rollouts, from states that the world starts in; values [n, width];
                state numbers, int [n], in a world with a table; or the `states` of earlier
                rollouts, to go on.
            rng: Draws starts, outcomes and modes.
        """
        if isinstance(starts, int | np.integer):
            n = int(starts)
            starts = self.draw_starts(n, rng) if self.has_table else self.engine.reset(n, rng)
        elif isinstance(starts, list | np.ndarray):
            starts = np.asarray(starts)
            n = len(starts)
        else:
            n = len(self.engine.values(starts))
        numbers = np.asarray(skills, np.int64)
        if numbers.ndim == 0:
            numbers = np.full(n, numbers)
        if len(numbers) != n:
            raise UserError(f"{len(numbers)} skills cannot run from {n} starts: give one each")
        if n and not 0 <= numbers.min() <= numbers.max() < len(self):
            raise UserError(f"skills are numbered 0 to {len(self) - 1}")
        if self.has_table:
            return self._run_in_table(numbers, starts, rng)
        if isinstance(starts, np.ndarray):
            self.world.space.check_states(starts)
            starts = self.engine.place(starts, draw_keys(n, rng))
        return self.engine.run(numbers, starts, rng)

    def _run_in_table(self, skills: np.ndarray, starts: Any, rng: np.random.Generator) -> Rollouts:
        mdp = self.mdp
        if starts.ndim == 2:
            starts = np.array([mdp.number(start) for start in starts], np.int64)
        if len(starts) and not 0 <= starts.min() <= starts.max() < mdp.n_states:
            raise UserError(f"states are numbered 0 to {mdp.n_states - 1}")
        actions = np.full((len(skills), self.step_limit), mdp.n_actions, np.int32)
        paths, steps = run_many(
            mdp_arrays(mdp), self.arrays, skills, starts.astype(np.int64), self.step_limit,
            mdp.n_marks, rng, actions,
        )  # fmt: skip
        longest = int(steps.max(initial=0))
        paths = paths[:, : longest + 1]
        return Rollouts(
            mdp.values[paths], actions[:, :longest], steps, skills, np.zeros_like(skills), paths,
            states=paths[:, -1].astype(np.int64),
        )  # fmt: skip

    def draw_starts(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw states that the world may start in, [n, width]."""
        if not self.has_table:
            return self.engine.values(self.engine.reset(n, rng))
        starts = np.array([tuple(state) for state in self.world.states()], np.int32)
        return starts[rng.integers(len(starts), size=n)]

    def rollout(self, skill: int, start: Any, rng: np.random.Generator) -> Trajectory:
        """Run a skill from a state until it terminates or reaches its step limit.

        Args:
            skill: The skill's number.
            start: The state it starts in, as value indices, or float32 [width].
            rng: Draws the outcomes, and the skill's mode if it has several.

        Returns:
            The states it visited, the start included.
        """
        self._check(skill)
        space = self.world.space
        first = np.array([space.as_state(start) if space.is_finite else start])
        done = self.run(skill, first, rng)
        values = done.values[0, : done.steps[0] + 1]
        states: Iterable[Any] = map(tuple, values.tolist()) if space.is_finite else values
        return Trajectory(states, self.world, skill, self.targets[skill])

    def likely_path(self, skill: int, start: State, mode: int = 0) -> Trajectory:
        """Return the states of a skill if every action has its likeliest outcome.

        It may mislead where an action works with probability below 1/2: the likeliest outcome may
        be that it fails, every time. `rollout` draws outcomes, and `metrics.side_effects` follows
        all of them.
        """
        self._check(skill, mode)
        first = self.mdp.number(start)
        path = most_likely_path(self.mdp, self.arrays, skill, first, mode, self.step_limit)
        states = (self.mdp.state(s) for s in path)
        return Trajectory(states, self.world, skill, self.targets[skill])

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
        made_again = ("_frame", "engine")
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
        return files.from_bytes(content, "these bytes", world)

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
        return files.load(Path(path), world, mdp)


SkillSource = Skills | str | Path
"""A set of skills, or the path of a file of them."""


def list_sources(sources: SkillSource | Iterable[SkillSource]) -> list[Skills | Path]:
    """Return one or several sources as a list, without loading any file.

    Raises:
        UserError: If there are none, or a path has no file name.
    """
    several = [sources] if isinstance(sources, SkillSource) else list(sources)
    if not several:
        raise UserError("name at least one file of skills")
    listed = [one if isinstance(one, Skills) else Path(one) for one in several]
    for path in listed:
        if isinstance(path, Path) and not path.name:
            raise UserError(
                f"{path} is a folder: name files of skills, such as {path / '*.skills'}"
            )
    return listed


def load_source(source: Skills | Path, world: World | None = None) -> Skills:
    """Return skills as they are, or load them from their file, whose world may be given."""
    return source if isinstance(source, Skills) else Skills.load(source, world)


def source_file(source: Skills | Path) -> str | None:
    """Return the file of a source as text; None for skills in memory."""
    return None if isinstance(source, Skills) else str(source)


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

    @property
    def goal(self) -> str | None:
        """What it is to reach as text, such as `passenger=in taxi`; None if any value will do."""
        goal = self.skills.goals[self.number]
        return goal_label(self.skills.world.space, goal) if goal else None

    def rollout(self, start: Any, rng: np.random.Generator) -> Trajectory:
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


def name_skills(skills: Skills, named: Sequence[Mapping[str, Any]]) -> Skills:
    """Return skills of real-valued variables, given by their components, as a set of their own.

    Raises:
        UserError: If there are no such skills.
    """
    policy, space = skills.policies, skills.world.space
    if not isinstance(policy, ActorPolicy):
        raise UserError("skills of finite variables are picked by number or by names of targets")
    components = [{space.index(name): c for name, c in each.items()} for each in named]
    try:
        named_policy = policy.named(components)
    except UserError as error:
        kinds = [
            " + ".join(space.names[policy.model.code.slots[k].variable] for k in kind) or "nothing"
            for kind in policy.model.code.kinds[:6]
        ]
        raise UserError(f"{error}; there are skills for {', '.join(kinds)}") from None
    return replace(
        skills, policies=named_policy, targets=tuple(tuple(each) for each in named), goals=(),
    )  # fmt: skip


def join(one: Skills, other: Skills) -> Skills:
    """Return the skills of two sets as one, the first set's first.

    Learned rewards are kept if both sets have them. What `info` says of both sets alike is kept,
    and under `joined` all that it says of each.

    Raises:
        UserError: If the sets are of different worlds, or have different step limits.
    """
    if one.world.id != other.world.id or one.fingerprint != other.fingerprint:
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
    return _gather(members, _joined_info(one.info, other.info))


def _gather(members: Sequence[tuple[Skills, int]], info: dict[str, object]) -> Skills:
    """Return skills of one or more sets of a world as one set."""
    one, numbers = members[0][0], [z for _, z in members]
    if all(each is one for each, _ in members) and not one.has_table:
        policies = one.policies.pick(numbers)
    elif one.has_table:
        policies = join_tables([(each.tabular, z) for each, z in members])
    else:
        policies = CombinedPolicy([(each.policies, z) for each, z in members])
    return replace(
        one,
        policies=policies,
        targets=tuple(each.targets[z] for each, z in members),
        goals=tuple(each.goals[z] for each, z in members),
        info=info,
        intrinsic_reward=join_rewards([(each.intrinsic_reward, z) for each, z in members]),
    )


def _joined_info(one: dict[str, object], other: dict[str, object]) -> dict[str, object]:
    if one == other:
        return one
    parts: list[object] = []
    for info in (one, other):
        joined = info.get("joined")
        parts += joined if isinstance(joined, list) else [info]
    alike = {k: one[k] for k in one if k != "joined" and other.get(k, parts) == one[k]}
    return {**alike, "joined": parts}


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
