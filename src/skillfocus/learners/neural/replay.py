"""The transitions that networks learn from: the latest ones, and changes of goals kept apart.

Changes of goals are rare in large worlds, and all that is to be learned begins with them. So those
of each goal are kept apart, and a share of every batch is drawn from them, alike from each goal.
Only where steps draw nothing: in a world of chance it would make good luck look common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.worlds.jax.world import JaxWorld

if TYPE_CHECKING:
    from skillfocus.learners.neural.learner import Neural


class Transitions(NamedTuple):
    """Transitions, [n] each; value indices in few bits, as millions are kept.

    Attributes:
        now: States.
        action: Actions taken there.
        then: The states that followed.
        starts: Two first states, [n, 2, n_variables].
    """

    now: jax.Array
    action: jax.Array
    then: jax.Array
    starts: jax.Array


class Memory(NamedTuple):
    """What is remembered.

    Attributes:
        latest: The latest transitions.
        events: For each goal, the latest that changed it, [n_goals, n] each; None if these are not
            kept apart.
        n_events: How many of them there have been, int32 [n_goals].
    """

    latest: Transitions
    events: Transitions | None
    n_events: jax.Array


class Replay:
    """Fills a `Memory` and draws batches from it.

    Args:
        world: The world.
        settings: The learner's settings.

    Attributes:
        goals: The numbers of the variables whose changes are events.
        drawn_events: How many transitions of a batch are events.
        kept_events: Most events kept of each goal.
        kept_updates: Most updates whose transitions are kept.
    """

    def __init__(self, world: JaxWorld, settings: Neural) -> None:
        self.space, self.environments, self.batch = (
            world.space,
            settings.environments,
            settings.batch,
        )
        self.goals = np.array([world.space.index(name) for name in world.goals], np.int64)
        apart = len(self.goals) > 0 and is_certain(world)
        self.drawn_events = int(settings.event_share * settings.batch) if apart else 0
        self.kept_events = max(1, settings.memory // (4 * max(1, len(self.goals))))
        self.kept_updates = max(1, settings.memory // settings.environments)

    def empty(self) -> Memory:
        """Return a memory with nothing in it yet."""
        events = self._zeros(len(self.goals), self.kept_events) if self.drawn_events else None
        latest = self._zeros(self.kept_updates * self.environments)
        return Memory(latest, events, jnp.zeros(len(self.goals), jnp.int32))

    def _zeros(self, *n: int) -> Transitions:
        small = jnp.int16 if max(self.space.sizes) < 2**15 else jnp.int32
        states = jnp.zeros((*n, len(self.space)), small)
        starts = jnp.zeros((*n, 2, len(self.space)), small)
        return Transitions(states, jnp.zeros(n, jnp.int16), jnp.copy(states), starts)

    def add(self, memory: Memory, new: Transitions, updates: jax.Array) -> Memory:
        """Overwrite the oldest transitions by those of an update, and the oldest events."""
        place = (updates % self.kept_updates) * self.environments

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            where = (place, *(0,) * (old.ndim - 1))
            return jax.lax.dynamic_update_slice(old, latest.astype(old.dtype), where)

        memory = memory._replace(latest=jax.tree.map(write, memory.latest, new))
        return memory if memory.events is None else self._add_events(memory, memory.events, new)

    def _add_events(self, memory: Memory, events: Transitions, new: Transitions) -> Memory:
        changed = (new.now != new.then)[:, self.goals].T  # [n_goals, n]
        number = memory.n_events[:, None] + jnp.cumsum(changed, axis=1)
        place = jnp.where(changed, (number - 1) % self.kept_events, self.kept_events)

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            latest = latest.astype(old.dtype)
            return jax.vmap(lambda own, at: own.at[at].set(latest, mode="drop"))(old, place)

        return memory._replace(events=jax.tree.map(write, events, new), n_events=number[:, -1])

    def draw(self, key: jax.Array, memory: Memory, updates: jax.Array) -> Transitions:
        """Draw a batch after so many updates, a share of it from the events."""
        filled = jnp.minimum(updates + 1, self.kept_updates) * self.environments
        drawn = jax.random.randint(key, (self.batch,), 0, filled)
        batch = jax.tree.map(lambda x: x[drawn].astype(jnp.int32), memory.latest)
        if memory.events is None:
            return batch
        n = self.drawn_events
        key_goal, key_event = jax.random.split(jax.random.fold_in(key, 1))
        goal = jax.random.randint(key_goal, (n,), 0, len(self.goals))
        known = jnp.minimum(memory.n_events, self.kept_events)[goal]
        event = jax.random.randint(key_event, (n,), 0, jnp.maximum(known, 1))

        def put(drawn: jax.Array, events: jax.Array) -> jax.Array:
            seen = (known > 0).reshape(-1, *(1,) * (drawn.ndim - 1))
            some = jnp.where(seen, events[goal, event].astype(jnp.int32), drawn[:n])
            return drawn.at[:n].set(some)

        return jax.tree.map(put, batch, memory.events)


def is_certain(world: JaxWorld) -> bool:
    """Return whether a world's steps draw nothing."""
    key = jax.random.key(0)
    state = jax.eval_shape(world.reset, key)
    traced = jax.make_jaxpr(world.step)(key, state, jnp.int32(0)).jaxpr
    used = {id(variable) for equation in traced.eqns for variable in equation.invars}
    return id(traced.invars[0]) not in used
