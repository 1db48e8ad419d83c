"""Base of the Mini-BEHAVIOR worlds: a room, an agent that turns and walks, things it carries.

Rules of all three worlds, which match the original step by step:

- The agent stands on a free cell and has a direction. It turns, or walks to the cell in front of it
  unless a wall, furniture or a thing is there. It acts only on the cell in front of it, or on what
  it carries.
- It can carry several things at once. `pickup` takes one thing from the cell in front, the first in
  the world's list. A dropped thing lands in front of the agent; things may share a cell.
- Within a step, processes (freezing, soaking, …) come first and depend on the state before the
  action; the action follows. So a drop has its effect one step later.

The original stacks things on three levels of a cell, and samples the level where two are free.
Levels have no effect on these variables, so the worlds here are deterministic.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Variable
from skillfocus.world import constructor_arguments
from skillfocus.worlds.grid import Cell, Map
from skillfocus.worlds.jax.world import JaxWorld, jax, jnp

LEFT, RIGHT, FORWARD = range(3)
"""The first three actions of every world; LEFT and RIGHT turn the agent."""
DIRECTIONS = ("right", "down", "left", "up")
MOVES: tuple[Cell, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""The change of row and column in each direction."""
WALL = -1
"""In place of a cell number: no cell."""
CARRIED = "carried"
"""Position of a thing that the agent carries."""
ABSENT = -2
"""In place of a cell number: the thing is carried."""
LEVELS = tuple(range(6))
"""The values of a variable such as how frozen food is."""
Starts = Literal["task", "varied"]


