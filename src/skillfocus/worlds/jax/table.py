"""Finite worlds as worlds in JAX, to compare networks with exact values."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.mdp import TabularMDP
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.jax.world import JaxWorld

WORD = 2**31
"""Number of non-negative int32 codes."""


class TableWorld(JaxWorld):
    """A finite world with its table in JAX arrays.

    A state is the number of the table's state and the hidden marks, bool [n_marks].
    """

    def __init__(self, world: World, mdp: TabularMDP) -> None:
        """Move a table to the device.

        Args:
            world: The world the table belongs to.
            mdp: Its table.
        """
        self.world, self.mdp = world, mdp
        self.id, self.space, self.actions = world.id, world.space, world.actions
        self.step_limit, self.limit, self.notes = world.step_limit, world.limit, world.notes
        self.n_marks, self.final_states, self.fixed = world.n_marks, world.final_states, world.fixed
        self.one_way = mdp.one_way
        self._values = jnp.asarray(mdp.values, jnp.int32)
        self._cumulative = jnp.asarray(mdp.cumulative, jnp.float32)
        self._successors = jnp.asarray(mdp.successors, jnp.int32)
        self._marks = jnp.asarray(mdp.marks, jnp.int32)
        self._again = jnp.asarray(mdp.again, jnp.int32)
        self._marks_in = jnp.asarray(mdp.marks_in, jnp.int32)
        self._numbers = StateNumbers(mdp.space.sizes, mdp.values)

    @property
    def settings(self) -> dict[str, object]:
        """As in the finite world."""
        return self.world.settings

    @property
    def default_target(self) -> str:
        """As in the finite world."""
        return self.world.default_target

    @property
    def goals(self) -> tuple[str, ...]:
        """As in the finite world."""
        return self.world.goals

    def draw(self, state: State) -> str:
        """As in the finite world."""
        return self.world.draw(state)

    def reset(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Sample a state uniformly."""
        key_state, key_marks = jax.random.split(key)
        number = jax.random.randint(key_state, (), 0, len(self._values), jnp.int32)
        return number, self._draw_marks(key_marks, number)

    def step(
        self, key: jax.Array, state: tuple[jax.Array, jax.Array], action: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Sample an outcome from the table."""
        return self.outcome(state, action, jax.random.uniform(key, dtype=jnp.float32))

    def outcome(
        self, state: tuple[jax.Array, jax.Array], action: jax.Array, u: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Return the next state after an action, for a uniform sample `u` from [0, 1)."""
        number, marks = state
        slot = (u >= self._cumulative[number, action]).sum()
        after = self._successors[number, action, slot]
        if self.n_marks:
            mark = self._marks[number, action, slot]
            sets = jnp.arange(self.n_marks) == mark  # none for -1
            after = jnp.where((sets & marks).any(), self._again[number, action, slot], after)
            marks = marks | sets
        return after, marks

    def values(self, state: tuple[jax.Array, jax.Array]) -> jax.Array:
        """Return the values from the table."""
        return self._values[state[0]]

    def place(self, key: jax.Array, values: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Find the number of a state, and sample its hidden marks.

        The values must be those of a state in the table.
        """
        number = self._numbers.find(values)
        return number, self._draw_marks(key, number)

    def _draw_marks(self, key: jax.Array, number: jax.Array) -> jax.Array:
        """Sample which marks are set; their number is known from the state."""
        rank = jax.random.permutation(key, self.n_marks)
        return rank < self._marks_in[number]


class StateNumbers:
    """Finds the number of a state by its value indices.

    With many variables, one integer per state would overflow int32. So a state is a row of words,
    each of which encodes as many variables as fit, and a binary search compares rows.
    """

    def __init__(self, sizes: Sequence[int], values: np.ndarray) -> None:
        """Sort the states.

        Args:
            sizes: Number of values of each variable.
            values: Value indices of the states, int [n_states, n_variables].
        """
        self._groups: list[tuple[slice, np.ndarray]] = []
        first = 0
        while first < len(sizes):
            last = first + 1
            size = sizes[first]
            while last < len(sizes) and size * sizes[last] <= WORD:
                size *= sizes[last]
                last += 1
            radix = np.cumprod([1, *sizes[last - 1 : first : -1]])[::-1].astype(np.int32)
            self._groups.append((slice(first, last), radix))
            first = last
        words = np.stack([values[:, part] @ radix for part, radix in self._groups], axis=1)
        order = np.lexsort(words.T[::-1])
        self._words = jnp.asarray(words[order], jnp.int32)
        self._numbers = jnp.asarray(order, jnp.int32)

    def find(self, values: jax.Array) -> jax.Array:
        """Return the number of the state with these value indices, int32."""
        wanted = [(values[part] * radix).sum() for part, radix in self._groups]
        row, n_rows = jnp.int32(0), len(self._numbers)
        for bit in reversed(range(n_rows.bit_length())):  # the last row that is not after `wanted`
            ahead = row + 2**bit
            words = self._words[jnp.minimum(ahead, n_rows - 1)]
            not_after = jnp.bool_(True)
            for word, sought in zip(words[::-1], wanted[::-1], strict=True):
                not_after = (word < sought) | ((word == sought) & not_after)
            row = jnp.where((ahead < n_rows) & not_after, ahead, row)
        return self._numbers[row]
