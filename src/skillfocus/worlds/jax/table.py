"""Finite worlds as worlds in JAX, to compare networks with exact values, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.spaces import State
from skillfocus.world import Outcome, World
from skillfocus.worlds.jax.world import JaxWorld

WORD = 2**31
"""Number of non-negative int32 codes."""


class _LikeAnother(World):
    """A world that looks like another one, and steps in its own way."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.id, self.space, self.actions = world.id, world.space, world.actions
        self.step_limit, self.fixed, self.notes = world.step_limit, world.fixed, world.notes
        self.limit = world.limit

    @property
    def settings(self) -> dict[str, object]:
        """As in the other world."""
        return self.world.settings

    @property
    def default_target(self) -> str:
        """As in the other world."""
        return self.world.default_target

    @property
    def goals(self) -> tuple[str, ...]:
        """As in the other world."""
        return self.world.goals


class TableWorld(_LikeAnother, JaxWorld):
    """A finite world with its table in JAX arrays.

    A state is the number of the table's state and the hidden marks, bool [n_marks].
    """

    def __init__(self, world: World, mdp: TabularMDP) -> None:
        """Move a table to the device.

        Args:
            world: The world the table belongs to.
            mdp: Its table.
        """
        super().__init__(world)
        self.n_marks, self.final_states = world.n_marks, world.final_states
        self.state_graph, self.mdp = world.state_graph, mdp
        self.one_way = mdp.one_way
        self._values = jnp.asarray(mdp.values, jnp.int32)
        self._cumulative = jnp.asarray(mdp.cumulative, jnp.float32)
        self._successors = jnp.asarray(mdp.successors, jnp.int32)
        self._marks = jnp.asarray(mdp.marks, jnp.int32)
        self._again = jnp.asarray(mdp.again, jnp.int32)
        self._marks_in = jnp.asarray(mdp.marks_in, jnp.int32)
        self._numbers = StateNumbers(mdp.space.sizes, mdp.values)

    def states(self) -> Iterable[State]:
        """As in the finite world: unlike other JAX worlds, this one can be tabulated."""
        return self.world.states()

    def transition(self, state: State, action: int) -> list[Outcome]:
        """As in the finite world."""
        return self.world.transition(state, action)

    def marks_in(self, state: State) -> int:
        """As in the finite world."""
        return self.world.marks_in(state)

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


# --------------------
#
# `enumerate_world`: convert a small JAX world to a finite one, for exact metrics

_BATCH = 1024
"""States per call; a fixed number, so that `step` is compiled once."""


class EnumeratedWorld(_LikeAnother):
    """A JAX world whose states and transitions are all enumerated.

    `tabulate` accepts it like any finite world, and returns its `mdp`.
    """

    def __init__(self, world: JaxWorld, mdp: TabularMDP, n_starts: int) -> None:
        """Give a JAX world a table.

        Args:
            world: The world.
            mdp: Its table.
            n_starts: Number of start states, which come first in the table.
        """
        super().__init__(world)
        self.limit = max(world.limit, mdp.n_states)
        self.mdp = self._mdp = mdp
        self.n_starts = n_starts

    def states(self) -> Iterable[State]:
        """Return the starts of the enumeration."""
        return [self._mdp.state(number) for number in range(self.n_starts)]

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the outcome from the table."""
        successor = self._mdp.successors[self._mdp.number(state), action, 0]
        return [Outcome(1.0, self._mdp.state(int(successor)))]


def enumerate_world(
    world: JaxWorld, starts: Iterable[State], limit: int | None = None
) -> EnumeratedWorld:
    """Enumerate the states that a deterministic JAX world can reach, breadth first.

    States are numbered as `tabulate` numbers them: starts as given, then successors in the order of
    states and actions.

    Args:
        world: A deterministic world whose states are its values.
        starts: The first states, as value indices; duplicates count once.
        limit: Maximum number of states (default: `world.limit`).

    Raises:
        UserError: If there are no starts, too many states, or a step that depends on its key.
    """
    limit = world.limit if limit is None else limit
    step = _stepper(world)
    numbers: dict[bytes, int] = {}
    levels: list[np.ndarray] = []
    following: list[bytes] = []

    def add(states: np.ndarray) -> np.ndarray:
        """Number the new states, and return them."""
        rows = [row.tobytes() for row in states]
        first = {row: i for i, row in reversed(list(enumerate(rows)))}
        new = np.array(sorted(i for row, i in first.items() if row not in numbers), dtype=np.int64)
        if len(numbers) + len(new) > limit:
            raise UserError(
                f"{world.id} has more than {limit:,} states: raise the limit, or learn its skills "
                f"without a table"
            )
        numbers.update({rows[i]: len(numbers) + n for n, i in enumerate(new)})
        levels.append(states[new])
        return states[new]

    frontier = add(np.array(list(starts), dtype=np.int32).reshape(-1, len(world.space)))
    n_starts = len(frontier)
    if not n_starts:
        raise UserError(f"{world.id} names no state to start from")
    while len(frontier):
        flat = step(frontier).reshape(-1, len(world.space))
        following += [row.tobytes() for row in flat]
        frontier = add(flat)

    values = np.concatenate(levels)
    shape = (len(values), len(world.actions), 1)
    successors = np.array([numbers[row] for row in following], dtype=np.int32).reshape(shape)
    mdp = TabularMDP(
        space=world.space,
        values=values,
        successors=successors,
        probabilities=np.ones(shape),
        marks=np.full(shape, -1, dtype=np.int32),
        again=successors.copy(),
        marks_in=np.zeros(len(values), dtype=np.int32),
        n_marks=0,
        actions=tuple(world.actions),
    )
    return EnumeratedWorld(world, mdp, n_starts)


def _stepper(world: JaxWorld) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from states to their successors, int32 [n, n_actions, n_variables]."""
    actions = jnp.arange(len(world.actions))
    keys = jax.random.split(jax.random.key(0), 2)  # two keys, to detect random outcomes

    @jax.jit
    def successors(key: jax.Array, states: jax.Array) -> jax.Array:
        step = jax.vmap(world.step, in_axes=(None, None, 0))
        return jax.vmap(step, in_axes=(None, 0, None))(key, states, actions)

    def step_batch(states: np.ndarray) -> np.ndarray:
        padded = np.concatenate([states, np.repeat(states[:1], _BATCH - len(states), axis=0)])
        after, again = (np.asarray(successors(key, padded))[: len(states)] for key in keys)
        if (after != again).any():
            state, action, _ = np.argwhere(after != again)[0]
            raise UserError(
                f"{world.id}: {world.actions[action]!r} in state "
                f"{world.space.labels(states[state])} has a random outcome; only deterministic "
                f"worlds can be enumerated"
            )
        return after

    return lambda states: np.concatenate(
        [step_batch(states[i : i + _BATCH]) for i in range(0, len(states), _BATCH)]
    )
