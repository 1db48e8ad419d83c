"""A set of skills: what they do, what they target, and where they came from.

A file of skills is one safetensors file: the policies as bytes, and in its metadata a digest of
everything, then a JSON header with the rest. Reading one parses and checks; nothing in it is
ever run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from skillfocus.catalogue import can_remake, make
from skillfocus.errors import UserError
from skillfocus.factored import State
from skillfocus.files import write_whole
from skillfocus.learners.numbering import Numbering, number_values
from skillfocus.learners.problem import check_step_limit
from skillfocus.policy import SkillPolicy
from skillfocus.simulation import SkillArrays, run_many, table_arrays
from skillfocus.table import Table, tabulate
from skillfocus.worlds.world import World

FORMAT, VERSION = "skillfocus-skills", 2
DIGEST = 64
"""Characters of the digest that stands before the header."""


@dataclass(frozen=True, eq=False)
class Skills:
    world: World
    table: Table
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
        if len(self.policies) and self.policies.max() > self.table.n_actions:
            raise UserError(f"the policies name actions that {self.world.id} does not have")

    def __len__(self) -> int:
        return len(self.targets)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Skills)
            and self._header() == other._header()
            and np.array_equal(self.policies, other.policies)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        objective = self.info.get("objective", {})
        name = objective.get("name", "?") if isinstance(objective, dict) else "?"
        return f"<{len(self)} {name} skills in {self.world.id}, seed {self.info.get('seed')}>"

    @cached_property
    def _numberings(self) -> tuple[Numbering, ...]:
        known = {
            names: number_values(self.table, sorted(self.table.space.index(n) for n in names))
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
        return np.concatenate([[0], np.cumsum(self.widths * self.table.n_states)]).astype(np.int64)

    @cached_property
    def contexts(self) -> np.ndarray:
        """[skill, first state]: the context."""
        return np.stack([numbering.of_state for numbering in self._numberings])

    @property
    def arrays(self) -> SkillArrays:
        """What the kernels need of them."""
        return self.policies, self.offsets, self.widths, self.contexts, self.n_modes

    def policy_of(self, skill: int, mode: int = 0) -> np.ndarray:
        """[state, context]: actions; the number of actions stands for "terminate"."""
        part = self.policies[self.offsets[skill] : self.offsets[skill + 1]]
        every = part.reshape(self.table.n_states, -1, self.n_modes[skill])
        return np.ascontiguousarray(every[:, :, mode])

    def action(self, skill: int, first: State, now: State, mode: int = 0) -> str | None:
        """What a skill that began in `first` does in `now`; None if it terminates."""
        context = self.contexts[skill, self.table.number(first)]
        choice = int(self.policy_of(skill, mode)[self.table.number(now), context])
        return None if choice == self.table.n_actions else self.world.actions[choice]

    def policy(self, skill: int, rng: np.random.Generator | None = None) -> SkillPolicy:
        """A skill as a function from a state to an action's number, or None where it ends, for
        loops of your own (see `skillfocus.policy`). A skill with several modes draws from `rng`."""
        if not 0 <= skill < len(self):
            raise UserError(f"there is no skill {skill}: skills are numbered 0 to {len(self) - 1}")
        actions = self.policies[self.offsets[skill] : self.offsets[skill + 1]]
        return SkillPolicy(
            self.table, actions.reshape(self.table.n_states, -1), self.contexts[skill],
            int(self.n_modes[skill]), self.step_limit, rng,
        )  # fmt: skip

    def rollout(self, skill: int, start: State, rng: np.random.Generator) -> list[State]:
        """Run a skill from a state until it terminates or reaches the step limit: the states."""
        paths, steps = self.run(np.array([skill]), np.array([self.table.number(start)]), rng)
        return [self.table.state(s) for s in paths[0, : steps[0] + 1]]

    def likely_path(self, skill: int, start: State, mode: int = 0) -> list[State]:
        """The states of a skill if every action has its likeliest outcome."""
        table = self.table
        path = [table.number(start)]
        context = self.contexts[skill, path[0]]
        policy = self.policy_of(skill, mode)
        for _ in range(self.step_limit):
            action = policy[path[-1], context]
            if action == table.n_actions:
                break
            outcome = table.probabilities[path[-1], action].argmax()
            path.append(int(table.successors[path[-1], action, outcome]))
        return [table.state(s) for s in path]

    def run(
        self, skills: np.ndarray, starts: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run many skills from many (numbered) states: paths [run, t], the last state repeated,
        and the number of steps each took."""
        if len(skills) and not 0 <= min(skills) <= max(skills) < len(self):
            raise UserError(f"skills are numbered 0 to {len(self) - 1}")
        if len(starts) and not 0 <= min(starts) <= max(starts) < self.table.n_states:
            raise UserError(f"states are numbered 0 to {self.table.n_states - 1}")
        return run_many(
            table_arrays(self.table), self.arrays, np.asarray(skills, np.int64),
            np.asarray(starts, np.int64), self.step_limit, self.table.n_marks, rng,
        )  # fmt: skip

    def _header(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION if self.modes else 1,
            "world": {"id": self.world.id, "settings": self.world.settings},
            "fingerprint": self.table.fingerprint,
            "targets": [list(names) for names in self.targets],
            "remembered": [list(names) for names in self.remembered],
            "step_limit": self.step_limit,
            "info": self.info,
            **({"modes": list(self.modes)} if self.modes else {}),
        }

    def to_bytes(self) -> bytes:
        """What a file of these skills holds."""
        from safetensors.numpy import save

        header = json.dumps(self._header(), sort_keys=True)
        metadata = {"skillfocus": _digest(header, self.policies) + header}
        return save({"policy": self.policies}, metadata=metadata)

    def save(self, path: str | Path) -> Path:
        """Write one file, whole or not at all."""
        path = Path(path)
        write_whole(path, self.to_bytes())
        return path

    @staticmethod
    def load(path: str | Path, world: World | None = None) -> Skills:
        """Read a file of skills. `world` is needed where the file cannot say how to make it: of an
        object or a class of your own."""
        policy, header = _read(Path(path))
        try:
            if world is None and not can_remake(header["world"]["id"]):
                raise UserError(
                    f"{path} holds skills for {header['world']['id']!r}, which is your own: pass "
                    f"the world, as in Skills.load(path, world=…) or --world my_world.py:NAME"
                )
            made = world or make(header["world"]["id"], **header["world"]["settings"])
            table = tabulate(made)
            if table.fingerprint != header["fingerprint"]:
                raise UserError(
                    f"{path} holds skills for another world than this {made.id}: they were "
                    f"learned in {header['world']['id']} with {header['world']['settings']}"
                )
            for names in (*header["targets"], *header["remembered"]):
                for name in names:
                    table.space.index(name)
            return Skills(
                made,
                table,
                tuple(tuple(names) for names in header["targets"]),
                tuple(tuple(names) for names in header["remembered"]),
                policy,
                int(header["step_limit"]),
                header["info"],
                tuple(int(count) for count in header.get("modes", ())),
            )
        except UserError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UserError(f"{path} is not a usable skills file: bad header ({error})") from None


def _digest(header: str, policy: np.ndarray) -> str:
    digest = hashlib.sha256(header.encode())
    digest.update(policy.tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[np.ndarray, dict]:
    """The policies and the header of a file, or one sentence on why not."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise UserError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if "skillfocus" not in metadata or list(file.keys()) != ["policy"]:
                raise UserError(f"{path} was not written by skillfocus")
            policy = file.get_tensor("policy")
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} is not a readable skills file: {error}") from None
    if policy.dtype != np.uint8 or policy.ndim != 1:
        raise UserError(f"{path} is not a usable skills file: its policies are not bytes")
    digest, text = metadata["skillfocus"][:DIGEST], metadata["skillfocus"][DIGEST:]
    if _digest(text, policy) != digest:
        raise UserError(f"{path} is damaged: its contents do not match its digest")
    try:
        header = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise UserError(f"{path} is not a usable skills file: its header is not JSON") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{path} was not written by skillfocus")
    if header.get("version") not in range(1, VERSION + 1):
        raise UserError(
            f"{path} has version {header.get('version')} of the format, this program reads up to "
            f"version {VERSION}: use the skillfocus that wrote it"
        )
    return policy, header
