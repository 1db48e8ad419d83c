"""MudWorld with visible mud: a flag per vacant cell instead of a count.

Variables   position, muddy (0/1), treasure (1: collected), and mud_R_C for each vacant cell in row
            R and column C (1: muddy; never cleaned)
Actions     up, right, down, left; they slip
Arrival     as in MudWorld: mud or the treasure's cell makes the agent muddy; the puddle cleans it;
            a muddy agent that enters a vacant cell leaves mud there
Starts      every cell, muddy or not, with the treasure or not; each environment samples the
            probability that a cell is muddy
Versions    v0: the map and the slip probability of the paper's Figure 1

Nothing is hidden: MudWorld's hidden marks are variables here. Its `muddy_cells` is the number of
flags that are set, without an upper limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import State, Variable
from skillfocus.worlds.grid import FREE, Cell
from skillfocus.worlds.jax.lazy import jax, jnp
from skillfocus.worlds.jax.rooms import JaxGridWorld
from skillfocus.worlds.mud_world import MAP, TREASURE, MudWorld

FIRST_FLAG = 3
"""Index of the first flag; those before it are position, muddy and treasure."""
TRACKED = ","
"""Glyph of a vacant cell with mud."""


class VisibleMud(JaxGridWorld):
    """Fetch a treasure without leaving tracks, seeing them: `sf.make("visible-mud")`."""

    id = "VisibleMud-v0"
    legend = MudWorld.legend
    showcase_cell = MudWorld.showcase_cell

    def __init__(self, drawing: str = MAP, slip: float = 0.1, step_limit: int = 20) -> None:
        """Make a MudWorld with a flag per vacant cell.

        Args:
            drawing: The map; `M` is mud, `X` the treasure, `W` the puddle.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: Maximum steps of a skill.
        """
        super().__init__(drawing, slip, step_limit)

    def other_variables(self) -> Iterable[Variable]:
        """Yield muddy, treasure and a flag per vacant cell."""
        for glyph, what in self.legend.items():
            if not self.map.find(glyph):
                raise UserError(f"the map has no {what} {glyph!r}")
        self.vacant = self.map.find(FREE)
        yield Variable("muddy", (0, 1))
        yield Variable("treasure", (0, 1))
        for row, column in self.vacant:
            yield Variable(f"mud_{row}_{column}", (0, 1), scale=float(len(self.vacant)))

    @property
    def goals(self) -> tuple[str, ...]:
        """The treasure."""
        return ("treasure",)

    @property
    def one_way(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The treasure and the flags, which are never reset."""
        return self.space.names[TREASURE:]

    @cached_property
    def _effects(self) -> np.ndarray:
        """Whether a cell makes muddy, cleans, or holds the treasure, bool [3, n_cells]."""
        glyphs = np.array([self.map.glyph(cell) for cell in self.map.cells])
        return np.stack([(glyphs == "M") | (glyphs == "X"), glyphs == "W", glyphs == "X"])

    @cached_property
    def _flag_of(self) -> np.ndarray:
        """Index of each cell's flag, int32 [n_cells]; -1 for none."""
        flag_of = np.full(len(self.map.cells), -1, dtype=np.int32)
        flag_of[[self.map.index[cell] for cell in self.vacant]] = np.arange(len(self.vacant))
        return flag_of

    def reset(self, key: jax.Array) -> jax.Array:
        """Sample a cell, whether the agent is muddy and has the treasure, and the muddy cells."""
        at_cell, at_agent, share, at_flags = jax.random.split(key, 4)
        cell = jax.random.randint(at_cell, (1,), 0, len(self.map.cells), jnp.int32)
        agent = jax.random.bernoulli(at_agent, shape=(2,))
        likely = jax.random.uniform(share)
        muddy = jax.random.uniform(at_flags, (len(self.vacant),)) < likely
        return jnp.concatenate([cell, agent.astype(jnp.int32), muddy.astype(jnp.int32)])

    def enter(self, cell: jax.Array, others: jax.Array) -> jax.Array:
        """Get muddy or clean, collect the treasure, or leave a track."""
        muddies, cleans, has_treasure = jnp.asarray(self._effects)[:, cell]
        muddy, treasure, flags = others[0], others[1], others[2:]
        muddy = jnp.where(cleans, 0, jnp.where(muddies, 1, muddy))
        here = jnp.arange(len(self.vacant)) == jnp.asarray(self._flag_of)[cell]
        tracks = (here & (muddy == 1)).astype(jnp.int32)
        agent = jnp.stack([muddy, jnp.where(has_treasure, 1, treasure)])
        return jnp.concatenate([agent, flags | tracks])

    def muddy_cells(self, values: jax.Array) -> jax.Array:
        """Return the number of muddy vacant cells.

        Args:
            values: Value indices, int32 [..., n_variables].
        """
        return values[..., FIRST_FLAG:].sum(axis=-1)

    def draw(self, state: State) -> str:
        """Return the map with the agent as `@` and tracks as `,`, followed by the variables."""
        drawn = super().draw(state).splitlines()[: len(self.map.rows) + 2]
        return "\n".join([*drawn, f"muddy_cells={sum(state[FIRST_FLAG:])}"])

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Show tracks, and mud where the treasure was collected."""
        flag = self._flag_of[self.map.index[cell]]
        if flag >= 0:
            return TRACKED if state[FIRST_FLAG + flag] else FREE
        collected = self.map.glyph(cell) == "X" and state[TREASURE] == 1
        return "M" if collected else super().glyph_now(cell, state)
