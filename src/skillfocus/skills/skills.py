"""A set of skills: what they do, what they target, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.core import display
from skillfocus.core.factored import State
from skillfocus.core.indexing import ValueIndex, index_values
from skillfocus.core.mdp import TabularMDP, tabulate
from skillfocus.core.rollout import PolicyArrays, mdp_arrays, run_many
from skillfocus.core.trajectory import Trajectory
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.learners.tabular.problem import check_step_limit
from skillfocus.skills.intrinsic_reward import IntrinsicReward, from_file
from skillfocus.skills.policy import SkillPolicy
from skillfocus.skills.serialization import FORMAT, POLICY, pack, read, usable
from skillfocus.worlds.registry import can_remake, make

MOST_SHOWN = 60_000_000
"""Cells of policies that a notebook shows unasked; of larger sets it shows one line."""


@dataclass(frozen=True, eq=False)
class Skills:
    world: World
    mdp: TabularMDP
    targets: tuple[tuple[str, ...], ...]
    """Per skill, the variables it targets; none for plain objectives."""
    remembered: tuple[tuple[str, ...], ...]
    """Per skill, the variables whose first value its policy sees."""
    policies: np.ndarray
    """All policies as bytes, skill after skill, each [state, context]; see `simulation`."""
    step_limit: int
    info: dict[str, object] = field(default_factory=dict)
    """Objective, learner, seed and versions, as JSON can hold them."""
    modes: tuple[int, ...] = ()
    """Per skill, how many ways it has of doing the same; it draws one when it begins. None given:
    one each."""
    learned: IntrinsicReward | None = None
    """What they were rewarded for, where it was kept."""

    def __post_init__(self) -> None:
        if len(self.remembered) != len(self.targets):
            raise UserError(
                f"{len(self.targets)} skills have targets, {len(self.remembered)} have contexts"
            )
        check_step_limit(self.step_limit)
        if self.modes and (len(self.modes) != len(self.targets) or min(self.modes) < 1):
            raise UserError(f"{len(self.targets)} skills cannot have the modes {self.modes}")
        if len(self.policies) != self.offsets[-1]:
            raise UserError(
                f"the policies have {len(self.policies):,} entries where {len(self.targets)} "
                f"skills of {self.world.id} need {self.offsets[-1]:,}"
            )
        if len(self.policies) and self.policies.max() > self.mdp.n_actions:
            raise UserError(f"the policies name actions that {self.world.id} does not have")
        if self.learned is not None:
            if self.learned.mdp.fingerprint != self.mdp.fingerprint:
                raise UserError(f"the rewards were learned in another world than {self.world.id}")
            rewarded = [len(modes) for modes in self.learned.terms]
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
            and np.array_equal(self.policies, other.policies)
            and self.learned == other.learned
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        objective = self.info.get("objective", {})
        name = objective.get("name", "?") if isinstance(objective, dict) else "?"
        return f"<{len(self)} {name} skills in {self.world.id}, seed {self.info.get('seed')}>"

    def view(self, path: str | Path, *beside: Skills) -> Path:
        """Write a page on which these skills can be watched, and others beside them; it needs
        nothing but a browser."""
        return display.hook("page")([self, *beside], path)

    def _repr_html_(self) -> str | None:
        return None if len(self.policies) > MOST_SHOWN else self._frame

    @cached_property
    def _frame(self) -> str:
        """The page, for cells of a notebook: made once, for it takes seconds."""
        return display.html("skills", [self])

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_frame"}

    @cached_property
    def _numberings(self) -> tuple[ValueIndex, ...]:
        known = {
            names: index_values(self.mdp, sorted(self.mdp.space.index(n) for n in names))
            for names in set(self.remembered)
        }
        return tuple(known[names] for names in self.remembered)

    @cached_property
    def n_modes(self) -> np.ndarray:
        return np.array(self.modes or [1] * len(self), dtype=np.int64)

    @cached_property
    def widths(self) -> np.ndarray:
        """Per skill, the columns of its policy: contexts times modes."""
        sizes = [numbering.size for numbering in self._numberings]
        return np.array(sizes, dtype=np.int64) * self.n_modes

    @cached_property
    def offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.widths * self.mdp.n_states)]).astype(np.int64)

    @cached_property
    def contexts(self) -> np.ndarray:
        """[skill, first state]: the context."""
        return np.stack([numbering.of_state for numbering in self._numberings])

    @property
    def arrays(self) -> PolicyArrays:
        """What the kernels need of them."""
        return PolicyArrays(self.policies, self.offsets, self.widths, self.contexts, self.n_modes)

    def policy_of(self, skill: int, mode: int = 0) -> np.ndarray:
        """[state, context]: actions; the number of actions stands for "terminate"."""
        part = self.policies[self.offsets[skill] : self.offsets[skill + 1]]
        every = part.reshape(self.mdp.n_states, -1, self.n_modes[skill])
        return np.ascontiguousarray(every[:, :, mode])

    def action(self, skill: int, first: State, now: State, mode: int = 0) -> str | None:
        """What a skill that began in `first` does in `now`; None if it terminates."""
        context = self.contexts[skill, self.mdp.number(first)]
        choice = int(self.policy_of(skill, mode)[self.mdp.number(now), context])
        return None if choice == self.mdp.n_actions else self.world.actions[choice]

    def policy(self, skill: int, rng: np.random.Generator | None = None) -> SkillPolicy:
        """A skill as a function from a state to an action's number, or None where it ends, for
        loops of your own (see `skillfocus.policy`). A skill with several modes draws from `rng`."""
        if not 0 <= skill < len(self):
            raise UserError(f"there is no skill {skill}: skills are numbered 0 to {len(self) - 1}")
        actions = self.policies[self.offsets[skill] : self.offsets[skill + 1]]
        return SkillPolicy(
            self.mdp, actions.reshape(self.mdp.n_states, -1), self.contexts[skill],
            int(self.n_modes[skill]), self.step_limit, rng,
        )  # fmt: skip

    def rollout(self, skill: int, start: State, rng: np.random.Generator) -> Trajectory:
        """Run a skill from a state until it terminates or reaches the step limit: the states."""
        paths, steps = self.run(np.array([skill]), np.array([self.mdp.number(start)]), rng)
        states = (self.mdp.state(s) for s in paths[0, : steps[0] + 1])
        return Trajectory(states, self.world, skill, self.targets[skill])

    def likely_path(self, skill: int, start: State, mode: int = 0) -> Trajectory:
        """The states of a skill if every action has its likeliest outcome."""
        mdp = self.mdp
        path = [mdp.number(start)]
        context = self.contexts[skill, path[0]]
        policy = self.policy_of(skill, mode)
        for _ in range(self.step_limit):
            action = policy[path[-1], context]
            if action == mdp.n_actions:
                break
            outcome = mdp.probabilities[path[-1], action].argmax()
            path.append(int(mdp.successors[path[-1], action, outcome]))
        states = (mdp.state(s) for s in path)
        return Trajectory(states, self.world, skill, self.targets[skill])

    def run(
        self, skills: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run many skills from many (numbered) states: paths [run, t], the last state repeated,
        and the number of steps each took."""
        if len(skills) and not 0 <= min(skills) <= max(skills) < len(self):
            raise UserError(f"skills are numbered 0 to {len(self) - 1}")
        if len(starts) and not 0 <= min(starts) <= max(starts) < self.mdp.n_states:
            raise UserError(f"states are numbered 0 to {self.mdp.n_states - 1}")
        return run_many(
            mdp_arrays(self.mdp), self.arrays, np.asarray(skills, np.int64),
            np.asarray(starts, np.int64), self.step_limit, self.mdp.n_marks, rng,
        )  # fmt: skip

    def _header(self) -> dict[str, object]:
        version = 3 if self.learned is not None else 2 if self.modes else 1
        return {
            "format": FORMAT,
            "version": version,
            "world": {"id": self.world.id, "settings": self.world.settings},
            "fingerprint": self.mdp.fingerprint,
            "targets": [list(names) for names in self.targets],
            "remembered": [list(names) for names in self.remembered],
            "step_limit": self.step_limit,
            "info": self.info,
            **({"modes": list(self.modes)} if self.modes else {}),
            **({} if self.learned is None else {"learned": self.learned.header()}),
        }

    def to_bytes(self) -> bytes:
        """What a file of these skills holds."""
        rewards = {} if self.learned is None else self.learned.arrays()
        return pack(self._header(), {POLICY: self.policies, **rewards})

    def save(self, path: str | Path) -> Path:
        """Write one file, whole or not at all."""
        path = Path(path)
        write_atomically(path, self.to_bytes())
        return path

    @staticmethod
    def load(path: str | Path, world: World | None = None) -> Skills:
        """Read a file of skills. `world` is needed where the file cannot say how to make it: of an
        object or a class of your own."""
        arrays, header = read(Path(path))
        policies = arrays.pop(POLICY)
        with usable(Path(path)):
            if world is None and not can_remake(header["world"]["id"]):
                raise UserError(
                    f"{path} holds skills for {header['world']['id']!r}, which is your own: pass "
                    f"the world, as in Skills.load(path, world=…) or --world my_world.py:NAME"
                )
            made = world or make(header["world"]["id"], **header["world"]["settings"])
            mdp = tabulate(made)
            if mdp.fingerprint != header["fingerprint"]:
                raise UserError(
                    f"{path} holds skills for another world than this {made.id}: they were "
                    f"learned in {header['world']['id']} with {header['world']['settings']}"
                )
            for names in (*header["targets"], *header["remembered"]):
                for name in names:
                    mdp.space.index(name)
            return Skills(
                made,
                mdp,
                tuple(tuple(names) for names in header["targets"]),
                tuple(tuple(names) for names in header["remembered"]),
                policies,
                int(header["step_limit"]),
                header["info"],
                tuple(int(count) for count in header.get("modes", ())),
                from_file(mdp, header["learned"], arrays) if "learned" in header else None,
            )
