"""Continuous worlds: the conformance check, names, and what refuses them."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.spaces import ContinuousSpace, ContinuousVariable
from skillfocus.testing import check_continuous_world
from skillfocus.worlds.jax.world import ContinuousWorld
from skillfocus.worlds.registry import CONTINUOUS_WORLDS


class Point(ContinuousWorld):
    """A point on a square, with a clock that nothing stops."""

    id = "Point-v0"
    space = ContinuousSpace(
        (ContinuousVariable("at", (-1, -1), (1, 1)), ContinuousVariable("post", (0,), (1,)))
    )
    actions = ("x", "y")
    action_low, action_high = (-0.1, -0.1), (0.1, 0.1)
    fixed = ("post",)

    def reset(self, key):
        return jax.random.uniform(key, (3,))

    def step(self, key, state, action):
        del key
        return jnp.concatenate([jnp.clip(state[:2] + action, -1, 1), state[2:]])


@pytest.mark.parametrize("name", CONTINUOUS_WORLDS)
def test_built_in_worlds_pass(name):
    world = sf.make(name)
    check_continuous_world(world)
    assert sf.make(world.id).space == world.space


def test_a_world_of_ones_own_passes():
    check_continuous_world(Point())
    assert Point().goals == ("at",)
    assert repr(Point()) == "<Point-v0: 2 action dimensions, at (2) × post (1)>"
    assert Point().draw([0.5, -0.25, 1]) == "at=(0.5, -0.25)\npost=1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"action_low": (-1.0,)}, "need 2 numbers"),
        ({"action_low": (0.1, -0.1)}, "x ranges from 0.1 to 0.1"),
        ({"fixed": ("nothing",)}, "fixed names 'nothing'"),
        ({"settings": {"key": jnp}}, "cannot be stored"),
        ({"values": lambda self, state: state[:2]}, r"values must be float32 of shape \(3,\)"),
        ({"step": lambda self, key, state, action: state[:2]}, "the same structure"),
        ({"step": lambda self, key, state, action: state + 1}, "outside its bounds"),
        ({"step": lambda self, key, state, action: state * jnp.nan}, "not finite"),
        ({"step": lambda self, key, state, action: state * 0.5}, "declared fixed, but changes"),
    ],
)
def test_what_is_wrong_is_found(changes, reason):
    with pytest.raises(UserError, match=reason):
        check_continuous_world(type("Broken", (Point,), changes)())


def test_the_check_is_for_continuous_worlds():
    with pytest.raises(UserError, match="has finite variables"):
        check_continuous_world(sf.make("four-rooms"))


@pytest.mark.parametrize(
    "use",
    [
        lambda world: sf.discover(world, "focused-vic", seed=0),
        lambda world: sf.discover(world, "focused-vic", seed=0, learner="q-learning"),
        lambda world: sf.tabulate(world),
        lambda world: sf.testing.check_world(world),
    ],
)
def test_what_needs_a_table_refuses_it(use):
    with pytest.raises(UserError, match="has continuous variables and actions, so there is no t"):
        use(sf.make("two-rooms"))


def test_states_are_made_from_vectors():
    with pytest.raises(UserError, match=r"world.space.join"):
        sf.make("two-rooms").state(agent=(0.5, 0.5))
