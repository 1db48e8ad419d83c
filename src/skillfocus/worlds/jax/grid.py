"""Grid worlds in JAX: the moves and slips of `worlds/grid.py` as arrays.

A subclass implements what happens when the agent enters a cell (`enter`); moves are looked up. Like
`worlds/jax/world.py`, this module imports JAX only when a world steps.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillfocus.core.world import Outcome
from skillfocus.worlds.grid import ACTIONS, Cell, GridWorld
from skillfocus.worlds.jax.world import JaxWorld

if TYPE_CHECKING:
    import jax


class Moves(NamedTuple):
    """Outcomes of moves, in the order of `GridWorld.transition`."""

    targets: np.ndarray
    """int32 [n_cells, n_actions, n_outcomes]: cells by number; the cell itself at a wall."""
    cumulative: np.ndarray
    """float32 [n_cells, n_actions, n_outcomes]: running sums of the probabilities, exactly 1 from
    the last possible outcome on."""


class JaxGridWorld(JaxWorld, GridWorld):
    """A world on a map whose state is the value indices of its variables, position first.

    A subclass sets `id`, `legend` and `showcase_cell`, and implements `other_variables`, `reset`
    and `enter`. `worlds/jax/rooms.py` is a short example.
    """

    max_variables = 10_000

    @abstractmethod
    def enter(self, cell: jax.Array, others: jax.Array) -> jax.Array:
        """Return the other variables after the agent has entered a cell.

        Args:
            cell: The cell, by number.
            others: Value indices of all variables but position, int32 [n_variables - 1].
        """

    @cached_property
    def moves(self) -> Moves:
        """The outcomes of all moves."""
        n_cells = len(self.map.cells)
        targets = np.broadcast_to(
            np.arange(n_cells, dtype=np.int32)[:, None, None], (n_cells, len(ACTIONS), 4)
        ).copy()
        probabilities = np.zeros(targets.shape)
        for i, cell in enumerate(self.map.cells):
            for action in range(len(ACTIONS)):
                for slot, (target, p) in enumerate(self._outcomes_of_move(cell, action).items()):
                    targets[i, action, slot] = self.map.index[target]
                    probabilities[i, action, slot] = p
        sums = np.cumsum(probabilities, axis=2)
        return Moves(targets, np.where(sums > 1 - 1e-9, 1, sums).astype(np.float32))

    def _outcomes_of_move(self, cell: Cell, action: int) -> dict[Cell, float]:
        """Return the probability of each cell in which a move may end."""
        merged: dict[Cell, float] = {}
        for direction in range(4):
            probability = 1 - self.slip if direction == action else self.slip / 3
            target = self.map.move(cell, direction)
            merged[target] = merged.get(target, 0.0) + probability
        return {target: p for target, p in merged.items() if p > 0}

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """Sample a move and enter its cell."""
        import jax

        return self.outcome(state, action, jax.random.uniform(key, dtype="float32"))

    def outcome(self, state: jax.Array, action: jax.Array, u: jax.Array) -> jax.Array:
        """Return the next state after an action, for a uniform sample `u` from [0, 1)."""
        import jax.numpy as jnp

        cell, others = state[0], state[1:]
        # Traced indices cannot index NumPy arrays.
        targets, cumulative = jnp.asarray(self.moves.targets), jnp.asarray(self.moves.cumulative)
        slot = (u >= cumulative[cell, action]).sum()
        target = targets[cell, action, slot]
        others = jnp.where(target == cell, others, self.enter(target, others))
        return jnp.concatenate([target[None], others])

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Raise `UserError`: `enter` takes its place."""
        del state, cell
        raise self._no_table()
