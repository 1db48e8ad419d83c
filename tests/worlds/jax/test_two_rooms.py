"""TwoRooms by hand: walls, door, box, vase and lamp."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from routes import go
from skillfocus.errors import UserError
from skillfocus.worlds.jax.two_rooms import KNOB, TwoRooms

KEY = jax.random.key(0)
WORLD = TwoRooms()
STEP = jax.jit(WORLD.step)


def state(**values):
    return jnp.asarray(WORLD.space.state(**values))


def act(before, *actions):
    """Take actions (right, up, grip, turn); what is left out is -1 for grip and 0 for turn."""
    for action in actions:
        full = (*action, *(-1.0, 0.0)[len(action) - 2 :])
        before = STEP(KEY, before, jnp.array(full, jnp.float32))
    return WORLD.space.labels(before)


@pytest.mark.parametrize(
    ("start", "move", "end"),
    [
        ((0.5, 0.2), (0.1, -0.1), (0.6, 0.1)),
        ((0.5, 0.2), (0.3, -0.3), (0.6, 0.1)),  # no faster than 0.1
        ((0.02, 0.97), (-0.1, 0.1), (0.0, 1.0)),
        ((0.95, 0.2), (0.1, 0.05), (0.98, 0.25)),  # stopped by the wall, slides along it
        ((1.05, 0.2), (-0.1, 0.0), (1.02, 0.2)),
        ((0.95, 0.5), (0.1, 0.0), (1.05, 0.5)),  # through the door
        ((0.95, 0.64), (0.1, 0.1), (1.05, 0.74)),
        ((0.95, 0.64), (0.05, 0.1), (1.0, 0.65)),  # in the doorway, its side stops it
        ((0.95, 0.34), (0.1, 0.1), (0.98, 0.44)),  # beside the door when it moves
    ],
)
def test_moves(start, move, end):
    np.testing.assert_allclose(act(state(agent=start), move)["agent"], end, atol=1e-6)


def test_box_comes_along_while_gripped():
    start = state(agent=(0.4, 0.5), box=(0.5, 0.5))
    carried = act(start, (0.1, 0, 1), (0.1, 0.1, 1), (0.1, 0, -1))
    np.testing.assert_allclose(carried["box"], (0.6, 0.6), atol=1e-6)
    np.testing.assert_allclose(carried["agent"], (0.7, 0.6), atol=1e-6)
    np.testing.assert_allclose(act(start, (0.1, 0, 0))["box"], (0.5, 0.5), atol=1e-6)
    far = state(agent=(0.37, 0.5), box=(0.5, 0.5))  # 0.13 away
    np.testing.assert_allclose(act(far, (0.1, 0, 1))["box"], (0.5, 0.5), atol=1e-6)


def test_box_is_not_pulled_through_the_wall():
    start = state(agent=(0.98, 0.1), box=(1.02, 0.1))
    np.testing.assert_allclose(act(start, (-0.1, 0, 1))["box"], (1.02, 0.1), atol=1e-6)


def test_vase_breaks_on_the_way_and_for_good():
    past = state(agent=(1.2, 0.63))  # 0.13 above the vase, whose radius is 0.12
    whole = act(past, (0.1, 0), (0.1, 0), (0.1, 0))
    assert whole["vase"] == (0.0,)
    near = state(agent=(1.2, 0.61))
    assert act(near, (0.1, 0), (0.1, 0))["vase"] == (1.0,)
    assert act(near, (0.1, 0), (0.1, 0), (0, 0.1), (0, 0.1), (0, 0.1))["vase"] == (1.0,)
    aside = state(agent=(1.3, 0.611))  # both ends 0.122 away, the middle of the way 0.111
    assert act(aside, (0.1, 0.0))["vase"] == (1.0,)
    assert act(aside, (0.0, 0.0))["vase"] == (0.0,)


def test_lamp_turns_near_its_knob():
    near = state(agent=tuple(KNOB), lamp=0.5)
    np.testing.assert_allclose(act(near, (0, 0, -1, 1))["lamp"], 0.7, atol=1e-6)
    np.testing.assert_allclose(act(near, (0, 0, -1, -0.5))["lamp"], 0.4, atol=1e-6)
    assert act(near, *[(0, 0, -1, 1)] * 4)["lamp"] == (1.0,)
    away = state(agent=(0.5, 0.85), lamp=0.5)
    assert act(away, (0, 0, -1, 1))["lamp"] == (0.5,)


@pytest.mark.parametrize("variable", ["agent", "box", "vase", "lamp"])
def test_every_variable_can_change_alone_within_a_skill(variable):
    home, box = (0.3, 0.5), (0.5, 0.2)
    routes = {
        "agent": go(home, (0.6, 0.8)),
        "box": [*go(home, box), *go(box, (0.9, 0.5), 1.0), *go((0.9, 0.5), home)],
        "vase": [*go(home, (1.3, 0.5)), *go((1.3, 0.5), home)],
        "lamp": [*go(home, KNOB), *[(0, 0, -1, 1)] * 5, *go(KNOB, home)],
    }
    assert len(routes[variable]) <= WORLD.step_limit
    start = state(agent=home, box=box)
    end = start
    for action in routes[variable]:
        end = STEP(KEY, end, jnp.array(action, jnp.float32))
    change = dict(zip(WORLD.space.names, np.asarray(WORLD.space.change(start, end)), strict=True))
    for name, far in change.items():
        assert (far > 0.1) == (name == variable), change
        assert far < 1e-5 or name == variable, change


def test_varied_starts():
    starts = np.asarray(jax.jit(jax.vmap(WORLD.reset))(jax.random.split(KEY, 4000)))
    parts = WORLD.space.split(starts)
    assert (np.abs(parts["agent"][:, 0] - 1) >= 0.02 - 1e-6).all()
    away = np.hypot(*(parts["agent"] - [1.35, 0.5]).T) > 0.12
    assert abs(parts["vase"][away].mean() - 0.25) < 0.02
    assert (parts["vase"][~away] == 1).all()
    np.testing.assert_allclose(parts["box"].mean(axis=0), [1, 0.5], atol=0.05)
    task = np.asarray(TwoRooms(starts="task").reset(KEY))
    np.testing.assert_allclose(task, [0.3, 0.5, 0.5, 0.2, 0, 0])


def test_wrong_starts_are_refused():
    with pytest.raises(UserError, match="varied or task"):
        TwoRooms(starts="anywhere")
