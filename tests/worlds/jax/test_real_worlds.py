"""Worlds of real-valued variables: the conformance check, names, and what refuses them."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.testing import check_world
from skillfocus.worlds.jax.world import JaxWorld


class Point(JaxWorld):
    """A point on a square, with a clock that nothing stops."""

    id = "Point-v0"
    space = Space(
        (Variable("at", low=(-1, -1), high=(1, 1)), Variable("post", low=(0,), high=(1,)))
    )
    actions = ("x", "y")
    action_low, action_high = (-0.1, -0.1), (0.1, 0.1)
    fixed = ("post",)

    def reset(self, key):
        return jax.random.uniform(key, (3,))

    def step(self, key, state, action):
        del key
        return jnp.concatenate([jnp.clip(state[:2] + action, -1, 1), state[2:]])


@pytest.mark.parametrize("name", ["two-rooms", "gunner", "particles"])
def test_built_in_worlds_pass(name):
    world = sf.make(name)
    check_world(world)
    assert sf.make(world.id).space == world.space


def test_a_world_of_ones_own_passes():
    check_world(Point())
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
        check_world(type("Broken", (Point,), changes)())


@pytest.mark.parametrize(
    "use",
    [
        lambda world: sf.discover(world, "focused-vic", seed=0, learner="q-learning"),
        lambda world: sf.tabulate(world),
    ],
)
def test_what_needs_a_table_refuses_it(use):
    with pytest.raises(
        UserError, match="has no table of its states, because its variables are real-valued"
    ):
        use(sf.make("two-rooms"))
