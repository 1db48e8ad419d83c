"""Worlds on maps with too many states for a table: rooms full of tools, and visible mud."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import State, Variable
from skillfocus.world import Outcome, constructor_arguments
from skillfocus.worlds.four_rooms import MAP, FourRooms
from skillfocus.worlds.grid import ACTIONS, FREE, Cell, GridWorld, Map
from skillfocus.worlds.jax.world import JaxWorld, jax, jnp
from skillfocus.worlds.mud_world import MAP as MUD_MAP
from skillfocus.worlds.mud_world import TREASURE, MudWorld

# -------------------- Grid worlds in JAX: the moves and slips of `worlds/grid.py` as arrays
#
# A subclass implements what happens when the agent enters a cell (`enter`); moves are looked up.
# Like `worlds/jax/world.py`, this module imports JAX only when a world steps.


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
    and `enter`. `Rooms` is a short example.
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
        numbers = np.arange(n_cells, dtype=np.int32)
        targets = np.tile(numbers[:, None, None], (1, len(ACTIONS), 4))
        probabilities = np.zeros(targets.shape)
        for i, cell in enumerate(self.map.cells):
            reached = [Outcome(1.0, (self.map.index[self.map.move(cell, d)],)) for d in range(4)]
            for action in range(len(ACTIONS)):
                for slot, outcome in enumerate(self.with_slips(action, reached)):
                    (targets[i, action, slot],) = outcome.state
                    probabilities[i, action, slot] = outcome.probability
        sums = np.cumsum(probabilities, axis=2)
        return Moves(targets, np.where(sums > 1 - 1e-9, 1, sums).astype(np.float32))

    def index_among(self, cells: Sequence[Cell]) -> np.ndarray:
        """Return each cell's place among some cells, int32 [n_cells]; -1 for none."""
        index = np.full(len(self.map.cells), -1, dtype=np.int32)
        index[[self.map.index[cell] for cell in cells]] = np.arange(len(cells))
        return index

    def sample_start(
        self, key_cell: jax.Array, key_share: jax.Array, key_flags: jax.Array, n: int
    ) -> tuple[jax.Array, jax.Array]:
        """Sample a cell, int32 [1], and flags, int32 [n]: first which share of them, then which."""
        cell = jax.random.randint(key_cell, (1,), 0, len(self.map.cells), jnp.int32)
        share = jax.random.uniform(key_share)
        return cell, (jax.random.uniform(key_flags, (n,)) < share).astype(jnp.int32)

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """Sample a move and enter its cell."""
        return self.outcome(state, action, jax.random.uniform(key, dtype="float32"))

    def outcome(self, state: jax.Array, action: jax.Array, u: jax.Array) -> jax.Array:
        """Return the next state after an action, for a uniform sample `u` from [0, 1)."""
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
        raise self.no_table()


# --------------------
#
# FourRooms with many tools, and blocks of four rooms: too many states for a table.
#
# Variables   position (free cells), tool_1 … tool_n (0, or 1 once picked up; never put back)
# Actions     up, right, down, left; they slip
# Starts      every cell; each environment samples the probability that a tool is picked up, so
#             that few and many such tools both occur
# Versions    v0: the map and the slip probability of the paper's Figure 1
#
# The tools of `ToolRooms` and `RoomBlocks` are placed by `place_tools`. With four tools `ToolRooms`
# is FourRooms itself.

MAX_BLOCKS = 16
"""Most blocks of rooms per side."""
DOOR_ROWS, DOOR_COLUMNS = (3, 10), (2, 9)
"""Rows and columns of the doors between neighboring blocks."""


class Rooms(JaxGridWorld, FourRooms):
    """Pick up tools on any map: `Rooms(drawing)` has the dynamics of `FourRooms(drawing)`."""

    id = "Rooms-v0"

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that recreate this world."""
        return constructor_arguments(self, drawing=self.drawn, tools=len(self.tools))

    @property
    def one_way(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The tools, which are never put back."""
        return self.goals

    @cached_property
    def tool_at(self) -> np.ndarray:
        """Index of the tool at each cell, int32 [n_cells]; -1 for none."""
        return self.index_among(self.tools)

    def reset(self, key: jax.Array) -> jax.Array:
        """Sample a cell, the share of tools that are picked up, and which ones."""
        at_cell, share, at_tools = jax.random.split(key, 3)
        return jnp.concatenate(self.sample_start(at_cell, share, at_tools, len(self.tools)))

    def enter(self, cell: jax.Array, others: jax.Array) -> jax.Array:
        """Pick up a tool."""
        here = jnp.arange(len(self.tools)) == jnp.asarray(self.tool_at)[cell]
        return others | here.astype(jnp.int32)


class ToolRooms(Rooms):
    """The paper's four rooms with any number of tools: `sf.make("tool-rooms", tools=16)`.

    The paper's four tools come first; `place_tools` adds the others.
    """

    id = "ToolRooms-v0"

    def __init__(self, tools: int = 16, slip: float = 0.1, step_limit: int = 40) -> None:
        """Make four rooms with tools.

        Args:
            tools: Number of tools.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: Maximum steps of a skill.
        """
        super().__init__(place_tools(MAP, tools), slip, step_limit)


