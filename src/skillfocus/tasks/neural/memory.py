"""Replay buffers: one for all decisions, one for those of rewarded episodes.

Rewards are rare at first. So each episode's decisions are recorded in a trace, which is copied to
the second buffer when the reward is paid. A share of every batch is sampled from it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.tasks.neural.environments import Decision


class Memory(NamedTuple):
    """A ring buffer of decisions.

    Attributes:
        decisions: Decisions, [size] each.
        written: Number of decisions ever written.
    """

    decisions: Decision
    written: jax.Array

    @property
    def known(self) -> jax.Array:
        """Number of stored decisions."""
        return jnp.minimum(self.written, len(self.decisions.option))


class Trace(NamedTuple):
    """The latest decisions of the current episode of every environment.

    Attributes:
        decisions: Ring buffers of decisions, [n, length] each.
        written: Decisions of the episode so far, [n].
    """

    decisions: Decision
    written: jax.Array


def empty(n_variables: int, n_options: int, *shape: int) -> Decision:
    """Return an empty buffer of decisions, [*shape] each."""
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
    """Add decisions where `complete`, bool [n]."""
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
    """Add decisions to traces; copy the trace of one rewarded episode, if any has ended.

    Args:
        trace: The trace of every environment.
        rewarded: Buffer of decisions of rewarded episodes.
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


def sample(key: jax.Array, memory: Memory, n: int) -> Decision:
    """Sample decisions uniformly with replacement; zeros if the buffer is empty."""
    rows = jax.random.randint(key, (n,), 0, jnp.maximum(memory.known, 1))
    return jax.tree.map(lambda leaf: leaf[rows], memory.decisions)
