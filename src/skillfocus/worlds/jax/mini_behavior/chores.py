"""The three worlds: install a printer, thaw food, clean a car. All are deterministic."""

from __future__ import annotations

import numpy as np

from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.mini_behavior.room import ABSENT, LEVELS, WALL, Room, RoomWorld
from skillfocus.worlds.jax.world import jax, jnp

# --------------------
#
# InstallingAPrinter: carry a printer to a table and switch it on.
#
# Variables   agent (30 free cells), direction, printer_position (36 cells, or carried), printer_on,
#             printer_ready, table_clean
# Actions     left, right, forward, pickup, drop, toggle, clean
# Start       agent at (4, 4) facing right, printer on the floor at (5, 6), off, table dirty
# Versions    v0: the room of SkiLD's experiments
#
# The printer can be toggled in front of the agent or in its hands. It is ready one step after it is
# on the table, switched on, and the table clean; from then on it stays ready.
# The table is cleaned by facing it, and stays clean.

OFFICE_MAP = """
########
#......#
#TTT...#
#TTT...#
#......#
#......#
#......#
########
"""
OFFICE = Room(OFFICE_MAP, {"T": "table"})


class InstallingAPrinter(RoomWorld):
    """Install a printer: `InstallingAPrinter(starts="varied")`."""

    id = "MiniBehaviorPrinter-v0"
    actions = ("left", "right", "forward", "pickup", "drop", "toggle", "clean")
    room = OFFICE
    space = Space(
        (
            *OFFICE.agent_variables(),
            OFFICE.position("printer_position"),
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
        in_front = printer == front
        carried = printer == self.room.n_cells
        toggled = self.takes("toggle", action) & (carried | in_front)
        cleaned = self.takes("clean", action) & self.room.faces("table", agent, direction)
        (printer,) = self.handle(
            action, printer[None], in_front[None], ("drop",), front != WALL, front
        )
        agent, direction = self.room.walk(agent, direction, action, in_front)
        return self.pack(
            agent=agent,
            direction=direction,
            printer_position=printer,
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
        return self.pack(
            agent=self.room.draw_agent(keys[1], printer[None]),
            direction=jax.random.randint(keys[2], (), 0, 4),
            printer_position=printer,
            printer_on=on,
            printer_ready=(progress == 2) | (on_table & (on == 1) & (progress == 1)),
            table_clean=progress >= 1,
        )


# --------------------
#
# ThawingFrozenFood: take food from a fridge and thaw it in a sink.
#
# Variables   agent (56 free cells), direction, fridge_open, sink_on; for each of olive, fish and
#             date its position (64 cells, carried, or above a cell of the sink) and how frozen it
#             is, 0–5
# Actions     left, right, forward, open, close, toggle (the sink), pickup, drop_olive, drop_fish,
#             drop_date
# Start       agent at (6, 3) facing right, fridge closed, sink off, all food frozen (5) in it
# Versions    v0: the room of SkiLD's experiments
#
# Every step, food in the fridge, open or closed, freezes by one level; food in the sink thaws by
# one while the sink is on. A closed fridge neither gives nor takes food. `pickup` takes olive
# before fish before date.
#
# Food dropped onto a cell of the sink that holds food already lies *above* the sink: it does not
# thaw, and stays above even after the food below is taken away, until it is picked up itself.

KITCHEN_MAP = """
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
KITCHEN = Room(KITCHEN_MAP, {"F": "fridge", "S": "sink"})
FOODS = ("olive", "fish", "date")
DROPS = tuple(f"drop_{food}" for food in FOODS)
ABOVE = tuple(f"above {cell}" for cell in KITCHEN.cells_of("sink"))
"""The values of a position above a cell of the sink."""
_SINK = np.flatnonzero(KITCHEN.on("sink", extra=0))
_CELL_NUMBERS = np.array([*range(KITCHEN.n_cells), ABSENT, *_SINK], np.int32)
"""The number of the cell of each position, [n_positions]."""
_DROPPED_ABOVE = np.arange(KITCHEN.n_cells, dtype=np.int32)
"""The position above each cell, [n_cells]; the cell itself if it is not a sink's."""
_DROPPED_ABOVE[_SINK] = KITCHEN.n_cells + 1 + np.arange(len(ABOVE))


class ThawingFrozenFood(RoomWorld):
    """Thaw frozen food: `ThawingFrozenFood(starts="varied")`."""

    id = "MiniBehaviorThawing-v0"
    actions = ("left", "right", "forward", "open", "close", "toggle", "pickup", *DROPS)
    room = KITCHEN
    space = Space(
        (
            *KITCHEN.agent_variables(),
            Variable("fridge_open", (0, 1)),
            Variable("sink_on", (0, 1)),
            *(KITCHEN.position(f"{food}_position", ABOVE) for food in FOODS),
            *(Variable(f"{food}_frozen", LEVELS) for food in FOODS),
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
        **{f"{food}_frozen": 5 for food in FOODS},
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
        in_front = jnp.asarray(_CELL_NUMBERS)[food] == front  # [n_foods]
        closed = at_fridge & (fridge == 0)

        landing = jnp.where(in_front.any(), jnp.asarray(_DROPPED_ABOVE)[front], front)
        can_drop = (front != WALL) & ~closed
        food = self.handle(action, food, in_front & ~closed, DROPS, can_drop, landing)

        agent, direction = self.room.walk(agent, direction, action, in_front.any())
        opens, closes = self.takes("open", action), self.takes("close", action)
        fridge = jnp.where(at_fridge & (opens | closes), opens, fridge)
        sink = jnp.where(at_sink & self.takes("toggle", action), 1 - sink, sink)
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
        above = jnp.asarray(_DROPPED_ABOVE)[jnp.minimum(food, self.room.n_cells - 1)]
        food = jnp.where(shared, above, food)
        cells = jnp.asarray(_CELL_NUMBERS)[food]
        head = [
            self.room.draw_agent(keys[1], cells),
            jax.random.randint(keys[2], (), 0, 4),
            jax.random.randint(keys[3], (), 0, 2),
            jax.random.randint(keys[4], (), 0, 2),
        ]
        frozen = jax.random.randint(keys[5], (len(FOODS),), 0, 6)
        return jnp.concatenate([jnp.stack(head), food, frozen]).astype(jnp.int32)


# --------------------
#
# CleaningACar: soak a rag in the sink, wipe the car with it, wash the rag in a soaped bucket.
#
# Variables   agent (46 free cells), direction, rag_position and soap_position (64 cells, or
#             carried), rag_soak (0–5), rag_cleanness (0–5), car_stain, bucket_soaped, sink_on
# Actions     left, right, forward, pickup, toggle (the sink), drop_soap, drop_rag
# Start       agent at (4, 4) facing right, rag and soap on the shelf at (5, 6) and (6, 6), rag dry
#             (0) and clean (5), car stained, bucket without soap, sink off
# Versions    v0: the room of SkiLD's experiments
#
# Every step, in this order:
#
# 1. If the rag lies on the stained car and is soaked by one level or more, the stain is gone for
#    good and the rag gets dirty (0).
# 2. If the rag lies in the sink and the sink is on, it soaks by one level; it never dries.
# 3. If the rag lies in the bucket and the bucket was soaped before this step, it gets cleaner by 1.
# 4. If the soap lies in the bucket, the bucket is soaped for good.
#
# `pickup` takes the rag before the soap. A cell of the car holds one thing, any other cell both.

GARAGE_MAP = """
##########
#CCC.....#
#CCC...B.#
#......B.#
#........#
#.....HH.#
#.SS..HH.#
#.SS..HH.#
#........#
##########
"""
GARAGE = Room(GARAGE_MAP, {"C": "car", "B": "bucket", "H": "shelf", "S": "sink"})


class CleaningACar(RoomWorld):
    """Clean a car: `CleaningACar(starts="varied")`."""

    id = "MiniBehaviorCar-v0"
    actions = ("left", "right", "forward", "pickup", "toggle", "drop_soap", "drop_rag")
    room = GARAGE
    space = Space(
        (
            *GARAGE.agent_variables(),
            GARAGE.position("rag_position"),
            GARAGE.position("soap_position"),
            Variable("rag_soak", LEVELS),
            Variable("rag_cleanness", LEVELS),
            Variable("car_stain", (0, 1)),
            Variable("bucket_soaped", (0, 1)),
            Variable("sink_on", (0, 1)),
        )
    )
    one_way = ("rag_soak", "car_stain", "bucket_soaped")
    step_limit = 80
    episode_length = 300
    start = {
        "agent": (4, 4),
        "direction": "right",
        "rag_position": (5, 6),
        "soap_position": (6, 6),
        "rag_cleanness": 5,
        "car_stain": 1,
    }

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """Return the next state after an action."""
        del key
        agent, direction, rag, soap, soak, clean, stain, soaped, sink = state
        in_bucket = jnp.asarray(self.room.on("bucket"))
        wiped = jnp.asarray(self.room.on("car"))[rag] & (stain == 1) & (soak > 0)
        washed = in_bucket[rag] & (soaped == 1)
        watered = jnp.asarray(self.room.on("sink"))[rag] & (sink == 1)
        clean = jnp.where(wiped, 0, jnp.minimum(clean + washed, 5))

        front = self.room.front(agent, direction)
        things = state[2:4]
        in_front = things == front
        can_drop = (front != WALL) & ~(self.room.faces("car", agent, direction) & in_front.any())
        drops = ("drop_rag", "drop_soap")
        rag, soap_after = self.handle(action, things, in_front, drops, can_drop, front)
        toggled = self.takes("toggle", action) & self.room.faces("sink", agent, direction)
        agent, direction = self.room.walk(agent, direction, action, in_front.any())
        return self.pack(
            agent=agent,
            direction=direction,
            rag_position=rag,
            soap_position=soap_after,
            rag_soak=jnp.minimum(soak + watered, 5),
            rag_cleanness=clean,
            car_stain=jnp.where(wiped, 0, stain),
            bucket_soaped=jnp.where(in_bucket[soap], 1, soaped),
            sink_on=jnp.where(toggled, 1 - sink, sink),
        )

    def draw_start(self, key: jax.Array) -> jax.Array:
        """Sample every variable, consistent with the rules.

        Rag and soap are on the car, in the bucket, on the shelf, in the sink, on the floor or
        carried, with probability 1/6 each. Soap in the bucket has soaped it. A rag on a stained car
        is dry; if the car is clean, the rag is wet, and dirty unless the bucket is soaped.
        """
        keys = jax.random.split(key, 8)
        weights = jnp.asarray(self.room.log_weights(["car", "bucket", "shelf", "sink"]))
        rag, soap = jax.random.categorical(keys[0], weights, shape=(2,))
        on_car = jnp.asarray(self.room.on("car"))[rag]
        soap = jnp.where(on_car & (rag == soap), self.room.n_cells, soap)
        stain = jax.random.randint(keys[3], (), 0, 2)
        soak = jax.random.randint(keys[5], (), 1 - stain, 6)
        in_bucket = jnp.asarray(self.room.on("bucket"))[soap]
        soaped = jnp.where(in_bucket, 1, jax.random.randint(keys[4], (), 0, 2))
        washed = jax.random.randint(keys[6], (), 0, 6) * soaped
        return self.pack(
            agent=self.room.draw_agent(keys[1], jnp.stack([rag, soap])),
            direction=jax.random.randint(keys[2], (), 0, 4),
            rag_position=rag,
            soap_position=soap,
            rag_soak=jnp.where(on_car & (stain == 1), 0, soak),
            rag_cleanness=jnp.where(stain == 1, 5, washed),
            car_stain=stain,
            bucket_soaped=soaped,
            sink_on=jax.random.randint(keys[7], (), 0, 2),
        )
