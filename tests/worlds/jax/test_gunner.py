"""Gunner, against recordings of the original and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from dusdi_recordings import actions_of, recording, replay
from skillfocus.errors import UserError
from skillfocus.worlds.jax.dusdi.worlds import LIMIT, REACH, Gunner, GunnerState, seen

KEY = jax.random.key(0)
WORLD = Gunner()


def state(base=(2.5, 2.5), offset=(0, 0), gripper=0.5, view=0.0, held=(0, 0, 0, 0)):
    return GunnerState(*(jnp.array(x, jnp.float32) for x in (base, offset, gripper, view, held)))


def step(before, *action):
    return WORLD.step(KEY, before, jnp.array(action, jnp.float32))


@pytest.mark.parametrize("episode", range(3))
def test_replays_recorded_trajectories(episode):
    recorded = recording("gunner")
    actions = actions_of(recorded["levels"][episode], WORLD)
    replayed = replay(WORLD, WORLD.reset(KEY), actions)
    np.testing.assert_allclose(replayed[:, 12:], recorded["numbers"][episode], atol=2e-5)
    differ = (replayed[:, :12] != recorded["items"][episode]).any(axis=1)
    assert not differ.any(), f"items differ at steps {np.flatnonzero(differ)}"


def test_recordings_reach_every_item_and_every_edge():
    recorded = recording("gunner")
    assert (recorded["items"].sum(axis=(0, 1)) > 0).all()
    numbers = recorded["numbers"].reshape(-1, 6)
    np.testing.assert_allclose(numbers.min(axis=0), [0, 0, 0, 0, 0, -math.pi], atol=1e-6)
    np.testing.assert_allclose(numbers.max(axis=0), [*[LIMIT] * 4, 1, math.pi], atol=1e-6)


def test_starts_in_the_centre_with_nothing():
    expected = [0] * 12 + [2.495, 2.495, 2.495, 2.495, 0.5, 0.0]
    np.testing.assert_allclose(WORLD.observation(WORLD.reset(KEY)), expected, atol=1e-6)


def test_arm_stays_in_reach_and_on_the_floor():
    after = step(state(base=(0.1, 2.5), offset=(-1.6, REACH)), 0, 0, -0.15, 0.15, 0, 0)
    np.testing.assert_allclose(after.offset, [-REACH, REACH], atol=1e-6)
    np.testing.assert_allclose(after.arm, [0.0, 2.5 + REACH], atol=1e-6)


def test_an_open_gripper_keeps_what_it_holds():
    over_one = state(base=(2.5, 1.5))  # the arm finds item 1 in cell (2, 1)
    held = step(over_one, 0, 0, 0, 0, 0, 0)
    assert held.held.tolist() == [1, 0, 0, 0]
    opened = step(held, 0, 0, 0, 0, -0.1, 0)
    away = step(opened, 0, 0, 0, 0, 0, 0)._replace(base=jnp.array([2.5, 2.5]))
    assert step(away, 0, 0, 0, 0, 0, 0).held.tolist() == [1, 0, 0, 0]
    assert step(away, 0, 0, 0, 0, 0.15, 0).held.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("view", "corner"),
    [
        (math.pi / 4, 1),  # from the centre, the corners are at ±45 and ±135 degrees
        (-math.pi / 4, 3),
        (3 * math.pi / 4, 0),
        (-3 * math.pi / 4, 2),
        (math.pi / 4 + 0.31, 1),
        (math.pi / 4 + 0.32, None),  # π / 10 is 0.314
        (0.0, None),
    ],
)
def test_sees_corners(view, corner):
    centre = state(base=(LIMIT / 2, LIMIT / 2), view=view)
    assert seen(centre).tolist() == [float(i == corner) for i in range(4)]


def test_view_depends_on_the_base():
    assert seen(state(base=(4.5, 0.5), view=math.pi / 4)).tolist() == [0, 0, 0, 0]
    angle = math.atan2(LIMIT - 4.5, LIMIT - 0.5)
    assert seen(state(base=(4.5, 0.5), view=angle)).tolist() == [0, 1, 0, 0]


def test_rounding_decides_what_is_seen_from_a_corner():
    assert seen(state(base=(LIMIT, LIMIT), view=math.pi / 4)).tolist() == [0, 1, 0, 0]
    assert seen(state(base=(LIMIT, 0), view=math.pi / 2 + 0.01)).tolist() == [1, 0, 0, 0]
    assert seen(state(base=(0, 0), view=-3)).tolist() == [0, 0, 0, 0]


def test_numbers_as_variables_can_be_placed():
    world = Gunner(variables="numbers", starts="varied")
    values = jnp.array([1.0, 2.0, 2.5, 1.5, 0.7, -1.0])
    np.testing.assert_allclose(world.values(world.place(KEY, values)), values, atol=1e-6)
    assert world.space.names == ("base", "arm", "gripper", "view")
    with pytest.raises(UserError, match="cannot be set to given items"):
        WORLD.place(KEY, jnp.zeros(12))


def test_varied_starts_cover_the_floor():
    world = Gunner(starts="varied")
    states = jax.jit(jax.vmap(world.reset))(jax.random.split(KEY, 2000))
    observations = np.asarray(jax.jit(jax.vmap(world.observation))(states))
    assert (observations[:, :12].mean(axis=0) > 0.01).all()
    assert observations[:, 12:14].min() < 0.1
    assert observations[:, 12:14].max() > 4.9


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"variables": "all"}, "items or numbers"), ({"starts": "x"}, "varied")],
)
def test_wrong_settings_are_refused(settings, reason):
    with pytest.raises(UserError, match=reason):
        Gunner(**settings)
