"""What an agent remembers: its last decisions, and those that led to a reward.

Rewards are rare at first. So the decisions of an episode are traced, and when the reward is paid,
they are copied to a memory of their own, of which every update sees a share.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.tasks.neural.environments import Decision


class Memory(NamedTuple):
    """The last decisions; new ones overwrite the oldest.

    Attributes:
        decisions: Decisions, [size] each.
        written: How many were ever written.
    """

    decisions: Decision
    written: jax.Array

    @property
    def known(self) -> jax.Array:
        """How many decisions there are."""
        return jnp.minimum(self.written, len(self.decisions.option))


class Trace(NamedTuple):
    """The last decisions of every environment's episode.

    Attributes:
        decisions: Decisions, [n, length] each; new ones overwrite the oldest.
        written: How many the episode has had, [n].
    """

    decisions: Decision
    written: jax.Array


def empty(n_variables: int, n_options: int, *shape: int) -> Decision:
    """Return room for decisions, [*shape] each."""
    return Decision(
        jnp.zeros((*shape, n_variables), jnp.int32),
        jnp.zeros((*shape, n_options), bool),
        jnp.zeros(shape, jnp.int32),
        jnp.zeros(shape, jnp.float32),
        jnp.zeros(shape, jnp.float32),
        jnp.zeros((*shape, n_variables), jnp.int32),
        jnp.zeros((*shape, n_options), bool),
    )


def remember(memory: Memory, decision: Decision, complete: jax.Array) -> Memory:
    """Write those of some decisions that are complete, bool [n], into a memory."""
    size = len(memory.decisions.option)
    place = (memory.written + jnp.cumsum(complete) - 1) % size
    place = jnp.where(complete, place, size)  # out of range: dropped
    decisions = jax.tree.map(
        lambda kept, new: kept.at[place].set(new, mode="drop"), memory.decisions, decision
    )
    return Memory(decisions, memory.written + complete.sum(dtype=jnp.int32))


def follow(
    trace: Trace, rewarded: Memory, decision: Decision, complete: jax.Array,
    over: jax.Array, paid: jax.Array,
) -> tuple[Trace, Memory]:  # fmt: skip
    """Trace decisions, and copy the trace of one rewarded episode, if there is any.

    Args:
        trace: The trace of every environment.
        rewarded: Memory of decisions that led to a reward.
        decision: The last decision of every environment, [n] each.
        complete: Whether it is complete, bool [n].
        over: Whether its episode is over, bool [n].
        paid: Whether a reward was paid in it, bool [n].
    """
    n, length = trace.decisions.option.shape
    place = jnp.where(complete, trace.written % length, length)
    rows = jnp.arange(n)
    decisions = jax.tree.map(
        lambda kept, new: kept.at[rows, place].set(new, mode="drop"), trace.decisions, decision
    )
    written = trace.written + complete
    which = (over & paid).argmax()
    mine = jax.tree.map(lambda leaf: leaf[which], decisions)
    valid = (jnp.arange(length) < written[which]) & (over & paid).any()
    return Trace(decisions, jnp.where(over, 0, written)), remember(rewarded, mine, valid)


def draw(key: jax.Array, memory: Memory, n: int) -> Decision:
    """Draw decisions at random, with replacement; nonsense if there are none."""
    drawn = jax.random.randint(key, (n,), 0, jnp.maximum(memory.known, 1))
    return jax.tree.map(lambda leaf: leaf[drawn], memory.decisions)
