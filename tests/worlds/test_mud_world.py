from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.worlds.mud_world import MUDDY, MUDDY_CELLS, TREASURE, MudWorld

UP, RIGHT, DOWN, LEFT = range(4)


def outcomes(world, state, action):
    return {o.state: o.probability for o in world.transition(state, action)}


def test_sizes_of_the_paper():
    world = sf.make("MudWorld-v0")
    assert len(world.map.cells) == 100
    assert world.n_marks == 86
    assert world.space.variables[MUDDY_CELLS].largest_distance == 86
    assert (world.step_limit, world.goals) == (20, ("treasure",))
    assert world.marks_in((0, 1, 0, 5)) == 5


def test_mud_is_tracked_once_per_cell_and_washed_off():
    world = MudWorld(slip=0.0)
    cell = world.map.index
    into = next(iter(outcomes(world, (cell[(3, 6)], 0, 0, 0), LEFT)))
    assert into == (cell[(3, 5)], 1, 0, 0)
    (tracked,) = world.transition(into, RIGHT)
    assert tracked.state == (cell[(3, 6)], 1, 0, 1)
    assert tracked.again == (cell[(3, 6)], 1, 0, 0)
    assert tracked.mark == world.mark_of[(3, 6)]
    washed = next(iter(outcomes(world, (cell[(3, 7)], 1, 0, 2), RIGHT)))
    assert washed == (cell[(3, 8)], 0, 0, 2)
    found = next(iter(outcomes(world, (cell[(4, 5)], 1, 0, 0), LEFT)))
    assert (found[MUDDY], found[TREASURE]) == (1, 1)
    (bumped,) = world.transition((cell[(1, 1)], 1, 0, 3), UP)
    assert bumped.state == (cell[(1, 1)], 1, 0, 3)


def test_the_count_of_muddy_cells_saturates():
    world = MudWorld(slip=0.0, most_muddy=2)
    cell = world.map.index
    (more,) = world.transition((cell[(1, 1)], 1, 0, 2), RIGHT)
    assert more.state[MUDDY_CELLS] == 2
    assert world.space.variables[MUDDY_CELLS].largest_distance == 86


def test_a_collected_treasure_leaves_mud():
    world = sf.make("mud-world")
    assert world.draw((0, 0, 0, 0)).splitlines()[4] == "#.MMXM..WW.#"
    assert world.draw((0, 0, 1, 0)).splitlines()[4] == "#.MMMM..WW.#"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"most_muddy": 0}, "most_muddy is 0; it must be at least 1"),
        ({"drawing": "#####\n#.MX#\n#####"}, "the map has no puddle 'W'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(UserError, match=message):
        MudWorld(**arguments)
