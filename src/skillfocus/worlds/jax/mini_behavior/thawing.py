"""ThawingFrozenFood: take food from a fridge and thaw it in a sink.

Variables   agent (56 free cells), direction, fridge_open, sink_on; for each of olive, fish and date
            its position (64 cells, carried, or above a cell of the sink) and how frozen it is, 0–5
Actions     left, right, forward, open, close, toggle (the sink), pickup, drop_olive, drop_fish,
            drop_date
Start       agent at (6, 3) facing right, fridge closed, sink off, all food frozen (5) in the fridge
Versions    v0: the room of SkiLD's experiments

Every step, food in the fridge, open or closed, freezes by one level; food in the sink thaws by one
while the sink is on. A closed fridge neither gives nor takes food. `pickup` takes olive before fish
before date.

Food dropped onto a cell of the sink that holds food already lies *above* the sink: it does not
thaw, and stays above even after the food below is taken away, until it is picked up itself.
"""

from __future__ import annotations

import numpy as np

from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.lazy import jax, jnp
from skillfocus.worlds.jax.mini_behavior.room import (
    ABSENT,
    WALL,
    Room,
    RoomWorld,
    agent_variables,
    level_variable,
    position_variable,
)

MAP = """
##########
#........#
#........#
#..FF....#
#..FF....#
#........#
#.....SS.#
#.....SS.#
#........#
##########
"""
ROOM = Room(MAP, {"F": "fridge", "S": "sink"})
FOODS = ("olive", "fish", "date")
DROPS = tuple(f"drop_{food}" for food in FOODS)
ACTIONS = ("left", "right", "forward", "open", "close", "toggle", "pickup", *DROPS)
OPEN, CLOSE, TOGGLE, PICKUP, DROP = range(3, 8)
"""DROP drops the first food, DROP + 1 the second, …"""
ABOVE = tuple(f"above {cell}" for cell in ROOM.cells_of("sink"))
"""The values of a position above a cell of the sink."""


def _cell_numbers() -> np.ndarray:
    """Return the number of the cell of each position, int [n_positions]."""
    sink = np.flatnonzero(ROOM.on("sink", extra=0))
    return np.concatenate([np.arange(ROOM.n_cells), [ABSENT], sink])


def _dropped_above() -> np.ndarray:
    """Return the position above each cell, int [n_cells]; the cell itself if it is not a sink's."""
    above = np.arange(ROOM.n_cells)
    above[ROOM.on("sink", extra=0)] = ROOM.n_cells + 1 + np.arange(len(ABOVE))
    return above


class ThawingFrozenFood(RoomWorld):
    """Thaw frozen food: `ThawingFrozenFood(starts="varied")`."""

    id = "MiniBehaviorThawing-v0"
    actions = ACTIONS
    room = ROOM
    space = Space(
        (
            *agent_variables(ROOM),
            Variable("fridge_open", (0, 1)),
            Variable("sink_on", (0, 1)),
            *(position_variable(f"{food}_position", ROOM, ABOVE) for food in FOODS),
            *(level_variable(f"{food}_frozen") for food in FOODS),
        )
    )
    step_limit = 70
    episode_length = 300
    start = {
        "agent": (6, 3),
        "direction": "right",
        "olive_position": (3, 3),
        "fish_position": (4, 3),
        "date_position": (3, 4),
        "olive_frozen": 5,
        "fish_frozen": 5,
        "date_frozen": 5,
    }

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """Return the next state after an action."""
        del key
        agent, direction, fridge, sink = state[:4]
        food, frozen = state[4:7], state[7:]
        in_fridge = jnp.asarray(self.room.on("fridge", 1 + len(ABOVE)))[food]
        in_sink = jnp.asarray(self.room.on("sink", 1 + len(ABOVE)))[food]
        frozen = jnp.clip(frozen + in_fridge - (in_sink & (sink == 1)), 0, 5)

        front = self.room.front(agent, direction)
        at_fridge = self.room.faces("fridge", agent, direction)
        at_sink = self.room.faces("sink", agent, direction)
        in_front = jnp.asarray(_cell_numbers(), jnp.int32)[food] == front  # [n_foods]
        closed = at_fridge & (fridge == 0)

        within_reach = in_front & ~closed
        first = within_reach & (jnp.cumsum(within_reach) == 1)
        picked_up = (action == PICKUP) & first
        dropped = (
            (action == DROP + jnp.arange(len(FOODS)))
            & (food == self.room.n_cells)
            & (front != WALL)
            & ~closed
        )
        landing = jnp.where(in_front.any(), jnp.asarray(_dropped_above(), jnp.int32)[front], front)
        food = jnp.where(picked_up, self.room.n_cells, jnp.where(dropped, landing, food))

        agent, direction = self.room.walk(agent, direction, action, in_front.any())
        fridge = jnp.where(
            at_fridge & ((action == OPEN) | (action == CLOSE)), action == OPEN, fridge
        )
        sink = jnp.where(at_sink & (action == TOGGLE), 1 - sink, sink)
        head = jnp.stack([agent, direction, fridge, sink])
        return jnp.concatenate([head, food, frozen]).astype(jnp.int32)

    def draw_start(self, key: jax.Array) -> jax.Array:
        """Sample every variable.

        Each food is in the fridge, in the sink, on the floor or carried, with probability 1/4 each.
        """
        keys = jax.random.split(key, 6)
        weights = jnp.asarray(self.room.log_weights(["fridge", "sink"], 1 + len(ABOVE)))
        food = jax.random.categorical(keys[0], weights, shape=(len(FOODS),)).astype(jnp.int32)
        shared = jnp.tril(food[:, None] == food, k=-1).any(axis=1) & (food < self.room.n_cells)
        above = jnp.asarray(_dropped_above(), jnp.int32)[jnp.minimum(food, self.room.n_cells - 1)]
        food = jnp.where(shared, above, food)
        cells = jnp.asarray(_cell_numbers(), jnp.int32)[food]
        head = [
            self.room.draw_agent(keys[1], cells),
            jax.random.randint(keys[2], (), 0, 4),
            jax.random.randint(keys[3], (), 0, 2),
            jax.random.randint(keys[4], (), 0, 2),
        ]
        frozen = jax.random.randint(keys[5], (len(FOODS),), 0, 6)
        return jnp.concatenate([jnp.stack(head), food, frozen]).astype(jnp.int32)
