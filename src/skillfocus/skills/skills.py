"""A set of skills: their targets, their policies, and where they came from."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from skillfocus._internal.atomic_io import write_atomically
from skillfocus._internal.deprecated import renamed_attribute
from skillfocus.core import display
from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import PolicyArrays, mdp_arrays, most_likely_path, run_many
from skillfocus.core.tabulation import tabulate
from skillfocus.core.trajectory import Trajectory
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.skills.intrinsic_reward import IntrinsicReward, from_file
from skillfocus.skills.policy import Policy, SkillPolicy, TabularPolicy, check_step_limit
from skillfocus.skills.serialization import (
    FIRST_COMPRESSED,
    FORMAT,
    POLICY,
    VERSION,
    compress,
    decompress,
    pack,
    read,
    usable,
)
from skillfocus.worlds.registry import can_remake, make

MAX_NOTEBOOK_ENTRIES = 60_000_000
"""Policies with more entries are not shown in a notebook unasked: their page takes too long."""


@dataclass(frozen=True, eq=False)
class Skills:
    """A set of skills in a world.

        skills = sf.discover(sf.make("FourRooms-v0"), sf.focused(sf.vic()), seed=0)
        trajectory = skills.rollout(0, skills.world.state(position=(6, 9)), rng)

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

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Skills)
            and self._header() == other._header()
            and np.array_equal(self.tabular.flat_actions, other.tabular.flat_actions)
            and self.intrinsic_reward == other.intrinsic_reward
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        objective = self.info.get("objective", {})
        name = objective.get("name", "?") if isinstance(objective, dict) else "?"
        return f"<{len(self)} {name} skills in {self.world.id}, seed {self.info.get('seed')}>"

    # ------------------------------------------------------------------ policies

    @cached_property
    def mdp(self) -> TabularMDP:
        """The world's tabular MDP."""
        return tabulate(self.world) if self.policies.mdp is None else self.policies.mdp

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
        return self.tabular.table(skill, mode)

    def action(self, skill: int, first: State, now: State, mode: int = 0) -> str | None:
        """Return the name of what a skill that started in `first` does in `now`; None if it
        terminates."""
        starts, states = np.array([first]), np.array([now])
        for state in (first, now):
            self.mdp.number(state)
        choice = int(self.policies.actions(skill, starts, states, mode)[0])
        return None if choice == len(self.world.actions) else self.world.actions[choice]

    def policy(self, skill: int, rng: np.random.Generator | None = None) -> SkillPolicy:
        """Return one skill as a function from a state to an action, for a loop of your own.

        Args:
            skill: The skill's number.
            rng: Needed if the skill has several modes: it draws one when it starts.
        """
        if not 0 <= skill < len(self):
            raise UserError(f"there is no skill {skill}: skills are numbered 0 to {len(self) - 1}")
        return SkillPolicy(self.policies, skill, len(self.world.actions), self.step_limit, rng)

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
        paths, steps = self.run(np.array([skill]), np.array([self.mdp.number(start)]), rng)
        states = (self.mdp.state(s) for s in paths[0, : steps[0] + 1])
        return Trajectory(states, self.world, skill, self.targets[skill])

    def likely_path(self, skill: int, start: State, mode: int = 0) -> Trajectory:
        """Return the states of a skill if every action has its likeliest outcome."""
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
            starts: int [n_runs], state numbers.
            rng: Draws outcomes and modes.

        Returns:
            Paths, int32 [n_runs, step_limit + 1], the last state repeated; and how many steps
            each run took, int32 [n_runs].
        """
        if len(skills) and not 0 <= min(skills) <= max(skills) < len(self):
            raise UserError(f"skills are numbered 0 to {len(self) - 1}")
        if len(starts) and not 0 <= min(starts) <= max(starts) < self.mdp.n_states:
            raise UserError(f"states are numbered 0 to {self.mdp.n_states - 1}")
        return run_many(
            mdp_arrays(self.mdp), self.arrays, np.asarray(skills, np.int64),
            np.asarray(starts, np.int64), self.step_limit, self.mdp.n_marks, rng,
        )  # fmt: skip

    # ------------------------------------------------------------------ pictures

    def view(self, path: str | Path, *beside: Skills) -> Path:
        """Write a page to watch these skills on, with others beside them.

        Args:
            path: The HTML file; it needs nothing but a browser.
            beside: Other sets of skills to compare with.
        """
        return display.hook("page")([self, *beside], path)

    def _repr_html_(self) -> str | None:
        entries = len(self.tabular.flat_actions)
        return None if entries > MAX_NOTEBOOK_ENTRIES else self._frame

    @cached_property
    def _frame(self) -> str:
        """The page, for notebook cells. It takes seconds, so it is made once."""
        return display.html("skills", [self])

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_frame"}

    # ------------------------------------------------------------------ files

    def _header(self) -> dict[str, object]:
        modes = [] if self.n_modes.max(initial=1) == 1 else self.n_modes.tolist()
        reward = self.intrinsic_reward
        return {
            "format": FORMAT,
            "version": VERSION,
            "world": {"id": self.world.id, "settings": self.world.settings},
            "fingerprint": self.mdp.fingerprint,
            "targets": [list(names) for names in self.targets],
            "remembered": [list(names) for names in self.context_variables],
            "step_limit": self.step_limit,
            "info": self.info,
            **({"modes": modes} if modes else {}),
            **({} if reward is None else {"learned": reward.header()}),
        }

    def to_bytes(self) -> bytes:
        """Return the contents of a skills file (docs/skills-files.md)."""
        rewards = {} if self.intrinsic_reward is None else self.intrinsic_reward.arrays()
        return pack(self._header(), {POLICY: compress(self.tabular.flat_actions), **rewards})

    def save(self, path: str | Path) -> Path:
        """Write a skills file atomically."""
        path = Path(path)
        write_atomically(path, self.to_bytes())
        return path

    @staticmethod
    def from_bytes(content: bytes, world: World | None = None) -> Skills:
        """Restore skills from `to_bytes`, for example out of a database; see `load`."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "content.skills"
            path.write_bytes(content)
            return Skills.load(path, world)

    @staticmethod
    def load(
        path: str | Path, world: World | None = None, *, mdp: TabularMDP | None = None
    ) -> Skills:
        """Read a skills file. Nothing in it is executed.

        Args:
            path: The file.
            world: Needed where the file cannot say how to make it: for an object or a class of
                your own.
            mdp: The world's tabular MDP, if you have it already.
        """
        arrays, header = read(Path(path))
        actions = arrays.pop(POLICY)
        if header["version"] >= FIRST_COMPRESSED:
            actions = decompress(actions, Path(path))
        with usable(Path(path)):
            if world is None and not can_remake(header["world"]["id"]):
                raise UserError(
                    f"{path} holds skills for {header['world']['id']!r}, which is your own: pass "
                    f"the world, as in Skills.load(path, world=…) or --world my_world.py:NAME"
                )
            made = world or make(header["world"]["id"], **header["world"]["settings"])
            mdp = mdp or tabulate(made)
            if mdp.fingerprint != header["fingerprint"]:
                raise UserError(
                    f"{path} holds skills for another world than this {made.id}: they were "
                    f"learned in {header['world']['id']} with {header['world']['settings']}"
                )
            for names in (*header["targets"], *header["remembered"]):
                for name in names:
                    mdp.space.index(name)
            modes = [int(count) for count in header.get("modes", ())]
            policies = TabularPolicy(mdp, header["remembered"], actions, modes)
            return Skills(
                made,
                policies,
                tuple(tuple(names) for names in header["targets"]),
                int(header["step_limit"]),
                header["info"],
                from_file(mdp, header["learned"], arrays) if "learned" in header else None,
            )

    # ------------------------------------------------------------------ names up to 0.5

    table = renamed_attribute("table", "mdp")
    remembered = renamed_attribute("remembered", "context_variables")
    learned = renamed_attribute("learned", "intrinsic_reward")
    modes = renamed_attribute("modes", "n_modes")
