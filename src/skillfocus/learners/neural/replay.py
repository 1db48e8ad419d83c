"""Replay buffer with event replay.

Transitions that change a goal variable ("events") are rare in large worlds, and all learning
starts from them. So the buffer also stores the latest events of each goal, and a share of every
batch is sampled from them, uniformly over goals. In stochastic worlds event replay is off, because
sampling by outcome would bias the targets.
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
    """A batch of transitions; value indices have a small dtype, because millions are stored.

    Attributes:
        state: Value indices, [n, n_variables].
        action: Actions, [n].
        next_state: Value indices after the action, [n, n_variables].
        starts: Two first states, [n, 2, n_variables].
    """

    state: jax.Array
    action: jax.Array
    next_state: jax.Array
    starts: jax.Array


class ReplayBuffer(NamedTuple):
    """Contents of the replay buffer.

    Attributes:
        latest: The latest transitions.
        events: The latest events of each goal, [n_goals, n, ...]; None without event replay.
        n_events: Events of each goal so far, int32 [n_goals].
    """

    latest: Transitions
    events: Transitions | None
    n_events: jax.Array


class Replay:
    """Adds transitions to a `ReplayBuffer` and samples batches from it.

    Args:
        world: The world.
        settings: The learner's settings.

    Attributes:
        goals: Indices of the variables whose changes are events.
        sampled_events: Events per batch.
        kept_events: Capacity for events, per goal.
        kept_updates: Capacity for transitions, in updates.
    """

    def __init__(self, world: JaxWorld, settings: Neural) -> None:
        self.space = world.space
        self.environments, self.batch = settings.environments, settings.batch
        self.goals = np.array([world.space.index(name) for name in world.goals], np.int64)
        has_events = len(self.goals) > 0 and is_deterministic(world)
        self.sampled_events = int(settings.event_share * settings.batch) if has_events else 0
        self.kept_events = max(1, settings.memory // (4 * max(1, len(self.goals))))
        self.kept_updates = max(1, settings.memory // settings.environments)

    def init(self) -> ReplayBuffer:
        """Return an empty buffer."""
        events = self._zeros(len(self.goals), self.kept_events) if self.sampled_events else None
        latest = self._zeros(self.kept_updates * self.environments)
        return ReplayBuffer(latest, events, jnp.zeros(len(self.goals), jnp.int32))

    def _zeros(self, *n: int) -> Transitions:
        small = jnp.int16 if max(self.space.sizes) < 2**15 else jnp.int32
        states = jnp.zeros((*n, len(self.space)), small)
        starts = jnp.zeros((*n, 2, len(self.space)), small)
        return Transitions(states, jnp.zeros(n, jnp.int16), jnp.copy(states), starts)

    def add(self, buffer: ReplayBuffer, new: Transitions, updates: jax.Array) -> ReplayBuffer:
        """Add the transitions of an update and their events, overwriting the oldest."""
        offset = (updates % self.kept_updates) * self.environments

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            where = (offset, *(0,) * (old.ndim - 1))
            return jax.lax.dynamic_update_slice(old, latest.astype(old.dtype), where)

        buffer = buffer._replace(latest=jax.tree.map(write, buffer.latest, new))
        return buffer if buffer.events is None else self._add_events(buffer, buffer.events, new)

    def _add_events(
        self, buffer: ReplayBuffer, events: Transitions, new: Transitions
    ) -> ReplayBuffer:
        changed = (new.state != new.next_state)[:, self.goals].T  # [n_goals, n]
        number = buffer.n_events[:, None] + jnp.cumsum(changed, axis=1)
        index = jnp.where(changed, (number - 1) % self.kept_events, self.kept_events)

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            latest = latest.astype(old.dtype)
            return jax.vmap(lambda own, at: own.at[at].set(latest, mode="drop"))(old, index)

        return buffer._replace(events=jax.tree.map(write, events, new), n_events=number[:, -1])

    def sample(self, key: jax.Array, buffer: ReplayBuffer, updates: jax.Array) -> Transitions:
        """Sample a batch, a share of it from the events.

        Args:
            key: Source of randomness.
            buffer: Its contents.
            updates: Number of earlier updates, which tells how much of the buffer is filled.
        """
        filled = jnp.minimum(updates + 1, self.kept_updates) * self.environments
        rows = jax.random.randint(key, (self.batch,), 0, filled)
        batch = jax.tree.map(lambda x: x[rows].astype(jnp.int32), buffer.latest)
        if buffer.events is None:
            return batch
        n = self.sampled_events
        key_goal, key_event = jax.random.split(jax.random.fold_in(key, 1))
        goal = jax.random.randint(key_goal, (n,), 0, len(self.goals))
        stored = jnp.minimum(buffer.n_events, self.kept_events)[goal]
        event = jax.random.randint(key_event, (n,), 0, jnp.maximum(stored, 1))

        def replace_first(sampled: jax.Array, events: jax.Array) -> jax.Array:
            has_events = (stored > 0).reshape(-1, *(1,) * (sampled.ndim - 1))
            first = jnp.where(has_events, events[goal, event].astype(jnp.int32), sampled[:n])
            return sampled.at[:n].set(first)

        return jax.tree.map(replace_first, batch, buffer.events)


def is_deterministic(world: JaxWorld) -> bool:
    """Return whether a world's `step` ignores its key."""
    key = jax.random.key(0)
    state = jax.eval_shape(world.reset, key)
    traced = jax.make_jaxpr(world.step)(key, state, jnp.int32(0)).jaxpr
    used = {id(variable) for equation in traced.eqns for variable in equation.invars}
    return id(traced.invars[0]) not in used