class Room(Map):
    """A room drawn as a map, with furniture; cells are numbered in reading order.

    Attributes:
        free: The cells without furniture, where the agent may stand.
        n_cells: Number of cells; also the number of the position `CARRIED`.
    """

    def __init__(self, drawing: str, furniture: Mapping[str, str]) -> None:
        """Parse a drawing.

        Args:
            drawing: `#` is a wall, `.` a free cell, anything else furniture.
            furniture: The name of each glyph.
        """
        super().__init__(drawing, furniture)
        self.n_cells = len(self.cells)
        self.free = self.cells_of("free")
        ahead = [[(r + dr, c + dc) for dr, dc in MOVES] for r, c in self.free]
        stand = {cell: i for i, cell in enumerate(self.free)}
        self._front = np.array([[self.index.get(cell, WALL) for cell in row] for row in ahead])
        self._next = np.array(
            [[stand.get(cell, i) for cell in row] for i, row in enumerate(ahead)]
        )  # the agent stays where it is in front of walls and furniture

    def agent_variables(self) -> tuple[Variable, Variable]:
        """Return the first two variables of every world."""
        return Variable("agent", self.free), Variable("direction", DIRECTIONS)

    def position(self, name: str, extra: Sequence[str] = ()) -> Variable:
        """Return the position of a thing: any cell, `CARRIED`, or an `extra` value."""
        return Variable(name, (*self.cells, CARRIED, *extra))

    def cells_of(self, furniture: str) -> tuple[Cell, ...]:
        """Return the cells of a piece of furniture, or those that are "free"."""
        return tuple(c for c in self.cells if self.legend.get(self.glyph(c), "free") == furniture)

    def on(self, furniture: str, extra: int = 1) -> np.ndarray:
        """Return which positions are cells of a piece of furniture, bool [n_cells + extra].

        Args:
            furniture: Its name, or "free".
            extra: Number of further positions, which are False.
        """
        inside = self.cells_of(furniture)
        return np.array([cell in inside for cell in self.cells] + [False] * extra)

    def front(self, agent: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the number of the cell in front of the agent, or `WALL`."""
        return jnp.asarray(self._front, jnp.int32)[agent, direction]

    def faces(self, furniture: str, agent: jax.Array, direction: jax.Array) -> jax.Array:
        """Return whether a piece of furniture is in front of the agent."""
        in_front = self.on(furniture)[self._front] & (self._front != WALL)
        return jnp.asarray(in_front)[agent, direction]

    def walk(
        self, agent: jax.Array, direction: jax.Array, action: jax.Array, blocked: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Turn or move the agent.

        Args:
            agent: Number of its free cell.
            direction: Its direction.
            action: The action; anything but the first three changes nothing.
            blocked: Whether a thing is in front of it.

        Returns:
            The agent and its direction.
        """
        ahead = jnp.asarray(self._next, jnp.int32)[agent, direction]
        turn = jnp.where(action == RIGHT, 1, jnp.where(action == LEFT, -1, 0))
        return jnp.where((action == FORWARD) & ~blocked, ahead, agent), (direction + turn) % 4

    def draw_agent(self, key: jax.Array, things: jax.Array) -> jax.Array:
        """Sample a free cell for the agent on which no thing lies.

        Args:
            key: A random key.
            things: Numbers of the things' cells, int32 [n_things].
        """
        taken = (jnp.asarray(np.flatnonzero(self.on("free")))[:, None] == things).any(axis=1)
        return jax.random.categorical(key, jnp.where(taken, -jnp.inf, 0.0)).astype(jnp.int32)

    def log_weights(self, kinds: Sequence[str], extra: int = 1) -> np.ndarray:
        """Return log weights to sample a thing's position with.

        All kinds of places have equal probability: pieces of furniture, the floor, and the hand.

        Args:
            kinds: Names of furniture on which the thing may lie.
            extra: Number of positions beyond the cells; the first is `CARRIED`.

        Returns:
            float64 [n_cells + extra].
        """
        hand = np.arange(self.n_cells + extra) == self.n_cells
        masks = np.array([*(self.on(name, extra) for name in (*kinds, "free")), hand])
        with np.errstate(divide="ignore"):
            return np.log((masks / masks.sum(axis=1, keepdims=True)).sum(axis=0))


class RoomWorld(JaxWorld):
    """A world of Mini-BEHAVIOR. Its state is the value indices, int32 [n_variables]."""

    room: Room
    """The room."""
    episode_length: int
    """Steps of an episode of the benchmark; `step_limit` is for one skill."""
    start: Mapping[str, Hashable]
    """First state of the benchmark's episodes; variables not named have their first value."""

    def __init__(self, starts: Starts = "task") -> None:
        """Make the world.

        Args:
            starts: Distribution of `reset`. "task": the first state of the benchmark's episodes.
                "varied": random places, levels and switches, so that a learner visits every part of
                the world without exploration. These states satisfy the world's invariants, but some
                are not reachable: a process such as thawing may be under way with the agent farther
                off than it could have walked.

        Raises:
            UserError: If `starts` is neither.
        """
        if starts not in get_args(Starts):
            raise UserError(f'starts must be "task" or "varied", got {starts!r}')
        self.starts: Starts = starts
        self.task_start = self.space.state(**self.start)

    @property
    def settings(self) -> dict[str, object]:
        """The starts."""
        return constructor_arguments(self)

    @property
    def default_target(self) -> str:
        """The agent's position."""
        return "agent"

    @property
    def goals(self) -> tuple[str, ...]:
        """All variables but those of the agent itself."""
        return self.space.names[2:]

    def reset(self, key: jax.Array) -> jax.Array:
        """Return the start of the task, or sample a varied one."""
        if self.starts == "task":
            return jnp.array(self.task_start, jnp.int32)
        return self.draw_start(key)

    def pack(self, **values: jax.Array) -> jax.Array:
        """Return the state with these values, int32 [n_variables]."""
        return jnp.stack([jnp.asarray(values[name], jnp.int32) for name in self.space.names])

    def takes(self, name: str, action: jax.Array) -> jax.Array:
        """Return whether an action is the one of a name."""
        return action == self.actions.index(name)

    def handle(
        self,
        action: jax.Array,
        things: jax.Array,
        in_reach: jax.Array,
        drops: Sequence[str],
        can_drop: jax.Array,
        landing: jax.Array,
    ) -> jax.Array:
        """Pick up the first thing in reach, or drop one that is carried.

        Args:
            action: The action.
            things: Their positions, int32 [n_things].
            in_reach: Which can be picked up, bool [n_things].
            drops: Per thing, the name of the action that drops it.
            can_drop: Whether there is room for it.
            landing: The position of a dropped thing.

        Returns:
            Their positions afterwards.
        """
        hand = self.room.n_cells
        first = in_reach & (jnp.cumsum(in_reach) == 1)
        dropping = action == jnp.array([self.actions.index(name) for name in drops])
        dropped = (things == hand) & can_drop & dropping
        picked_up = first & self.takes("pickup", action)
        return jnp.where(picked_up, hand, jnp.where(dropped, landing, things))

    @abstractmethod
    def draw_start(self, key: jax.Array) -> jax.Array:
        """Sample a varied start."""