class RoomBlocks(Rooms):
    """Blocks of four rooms, side by side: `sf.make("room-blocks", blocks=2, tools=32)`.

    Neighboring blocks share a wall with two doors per block.
    """

    id = "RoomBlocks-v0"

    def __init__(
        self, blocks: int = 2, tools: int = 32, slip: float = 0.1, step_limit: int = 80
    ) -> None:
        """Make a square of blocks.

        Args:
            blocks: Blocks per side; the square has `blocks` ** 2 of them.
            tools: Number of tools.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: Maximum steps of a skill.
        """
        self.blocks = blocks
        super().__init__(place_tools(block_map(blocks), tools), slip, step_limit)


def block_map(blocks: int) -> str:
    """Return the map of `blocks` × `blocks` blocks of the paper's four rooms, without tools."""
    if not 1 <= blocks <= MAX_BLOCKS:
        raise UserError(f"blocks is {blocks}; it must be 1 to {MAX_BLOCKS}")
    block = MAP.replace("T", FREE).strip().splitlines()
    pitch = len(block) - 1  # neighbors share a wall
    size = blocks * pitch + 1
    rows = [[block[r % pitch][c % pitch] for c in range(size)] for r in range(size)]
    for wall in range(pitch, size - 1, pitch):
        for start in range(0, size - 1, pitch):
            for row in DOOR_ROWS:
                rows[start + row][wall] = FREE
            for column in DOOR_COLUMNS:
                rows[wall][start + column] = FREE
    return "\n".join("".join(row) for row in rows)


def place_tools(drawing: str, tools: int) -> str:
    """Return a map with a given number of tools, spread out.

    Tools in the drawing come first, in reading order. Each further one goes to the cell that is
    farthest from the nearest tool, in steps; ties are broken in reading order. Doorways are left
    out, and cells that would disconnect the cells without tools, so that every tool can be reached
    without picking up another.

    Args:
        drawing: The map; `T` is a tool.
        tools: Number of tools.

    Raises:
        UserError: If the map is too small.
    """
    if tools < 1:
        raise UserError(f"tools is {tools}; it must be at least 1")
    grid = Map(drawing, FourRooms.legend)
    chosen = grid.find("T")[:tools]
    while len(chosen) < tools:
        free = [cell for cell in grid.cells if cell not in chosen]
        away = grid.distances(chosen)
        free.sort(key=lambda cell: -away.get(cell, 0))  # stable: equals stay in reading order
        cell = next((cell for cell in free if _may_hold_tool(grid, chosen, cell)), None)
        if cell is None:
            raise UserError(f"tools is {tools}; this map has room for {len(chosen)}")
        chosen.append(cell)
    rows = [list(row.replace("T", FREE)) for row in grid.rows]
    for row, column in chosen:
        rows[row][column] = "T"
    return "\n".join("".join(row) for row in rows)


def _may_hold_tool(grid: Map, chosen: list[Cell], cell: Cell) -> bool:
    """Return whether cells without tools stay connected, and adjacent to every tool."""
    if {d for d in range(4) if grid.move(cell, d) != cell} in ({0, 2}, {1, 3}):  # a doorway
        return False
    tools = {*chosen, cell}
    without = [other for other in grid.cells if other not in tools]
    if not without or len(grid.distances(without[:1], tools)) < len(without):
        return False
    return all(any(grid.move(tool, d) not in tools for d in range(4)) for tool in tools)


# --------------------
#
# MudWorld with visible mud: a flag per vacant cell instead of a count.
#
# Variables   position, muddy (0/1), treasure (1: collected), and mud_R_C for each vacant cell in
#             row R and column C (1: muddy; never cleaned)
# Actions     up, right, down, left; they slip
# Arrival     as in MudWorld: mud or the treasure's cell makes the agent muddy; the puddle cleans
#             it; a muddy agent that enters a vacant cell leaves mud there
# Starts      every cell, muddy or not, with the treasure or not; each environment samples the
#             probability that a cell is muddy
# Versions    v0: the map and the slip probability of the paper's Figure 1
#
# Nothing is hidden: MudWorld's hidden marks are variables here. Its `muddy_cells` is the number of
# flags that are set, without an upper limit.

FIRST_FLAG = 3
"""Index of the first flag; those before it are position, muddy and treasure."""
TRACKED = ","
"""Glyph of a vacant cell with mud."""


class VisibleMud(JaxGridWorld):
    """Fetch a treasure without leaving tracks, seeing them: `sf.make("visible-mud")`."""

    id = "VisibleMud-v0"
    legend = MudWorld.legend
    showcase_cell = MudWorld.showcase_cell

    def __init__(self, drawing: str = MUD_MAP, slip: float = 0.1, step_limit: int = 20) -> None:
        """Make a MudWorld with a flag per vacant cell.

        Args:
            drawing: The map; `M` is mud, `X` the treasure, `W` the puddle.
            slip: Probability that a move goes in one of the other three directions.
            step_limit: Maximum steps of a skill.
        """
        super().__init__(drawing, slip, step_limit)

    def other_variables(self) -> Iterable[Variable]:
        """Yield muddy, treasure and a flag per vacant cell."""
        for glyph in self.legend:
            self.map.require(glyph)
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
        return self.index_among(self.vacant)

    def reset(self, key: jax.Array) -> jax.Array:
        """Sample a cell, whether the agent is muddy and has the treasure, and the muddy cells."""
        at_cell, at_agent, share, at_flags = jax.random.split(key, 4)
        cell, muddy = self.sample_start(at_cell, share, at_flags, len(self.vacant))
        agent = jax.random.bernoulli(at_agent, shape=(2,))
        return jnp.concatenate([cell, agent.astype(jnp.int32), muddy])

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
