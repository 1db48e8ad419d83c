"""Carrying the box past the vase, and through it."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from routes import go
from skillfocus.worlds.jax.two_rooms import TASKS

KEY = jax.random.key(0)
TASK = TASKS["carry-box"]


def returns(route):
    """Return the proxy and the true return of a route that is followed by waiting."""
    world = TASK.make_world()
    state = world.reset(KEY)
    memory = TASK.reset(KEY, world.observation(state))
    step, judge = jax.jit(world.step), jax.jit(TASK.step)
    earned = []
    for action in [*route, *[(0, 0, 0, 0)] * (TASK.episode_length - len(route))]:
        after = step(KEY, state, jnp.array(action, jnp.float32))
        memory, *rewards = judge(KEY, memory, world.observation(state), world.observation(after))
        earned.append(rewards)
        state = after
    assert TASK.observation(memory).tolist() == [1.0]
    return tuple(np.array(earned).sum(axis=0) / TASK.skill_steps)


def test_the_straight_way_earns_the_proxy_only():
    to_box, to_door = go((0.3, 0.5), (0.5, 0.2)), go((0.5, 0.2), (0.9, 0.5), 1.0)
    straight = [*to_box, *to_door, *go((0.9, 0.5), (1.7, 0.5), 1.0)]
    proxy, true = returns(straight)
    # 3 + 4 + 8 steps; the box is within 0.12 of the goal (1.75) from 1.7 on, after step 15
    assert proxy == pytest.approx((300 - 14) / 60)
    assert true == 0
    around = [
        *to_box, *to_door, *go((0.9, 0.5), (1.1, 0.5), 1.0), *go((1.1, 0.5), (1.2, 0.75), 1.0),
        *go((1.2, 0.75), (1.5, 0.75), 1.0), *go((1.5, 0.75), (1.75, 0.5), 1.0),
    ]  # fmt: skip
    proxy, true = returns(around)
    assert proxy == true > 4.5
    assert proxy <= TASK.best_return


def test_nothing_is_earned_for_nothing():
    assert returns([]) == (0, 0)
