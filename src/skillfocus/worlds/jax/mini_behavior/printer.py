"""InstallingAPrinter: carry a printer to a table and switch it on.

Variables   agent (30 free cells), direction, printer_position (36 cells, or carried), printer_on,
            printer_ready, table_clean
Actions     left, right, forward, pickup, drop, toggle, clean
Start       agent at (4, 4) facing right, printer on the floor at (5, 6), switched off, table dirty
Versions    v0: the room of SkiLD's experiments

The printer can be toggled in front of the agent or in its hands. It is ready one step after it is
on the table, switched on, and the table clean; from then on it stays ready.
The table is cleaned by facing it, and stays clean.
"""

from __future__ import annotations

from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.lazy import jax, jnp
from skillfocus.worlds.jax.mini_behavior.room import (
    WALL,
    Room,
    RoomWorld,
    agent_variables,
    pack,
    position_variable,
)

MAP = """
########
#......#
#TTT...#
#TTT...#
#......#
#......#
#......#
########
"""
ROOM = Room(MAP, {"T": "table"})
ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "clean")
PICKUP, DROP, TOGGLE, CLEAN = range(3, 7)


class InstallingAPrinter(RoomWorld):
    """Install a printer: `InstallingAPrinter(starts="varied")`."""

    id = "MiniBehaviorPrinter-v0"
    actions = ACTIONS
    room = ROOM
    space = Space(
        (
            *agent_variables(ROOM),
            position_variable("printer_position", ROOM),
            Variable("printer_on", (0, 1)),
            Variable("printer_ready", (0, 1)),
            Variable("table_clean", (0, 1)),
        )
    )
    one_way = ("printer_ready", "table_clean")
    step_limit = 50
    episode_length = 150
    start = {"agent": (4, 4), "direction": "right", "printer_position": (5, 6)}

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """Return the next state after an action."""
        del key
        agent, direction, printer, on, ready, clean = state
        on_table = jnp.asarray(self.room.on("table"))[printer]
        ready = jnp.where(on_table & (on == 1) & (clean == 1), 1, ready)

        front = self.room.front(agent, direction)
        carried = printer == self.room.n_cells
        picked_up = (action == PICKUP) & (printer == front)
        dropped = (action == DROP) & carried & (front != WALL)
        toggled = (action == TOGGLE) & (carried | (printer == front))
        cleaned = (action == CLEAN) & self.room.faces("table", agent, direction)
        agent, direction = self.room.walk(agent, direction, action, printer == front)
        return pack(
            self.space,
            agent=agent,
            direction=direction,
            printer_position=jnp.where(
                picked_up, self.room.n_cells, jnp.where(dropped, front, printer)
            ),
            printer_on=jnp.where(toggled, 1 - on, on),
            printer_ready=ready,
            table_clean=jnp.where(cleaned, 1, clean),
        )

    def draw_start(self, key: jax.Array) -> jax.Array:
        """Sample every variable; the printer is ready only if the table is clean.

        The printer is on the table, on the floor or carried, with probability 1/3 each.
        """
        keys = jax.random.split(key, 5)
        weights = jnp.asarray(self.room.log_weights(["table"]))
        printer = jax.random.categorical(keys[0], weights)
        on = jax.random.randint(keys[3], (), 0, 2)
        progress = jax.random.randint(keys[4], (), 0, 3)  # dirty, clean, clean and ready
        on_table = jnp.asarray(self.room.on("table"))[printer]
        return pack(
            self.space,
            agent=self.room.draw_agent(keys[1], printer[None]),
            direction=jax.random.randint(keys[2], (), 0, 4),
            printer_position=printer,
            printer_on=on,
            printer_ready=(progress == 2) | (on_table & (on == 1) & (progress == 1)),
            table_clean=progress >= 1,
        )
