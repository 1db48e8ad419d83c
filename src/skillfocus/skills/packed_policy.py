"""Packed policies: tables whose equal parts are stored once, for sets too large for plain ones.

A skill's policy, [n_states, columns] where a column is a context and mode, is cut into blocks of 64
columns of one state. Most blocks are equal to another one: what a skill does seldom depends on
every variable, and where a state cannot be reached from any start with one of those contexts, the
block says "terminate" throughout. So a policy is the numbers of its blocks, four bytes for each,
and the blocks that differ. Looking an action up stays two reads of memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.compilation import njit
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import PACKED_COLUMNS, PolicyArrays
from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.skills.policy import TabularPolicy

MAX_UNPACKED = 128_000_000
"""Policies with more entries stay packed when they are read."""
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
    """Numbers blocks of policies: equal ones get the same number, in the order in which they come.

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


class PackedPolicy(TabularPolicy):
    """Policies as numbers of blocks. What it says is what a `TabularPolicy` says.

    Args:
        mdp: The MDP whose states are the rows.
        context_variables: Per skill, the variables whose start value its policy sees.
        numbers: uint32, flat: skill after skill, [n_states, n_blocks of the skill].
        blocks: uint8 [n_blocks, PACKED_COLUMNS], actions.
        n_modes: int [n_skills], modes of each skill (default: one each).
    """

    def __init__(
        self,
        mdp: TabularMDP,
        context_variables: Sequence[Sequence[str]],
        numbers: np.ndarray,
        blocks: np.ndarray,
        n_modes: Sequence[int] | np.ndarray = (),
    ) -> None:
        self._set_index(mdp, context_variables, n_modes)
        self.numbers, self.blocks = numbers, blocks
        needed = packed_numbers(mdp.n_states, self.index.of_skill, self.index.modes)
        if numbers.dtype != np.uint32 or numbers.shape != (needed,):
            raise UserError(
                f"the policies have {numbers.size:,} blocks where {len(self.context_variables)} "
                f"skills need {needed:,}"
            )
        if blocks.dtype != np.uint8 or blocks.ndim != 2 or blocks.shape[1] != PACKED_COLUMNS:
            raise UserError(f"blocks of policies must be rows of {PACKED_COLUMNS} bytes")
        if numbers.size and numbers.max() >= len(blocks):
            raise UserError("the policies name blocks that there are not")
        self._check_actions(blocks)
        self._widths = -(-self.index.widths // PACKED_COLUMNS)
        self._offsets = np.concatenate([[0], np.cumsum(self._widths * mdp.n_states)])

    @property
    def flat_actions(self) -> np.ndarray:
        """The whole table, uint8, flat; it is made anew on every call."""
        require_memory(
            self.index.n_entries, f"{self.index.n_entries:,} entries of policies",
            "look at one skill at a time with skills.policy_of",
        )  # fmt: skip
        skills = range(len(self.context_variables))
        return np.concatenate([np.zeros(0, np.uint8), *(self.columns(z).ravel() for z in skills)])

    @property
    def arrays(self) -> PolicyArrays:
        """What kernels need."""
        return PolicyArrays(
            self.numbers, self._offsets, self._widths, self.contexts, self.n_modes, self.blocks
        )

    def numbers_of(self, skill: int) -> np.ndarray:
        """Return the numbers of a skill's blocks, uint32 [n_states, n_blocks]."""
        part = self.numbers[self._offsets[skill] : self._offsets[skill + 1]]
        return part.reshape(self.mdp.n_states, -1)

    def columns(self, skill: int) -> np.ndarray:
        """Return a skill's table, uint8 [n_states, contexts times modes]."""
        whole = self.blocks[self.numbers_of(skill)].reshape(self.mdp.n_states, -1)
        return np.ascontiguousarray(whole[:, : self.index.widths[skill]])

    def unpacked(self) -> TabularPolicy:
        """Return the same policies as one plain table, if that is small enough; else itself."""
        if self.index.n_entries > MAX_UNPACKED:
            return self
        return TabularPolicy(self.mdp, self.context_variables, self.flat_actions, self.n_modes)

    def _at(self, skill: int, states: np.ndarray, columns: np.ndarray) -> np.ndarray:
        numbers = self.numbers_of(skill)[states, columns // PACKED_COLUMNS]
        return self.blocks[numbers, columns % PACKED_COLUMNS]


def pack_policy(policy: TabularPolicy) -> PackedPolicy:
    """Return the same policies packed."""
    if isinstance(policy, PackedPolicy):
        return policy
    packer = Packer(policy.mdp.n_actions)
    skills = range(len(policy.context_variables))
    numbers = [packer.pack(policy.columns(z)).ravel() for z in skills]
    return PackedPolicy(
        policy.mdp, policy.context_variables, np.concatenate(numbers), packer.blocks.copy(),
        policy.n_modes,
    )  # fmt: skip


def packed_numbers(n_states: int, indices: Sequence, modes: Sequence[int]) -> int:
    """Return how many numbers of blocks a set's policies have, a Python integer.

    Args:
        n_states: Number of states.
        indices: Per skill, the `ValueIndex` of its contexts.
        modes: Per skill, how many modes it has.
    """
    sizes = (index.size * count for index, count in zip(indices, modes, strict=True))
    return n_states * sum(-(-size // PACKED_COLUMNS) for size in sizes)
