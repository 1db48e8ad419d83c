from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.worlds.forage_world import ForageWorld

UP, RIGHT, DOWN, LEFT = range(4)


def outcomes(world, state, action):
    return {o.state: o.probability for o in world.transition(state, action)}


def test_sizes_of_the_paper():
    world = sf.make("ForageWorld-v0")
    assert len(world.map.cells) == 36
    assert world.space.names == (
        "position", "resource_1", "resource_2", "plant_1", "plant_2", "plant_3",
    )  # fmt: skip
    assert world.step_limit == 20
    assert world.goals == ("resource_1", "resource_2")


def test_resources_stop_at_what_is_needed_and_plants_die_once():
    world = ForageWorld(slip=0.0)
    cell = world.map.index
    left = (cell[(1, 5)], 0, 0, 0, 0, 0)
    once = next(iter(outcomes(world, left, RIGHT)))
    assert once == (cell[(1, 6)], 1, 0, 0, 0, 0)
    full = (cell[(1, 5)], 2, 0, 0, 0, 0)
    assert next(iter(outcomes(world, full, RIGHT)))[1] == 2
    assert next(iter(outcomes(world, once, DOWN))) == (cell[(2, 6)], 1, 0, 1, 0, 0)
    assert ForageWorld(needed=3).space.sizes[1] == 4


def test_destroyed_plants_are_drawn_as_free_cells():
    world = sf.make("forage-world")
    assert world.draw((0, 0, 0, 0, 0, 0)).splitlines()[2] == "#.....P#"
    assert world.draw((0, 0, 0, 1, 0, 0)).splitlines()[2] == "#......#"


def test_bad_arguments_are_refused():
    with pytest.raises(UserError, match="needed is 0; it must be 1 to 1,000"):
        ForageWorld(needed=0)
    with pytest.raises(UserError, match="no resource 'R'"):
        ForageWorld("###\n#P#\n###")
