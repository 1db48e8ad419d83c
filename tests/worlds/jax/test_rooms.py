"""Rooms with many tools step as the finite FourRooms does, and their tools are well placed."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.worlds.four_rooms import MAP, FourRooms
from skillfocus.worlds.jax.rooms import (
    RoomBlocks,
    Rooms,
    ToolRooms,
    block_map,
    place_tools,
)

jax = pytest.importorskip("jax")
jnp = jax.numpy

SMALL = "#######\n#T.#.T#\n#.....#\n#.T#..#\n#######"


def outcomes(world, states):
    """Every outcome of every action: value indices [n, n_actions, 4, n_variables], and their
    probabilities [n, n_actions, 4]; outcomes of probability 0 repeat others."""
    upper = np.asarray(world.moves.cumulative, np.float64)[states[:, 0]]
    lower = np.concatenate([np.zeros_like(upper[..., :1]), upper[..., :-1]], axis=2)
    middle = jnp.asarray((lower + upper) / 2, jnp.float32).clip(max=1 - 2**-23)
    over_draws = jax.vmap(world.outcome, (None, None, 0))
    over_actions = jax.vmap(over_draws, (None, 0, 0))
    every = jax.jit(jax.vmap(over_actions, (0, None, 0)))
    return np.asarray(every(jnp.asarray(states), jnp.arange(4), middle)), upper - lower


def assert_steps_like(world, finite, states):
    """Compare every outcome with what the finite world's `transition` lists, without a table."""
    after, probabilities = outcomes(world, states)
    for i, state in enumerate(states):
        for action in range(4):
            drawn: dict[tuple[int, ...], float] = {}
            for row, p in zip(after[i, action], probabilities[i, action], strict=True):
                if p > 0:
                    drawn[tuple(row.tolist())] = drawn.get(tuple(row.tolist()), 0.0) + p
            listed = {o.state: o.probability for o in finite.transition(tuple(state), action)}
            assert drawn == pytest.approx(listed, abs=1e-6)


def some_states(world, n, seed=0):
    keys = jax.random.split(jax.random.key(seed), n)
    return np.asarray(jax.jit(jax.vmap(world.reset))(keys))


@pytest.mark.parametrize("drawing", [MAP, SMALL])
@pytest.mark.parametrize("slip", [0.1, 0.0])
def test_few_tools_step_as_the_finite_world_in_every_state(drawing, slip):
    finite = FourRooms(drawing, slip=slip)
    world = Rooms(drawing, slip=slip)
    assert world.space == finite.space
    assert_steps_like(world, finite, sf.tabulate(finite).values)


def test_four_tools_are_the_papers():
    assert ToolRooms(4).map.rows == FourRooms().map.rows


@pytest.mark.parametrize(
    "world", [ToolRooms(), ToolRooms(32), RoomBlocks()], ids=lambda w: f"{w.id}-{len(w.tools)}"
)
def test_many_tools_step_as_the_finite_world_would(world):
    finite = FourRooms("\n".join(world.map.rows))
    assert_steps_like(world, finite, some_states(world, 200))


@pytest.mark.parametrize(
    "world", [ToolRooms(), ToolRooms(32), RoomBlocks()], ids=lambda w: f"{w.id}-{len(w.tools)}"
)
def test_every_tool_can_be_fetched_past_the_others(world):
    assert len(set(world.tools)) == len(world.goals) == len(world.one_way)
    for tool in world.tools:
        others = [cell for cell in world.tools if cell != tool]
        assert len(world.map.distances([tool], others)) == len(world.map.cells) - len(others)


def test_tools_are_spread_by_the_stated_rule():
    """In a corridor: first at the left end, then as far away as can be, and never between."""
    rows = place_tools("#######\n#.....#\n#######", 2).splitlines()
    assert rows[1] == "#T...T#"
    with pytest.raises(sf.UserError, match="tools is 3; this map has room for 2"):
        place_tools("#######\n#.....#\n#######", 3)
    with pytest.raises(sf.UserError, match="tools is 0; it must be at least 1"):
        ToolRooms(0)
    assert set(FourRooms().tools) < set(ToolRooms(5).tools)
    assert ToolRooms(2).map.rows[5] == FourRooms().map.rows[5]


def test_blocks_are_connected_by_two_doors_per_wall():
    rows = block_map(2).splitlines()
    assert [len(row) for row in rows] == [25] * 25
    assert rows[12] == "##.######.####.######.###"
    assert [row[12] for row in rows].count(".") == 4
    assert len(RoomBlocks().map.cells) == 4 * 104 + 8
    assert RoomBlocks().space.n_combinations > 10**12
    with pytest.raises(sf.UserError, match="blocks is 0"):
        RoomBlocks(0)


def test_environments_start_anywhere_with_few_and_many_tools():
    states = some_states(ToolRooms(), 20_000)
    counts = np.bincount(states[:, 0], minlength=104)
    assert counts.min() > 0.6 * counts.mean()
    picked = np.bincount(states[:, 1:].sum(axis=1), minlength=17) / len(states)
    # A uniform probability makes every number of tools equally likely: the integral of
    # C(16, k) p^k (1 - p)^(16 - k) over p is 1 / 17.
    np.testing.assert_allclose(picked, 1 / 17, atol=0.01)


def test_drawing_shows_the_tools_that_are_left():
    world = ToolRooms(4)
    shown = world.draw(world.state(position=(5, 4), tool_1=1))
    assert shown.splitlines()[5] == "#...@.#.....#"
    assert "tool_1=1" in shown
    assert shown == FourRooms().draw(world.state(position=(5, 4), tool_1=1))


def test_there_is_no_table():
    with pytest.raises(sf.UserError, match="ToolRooms-v0 has no table of its states"):
        sf.tabulate(ToolRooms())
