"""`enumerate_world`: a small JAX world as a finite one, to compare networks with exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.spaces import State
from skillfocus.world import Outcome, World
from skillfocus.worlds.jax.world import JaxWorld

_BATCH = 1024
"""States per call; a fixed number, so that `step` is compiled once."""


class EnumeratedWorld(World):
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
        self.id, self.space, self.actions = world.id, world.space, world.actions
        self.world, self.step_limit, self.fixed = world, world.step_limit, world.fixed
        self.limit = max(world.limit, mdp.n_states)
        self.mdp = self._mdp = mdp
        self.n_starts = n_starts

    @property
    def default_target(self) -> str:
        """As in the JAX world."""
        return self.world.default_target

    @property
    def goals(self) -> tuple[str, ...]:
        """As in the JAX world."""
        return self.world.goals

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
