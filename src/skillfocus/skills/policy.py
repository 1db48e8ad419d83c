"""Policies of a set of skills: which action, or stop, for a skill, its start and a state.

A `Policy` answers for arrays of states at once and keeps no state of its own. `TabularPolicy` is
the one that tabular learners return; networks (`network.py`, `actor.py`) are others. In a finite
world any can be tabulated, so that exact metrics apply to it. `SkillPolicy` is one skill as a
function of the current state, for your own loops.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.mdp import ContextIndex, TabularMDP, index_values
from skillfocus.rollout import PACKED_COLUMNS, PolicyArrays
from skillfocus.world import World


class Traced(NamedTuple):
    """A policy as a function in JAX, which a compiled rollout calls.

    Attributes:
        weights: Its arrays.
        act: `act(weights, skill, mode, start, values, observation, step, key)` returns the action
            of one rollout: its index, the number of actions to stop, or float32 [n_dimensions].
    """

    weights: Any
    act: Callable[..., Any]


class Policy(Protocol):
    """The policies of a set of skills. Subclass it and define `context_variables` and `actions`.

    Attributes:
        context_variables: Per skill, the variables whose start value its policy sees.
        n_draws: How many uniform numbers `act` takes for each action.
        mdp: The tabular MDP it belongs to, if it has one.
    """

    context_variables: tuple[tuple[str, ...], ...]
    n_draws: int = 0
    mdp: TabularMDP | None = None

    @cached_property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: how many modes each skill draws from when it starts."""
        return np.ones(len(self.context_variables), dtype=np.int64)

    def draw_modes(self, skills: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Sample a mode for each skill as it starts, [n, ...]."""
        n_modes = self.n_modes[skills]
        if n_modes.max(initial=1) == 1:
            return np.zeros(len(skills), dtype=np.int64)
        return (rng.random(len(skills)) * n_modes).astype(np.int64)

    @abstractmethod
    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return what a skill does.

        Args:
            skill: The skill's number.
            starts: States in which it started, value indices [n, n_variables].
            states: Current states, value indices [n, n_variables].
            mode: The mode it drew when it started.

        Returns:
            int [n], actions; the number of actions means "terminate".
        """
        ...

    def act(
        self,
        skills: np.ndarray,
        modes: np.ndarray,
        starts: np.ndarray,
        values: np.ndarray,
        *,
        observations: np.ndarray | None = None,
        steps: np.ndarray | None = None,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return what several skills do, each in its own mode.

        Args:
            skills: int [n], skill numbers.
            modes: What they drew, from `draw_modes`.
            starts: Values in which they started, [n, width].
            values: Current values, [n, width].
            observations: What policies of real-valued actions see, if it is more than the values.
            steps: int [n], the steps they have taken.
            draws: Uniform samples from [0, 1), [n, n_draws]; None acts greedily.

        Returns:
            int [n], actions, the number of actions means "terminate"; or float32 [n, n_dimensions].
        """
        del observations, steps, draws
        chosen = np.empty(len(skills), dtype=np.int64)
        for skill, mode in np.unique(np.stack([skills, modes], axis=1), axis=0).tolist():
            rows = (skills == skill) & (modes == mode)
            chosen[rows] = self.actions(skill, starts[rows], values[rows], mode)
        return chosen

    def trace(self) -> Traced | None:
        """Return the policy as a function in JAX; None if it cannot be traced."""
        return None

    def pick(self, skills: Sequence[int]) -> Policy:
        """Return the policies of some of the skills, in this order."""
        return CombinedPolicy([(self, z) for z in skills])

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return the same policy as a table over all states and contexts of an MDP."""
        tables = []
        for skill, names in enumerate(self.context_variables):
            index = index_values(mdp, sorted(mdp.space.indices(names)))
            columns = [
                self.actions(skill, np.broadcast_to(start, mdp.values.shape), mdp.values, mode)
                for start in mdp.values[index.example]
                for mode in range(int(self.n_modes[skill]))
            ]
            tables.append(np.stack(columns, axis=1).astype(np.uint8).ravel())
        return TabularPolicy(mdp, self.context_variables, np.concatenate(tables), self.n_modes)


class CombinedPolicy(Policy):
    """Skills from several sets, in a world without a table.

    Args:
        members: Per skill, a set's policies and the skill's number there.
    """

    def __init__(self, members: Sequence[tuple[Policy, int]]) -> None:
        self._sets = list(dict.fromkeys(policy for policy, _ in members))
        self._set_of = np.array([self._sets.index(policy) for policy, _ in members])
        self._number = np.array([z for _, z in members])
        self.context_variables = tuple(policy.context_variables[z] for policy, z in members)
        self.n_draws = max(policy.n_draws for policy in self._sets)
        self.n_modes = np.array([policy.n_modes[z] for policy, z in members], dtype=np.int64)

    def _of_each(self, skills: np.ndarray) -> Iterator[tuple[Policy, np.ndarray, np.ndarray]]:
        """Yield each set in use, the rows of its skills, and their numbers there."""
        for place, policy in enumerate(self._sets):
            rows = np.flatnonzero(self._set_of[skills] == place)
            if len(rows):
                yield policy, rows, self._number[skills[rows]]

    def draw_modes(self, skills: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Let each set draw, object [n]: numbers, or vectors of any length."""
        modes = np.empty(len(skills), object)
        for policy, rows, numbers in self._of_each(skills):
            for row, mode in zip(rows, policy.draw_modes(numbers, rng), strict=True):
                modes[row] = mode
        return modes

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Ask the skill's own set; see `Policy.actions`."""
        policy = self._sets[self._set_of[skill]]
        return policy.actions(int(self._number[skill]), starts, states, mode)

    def act(
        self, skills: np.ndarray, modes: np.ndarray, starts: np.ndarray, values: np.ndarray,
        **seen: np.ndarray | None,
    ) -> np.ndarray:  # fmt: skip
        """Ask each set; see `Policy.act`."""
        places, parts = [], []
        for policy, rows, numbers in self._of_each(skills):
            own = {k: None if v is None else v[rows] for k, v in seen.items()}
            if (draws := own.get("draws")) is not None:
                own["draws"] = draws[:, : policy.n_draws]
            drawn = np.stack(list(modes[rows]))
            parts.append(policy.act(numbers, drawn, starts[rows], values[rows], **own))
            places.append(rows)
        return np.concatenate(parts)[np.argsort(np.concatenate(places))]


class TabularPolicy(Policy):
    """Policies as a table: an action for every skill, state, context and mode.

    A skill's part, [n_states, columns] where a column is a context and mode, is cut into blocks of
    64 columns of one state, and blocks that are equal are stored once. Most are: what a skill does
    seldom depends on every variable, and in large planned sets, blocks of states that cannot be
    reached from any start with one of those contexts say "terminate" throughout. A policy is stored
    as uint32 block indices and the distinct blocks.

    Args:
        mdp: The MDP whose states are the rows.
        context_variables: Per skill, the variables whose start value its policy sees.
        actions: uint8, flat: the whole table, see `PolicyArrays`; or, with `blocks`, uint32: the
            numbers of blocks, skill after skill, [n_states, n_blocks of the skill].
        n_modes: int [n_skills], modes of each skill (default: one each).
        blocks: uint8 [n_blocks, PACKED_COLUMNS], actions.
    """

    def __init__(
        self,
        mdp: TabularMDP,
        context_variables: Sequence[Sequence[str]],
        actions: np.ndarray,
        n_modes: Sequence[int] | np.ndarray = (),
        blocks: np.ndarray | None = None,
    ) -> None:
        self.mdp: TabularMDP = mdp  # pyright: ignore[reportIncompatibleVariableOverride]
        self.context_variables = tuple(tuple(names) for names in context_variables)
        n_skills = len(self.context_variables)
        modes = [int(count) for count in n_modes] or [1] * n_skills
        if len(modes) != n_skills or min(modes, default=1) < 1:
            raise UserError(f"{n_skills} skills cannot have the modes {tuple(modes)}")
        variables = [mdp.space.indices(names) for names in self.context_variables]
        self.index = index = ContextIndex(mdp, variables, modes)
        self.n_modes = index.n_modes
        n_blocks = mdp.n_states * sum(-(-n // PACKED_COLUMNS) for n in index.n_columns)
        form, needed = ("uint8", index.n_entries) if blocks is None else ("uint32", n_blocks)
        if actions.dtype != form or actions.ndim != 1:
            raise UserError(
                f"policies must be a flat array of {form}, got {actions.dtype} "
                f"{list(actions.shape)}"
            )
        if len(actions) != needed:
            raise UserError(
                f"the policies have {len(actions):,} {'entries' if blocks is None else 'blocks'} "
                f"where {n_skills} skills need {needed:,}"
            )
        if blocks is None:
            tables = [actions[a:b].reshape(mdp.n_states, -1) for a, b in pairwise(index.offsets)]
            actions, blocks = _pack(tables, mdp.n_actions)
        if blocks.dtype != np.uint8 or blocks.shape[1:] != (PACKED_COLUMNS,):
            raise UserError(f"blocks of policies must be rows of {PACKED_COLUMNS} bytes")
        if actions.max(initial=0) >= max(len(blocks), 1):
            raise UserError("the policies refer to blocks that do not exist")
        if blocks.max(initial=0) > mdp.n_actions:
            raise UserError("the policies name actions that the world does not have")
        self.numbers, self.blocks = actions, blocks
        self._widths = -(-index.widths // PACKED_COLUMNS)
        self._offsets = np.append(0, np.cumsum(self._widths * mdp.n_states))

    @cached_property
    def arrays(self) -> PolicyArrays:
        """What kernels need: the whole table if it is small enough, else the numbers of blocks."""
        index = self.index
        if index.n_entries <= MAX_UNPACKED:
            return PolicyArrays(
                self.flat_actions, index.offsets, index.widths, index.contexts, index.n_modes
            )
        return PolicyArrays(
            self.numbers, self._offsets, self._widths, index.contexts, index.n_modes, self.blocks
        )

    @property
    def flat_actions(self) -> np.ndarray:
        """The whole table, uint8, flat; rebuilt on every access."""
        require_memory(
            self.index.n_entries, f"{self.index.n_entries:,} entries of policies",
            "look at one skill at a time with skills.policy_of",
        )  # fmt: skip
        skills = range(len(self.context_variables))
        return np.concatenate([np.zeros(0, np.uint8), *(self.columns(z).ravel() for z in skills)])

    def _numbers_of(self, skill: int) -> np.ndarray:
        """Return the numbers of a skill's blocks, uint32 [n_states, n_blocks]."""
        part = self.numbers[self._offsets[skill] : self._offsets[skill + 1]]
        return part.reshape(self.mdp.n_states, -1)

    def columns(self, skill: int) -> np.ndarray:
        """Return a skill's table, uint8 [n_states, contexts times modes]."""
        whole = self.blocks[self._numbers_of(skill)].reshape(self.mdp.n_states, -1)
        return np.ascontiguousarray(whole[:, : self.index.widths[skill]])

    def table(self, skill: int, mode: int = 0) -> np.ndarray:
        """Return one mode of a skill's table, uint8 [n_states, n_contexts]."""
        return np.ascontiguousarray(self.columns(skill)[:, mode :: int(self.n_modes[skill])])

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Look actions up; see `Policy.actions`."""
        first = np.array([self.mdp.number(state) for state in starts], dtype=np.int64)
        now = np.array([self.mdp.number(state) for state in states], dtype=np.int64)
        column = self.index.contexts[skill, first] * self.n_modes[skill] + mode
        numbers = self._numbers_of(skill)[now, column // PACKED_COLUMNS]
        return self.blocks[numbers, column % PACKED_COLUMNS]

    def pick(self, skills: Sequence[int]) -> TabularPolicy:
        """Return the tables of some of the skills."""
        return join_tables([(self, z) for z in skills])

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return itself: it is a table already."""
        del mdp
        return self


def join_tables(members: Sequence[tuple[TabularPolicy, int]]) -> TabularPolicy:
    """Return the tables of skills of one or more sets as those of one set."""
    mdp = members[0][0].mdp
    numbers, blocks = _pack((table.columns(z) for table, z in members), mdp.n_actions)
    variables = [table.context_variables[z] for table, z in members]
    modes = [int(table.n_modes[z]) for table, z in members]
    return TabularPolicy(mdp, variables, numbers, modes, blocks)


def _pack(tables: Iterable[np.ndarray], padding: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and the blocks of tables [n_states, n_columns], in their order."""
    packer = Packer(padding)
    numbers = [np.zeros(0, np.uint32), *(packer.pack(table).ravel() for table in tables)]
    return np.concatenate(numbers), packer.blocks.copy()


# -------------------- Packing: equal blocks of tables get the same number

MAX_UNPACKED = 128_000_000
"""Kernels read policies with more entries packed."""
WORDS = PACKED_COLUMNS // 8
"""64-bit words of a block."""


@njit(cache=True, nogil=True)
def _find(blocks, slots, block):
    """Return the slot of the hash table that has a block, or the free one where it belongs."""
    key = np.uint64(0)
    for word in block:
        key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    last = np.uint64(slots.shape[0] - 1)
    slot = key & last
    while slots[slot] >= 0:
        same = True
        for i in range(block.shape[0]):
            if blocks[slots[slot], i] != block[i]:
                same = False
                break
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@njit(cache=True, nogil=True)
def _number_blocks(table, blocks, slots, count, numbers):
    """Number the blocks of a table [n_states, n_blocks, WORDS], adding those that are new; return
    how many there are then."""
    for s in range(table.shape[0]):
        for k in range(table.shape[1]):
            slot = _find(blocks, slots, table[s, k])
            if slots[slot] < 0:
                blocks[count] = table[s, k]
                slots[slot] = count
                count += 1
            numbers[s, k] = slots[slot]
    return count


@njit(cache=True, nogil=True)
def _fill_slots(blocks, count, slots):
    for number in range(count):
        slots[_find(blocks, slots, blocks[number])] = number


class Packer:
    """Deduplicates blocks: equal ones share an index, in order of first appearance.

    Args:
        padding: The action of columns that fill a policy's last block.
    """

    def __init__(self, padding: int) -> None:
        self._padding = padding
        self._blocks = np.empty((0, WORDS), np.uint64)
        self._slots = np.full(2, -1, np.int32)
        self._count = 0

    @property
    def blocks(self) -> np.ndarray:
        """uint8 [n_blocks, PACKED_COLUMNS]: the blocks so far, by number."""
        return self._blocks[: self._count].view(np.uint8)

    def pack(self, table: np.ndarray) -> np.ndarray:
        """Return the numbers of a table's blocks, uint32 [n_states, n_blocks].

        Args:
            table: uint8 [n_states, n_columns].
        """
        missing = -table.shape[1] % PACKED_COLUMNS
        if missing:
            table = np.pad(table, ((0, 0), (0, missing)), constant_values=self._padding)
        words = np.ascontiguousarray(table).view(np.uint64).reshape(len(table), -1, WORDS)
        numbers = np.empty(words.shape[:2], np.uint32)
        self._reserve(numbers.size)
        self._count = _number_blocks(words, self._blocks, self._slots, self._count, numbers)
        return numbers

    def _reserve(self, extra: int) -> None:
        """Make room for so many new blocks, in a hash table that stays half empty."""
        needed = self._count + extra
        if needed > len(self._blocks):
            grown = np.empty((max(needed, 3 * self._count // 2), WORDS), np.uint64)
            grown[: self._count] = self._blocks[: self._count]
            self._blocks = grown
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (2 * needed).bit_length(), -1, np.int32)
            _fill_slots(self._blocks, self._count, self._slots)


# -------------------- One skill, for a loop of your own


class SkillPolicy:
    """One skill as a function from the current state to an action, for a loop of your own.

        policy = skills.policy(3)
        action = policy(state)  # None once the skill is over

    The first call remembers the state in which the skill starts, and draws its mode if it has
    several. Every call returns the action, its number or float32 [n_dimensions], or None once the
    skill terminates or has reached its step limit; the call after that starts it anew, as does
    `reset`.

    Args:
        policy: The policies of the set.
        skill: The skill's number.
        world: The world.
        step_limit: Most steps it may take.
        rng: Draws modes and actions of skills that leave them to chance.
    """

    def __init__(
        self,
        policy: Policy,
        skill: int,
        world: World,
        step_limit: int,
        rng: np.random.Generator | None = None,
    ) -> None:
        if policy.n_modes[skill] > 1 and rng is None:
            raise UserError(
                f"the skill draws one of {policy.n_modes[skill]} modes when it begins: pass rng"
            )
        self._policy, self._skill, self._world = policy, np.array([skill]), world
        self._step_limit, self._rng = step_limit, rng
        self.reset()

    def reset(self) -> None:
        """Start the skill over at the next call."""
        self._start: np.ndarray | None = None
        self._steps = 0

    def __call__(self, state: Any, values: Any = None) -> Any:
        """Return the action in a state; None where the skill is over.

        Args:
            state: Value indices, or {variable: value}; in a world of real-valued actions the
                observation.
            values: There, the values of the variables (default: the observation).
        """
        space, seen = self._world.space, None
        if space.is_finite:
            now = np.array([space.as_state(state)])
        else:
            seen = np.asarray(state, np.float32)[None]
            now = seen if values is None else np.asarray(values, np.float32)[None]
        if self._start is None:
            rng = self._rng or np.random.default_rng(0)
            self._start, self._steps = now, 0
            self._mode = self._policy.draw_modes(self._skill, rng)
        draws = None if self._rng is None else self._rng.random((1, self._policy.n_draws))
        action = self._policy.act(
            self._skill, self._mode, self._start, now, observations=seen,
            steps=np.array([self._steps]), draws=draws,
        )[0]  # fmt: skip
        stops = not self._world.has_real_actions and action == len(self._world.actions)
        if stops or self._steps == self._step_limit:
            self.reset()
            return None
        self._steps += 1
        return action if self._world.has_real_actions else int(action)


def draw_keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the data of a JAX key per rollout, uint32 [n, 2]."""
    return rng.integers(2**32, size=(n, 2), dtype=np.uint32)
