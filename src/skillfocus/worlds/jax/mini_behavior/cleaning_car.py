"""CleaningACar: soak a rag in the sink, wipe the car with it, wash the rag in a soaped bucket.

Variables   agent (46 free cells), direction, rag_position and soap_position (64 cells, or carried),
            rag_soak (0–5), rag_cleanness (0–5), car_stain, bucket_soaped, sink_on
Actions     left, right, forward, pickup, toggle (the sink), drop_soap, drop_rag
Start       agent at (4, 4) facing right, rag and soap on the shelf at (5, 6) and (6, 6), rag dry
            (0) and clean (5), car stained, bucket without soap, sink off
Versions    v0: the room of SkiLD's experiments

Every step, in this order:

1. If the rag lies on the stained car and is soaked by one level or more, the stain is gone for good
   and the rag gets dirty (0).
2. If the rag lies in the sink and the sink is on, it soaks by one level; it never dries.
3. If the rag lies in the bucket and the bucket was soaped before this step, it gets cleaner by one.
4. If the soap lies in the bucket, the bucket is soaped for good.

`pickup` takes the rag before the soap. A cell of the car holds one thing, any other cell both.
"""

from __future__ import annotations

from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.lazy import jax, jnp
from skillfocus.worlds.jax.mini_behavior.room import (
    WALL,
    Room,
    RoomWorld,
    agent_variables,
    level_variable,
    pack,
    position_variable,
)

MAP = """
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
ROOM = Room(MAP, {"C": "car", "B": "bucket", "H": "shelf", "S": "sink"})
ACTIONS = ("left", "right", "forward", "pickup", "toggle", "drop_soap", "drop_rag")
PICKUP, TOGGLE, DROP_SOAP, DROP_RAG = range(3, 7)


class CleaningACar(RoomWorld):
    """Clean a car: `CleaningACar(starts="varied")`."""

    id = "MiniBehaviorCar-v0"
    actions = ACTIONS
    room = ROOM
    space = Space(
        (
            *agent_variables(ROOM),
            position_variable("rag_position", ROOM),
            position_variable("soap_position", ROOM),
            level_variable("rag_soak"),
            level_variable("rag_cleanness"),
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
        hand = self.room.n_cells
        things = jnp.stack([rag, soap])
        in_front = things == front
        car_taken = self.room.faces("car", agent, direction) & in_front.any()
        can_drop = (things == hand) & (front != WALL) & ~car_taken
        dropped = can_drop & (action == jnp.array([DROP_RAG, DROP_SOAP]))
        first = in_front & (jnp.cumsum(in_front) == 1)
        picked_up = first & (action == PICKUP)
        rag, soap = jnp.where(picked_up, hand, jnp.where(dropped, front, things))
        toggled = (action == TOGGLE) & self.room.faces("sink", agent, direction)
        agent, direction = self.room.walk(agent, direction, action, in_front.any())
        return pack(
            self.space,
            agent=agent,
            direction=direction,
            rag_position=rag,
            soap_position=soap,
            rag_soak=jnp.minimum(soak + watered, 5),
            rag_cleanness=clean,
            car_stain=jnp.where(wiped, 0, stain),
            bucket_soaped=jnp.where(in_bucket[state[3]], 1, soaped),
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
        return pack(
            self.space,
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
