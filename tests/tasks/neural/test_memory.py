from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from skillfocus.tasks.option_learning import (
    Decision,
    Memory,
    empty,
    follow,
    remember,
    sample,
)


def decisions(*options):
    """Return decisions told apart by their options."""
    option = jnp.array(options, jnp.int32)
    values = jnp.stack([option, option], axis=1)
    zero = jnp.zeros(len(options))
    choices = jnp.ones((len(options), 3), bool)
    return Decision(values, choices, option, zero, zero, values, choices)


def new_memory(size):
    return Memory(empty(2, 3, size), jnp.int32(0))


def test_complete_decisions_overwrite_the_oldest():
    memory = remember(new_memory(4), decisions(1, 2, 3), jnp.array([True, False, True]))
    assert memory.decisions.option.tolist() == [1, 3, 0, 0]
    assert memory.known == 2
    memory = remember(memory, decisions(4, 5, 6), jnp.array([True, True, True]))
    assert memory.decisions.option.tolist() == [6, 3, 4, 5]
    assert memory.decisions.start.tolist() == [[6, 6], [3, 3], [4, 4], [5, 5]]
    assert (memory.known, memory.written) == (4, 5)


def test_draws_are_of_what_is_known():
    memory = remember(new_memory(100), decisions(7, 8, 9), jnp.array([True, True, False]))
    sampled = sample(jax.random.key(0), memory, 1000)
    assert set(sampled.option.tolist()) == {7, 8}
    assert sampled.end.shape == (1000, 2)


def test_the_trace_of_a_rewarded_episode_is_kept():
    trace, rewarded = Memory(empty(2, 3, 2, 2), jnp.zeros(2, jnp.int32)), new_memory(8)
    yes, no = jnp.array([True, True]), jnp.array([False, False])
    trace, rewarded = follow(trace, rewarded, decisions(1, 11), yes, no, no)
    trace, rewarded = follow(trace, rewarded, decisions(2, 12), jnp.array([True, False]), no, no)
    assert trace.written.tolist() == [2, 1]
    assert rewarded.known == 0
    # The first episode ends without a reward, the second with one.
    trace, rewarded = follow(trace, rewarded, decisions(3, 13), yes, yes, jnp.array([False, True]))
    assert rewarded.decisions.option[:2].tolist() == [11, 13]
    assert rewarded.known == 2
    assert trace.written.tolist() == [0, 0]
    # A trace keeps the last two decisions.
    for option in (4, 5):
        trace, rewarded = follow(trace, rewarded, decisions(option, 14), yes, no, no)
    trace, rewarded = follow(trace, rewarded, decisions(6, 14), yes, yes, jnp.array([True, False]))
    assert sorted(rewarded.decisions.option[:4].tolist()) == [5, 6, 11, 13]
    assert rewarded.known == 4
