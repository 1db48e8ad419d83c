from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.worlds.forage_world import ForageWorld
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.grid import ACTIONS, MOVES
from skillfocus.worlds.mud_world import MUDDY, MUDDY_CELLS, TREASURE, MudWorld

UP, RIGHT, DOWN, LEFT = range(4)


def test_moves_go_where_their_names_say():
    assert dict(zip(ACTIONS, MOVES, strict=True)) == {
        "up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1),
    }  # fmt: skip


def test_the_paper_s_worlds_have_the_paper_s_sizes():
    four, forage, mud = (sf.make(i) for i in ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0"))
    assert len(four.map.cells) == 104
    assert four.tools == [(5, 5), (6, 7), (7, 5), (8, 7)]
    assert four.space.size == 1664
    assert four.step_limit == 40
    assert len(forage.map.cells) == 36
    assert forage.space.names == (
        "position", "resource_1", "resource_2", "plant_1", "plant_2", "plant_3",
    )  # fmt: skip
    assert (forage.step_limit, mud.step_limit) == (20, 20)
    assert len(mud.map.cells) == 100
    assert mud.n_marks == 86
    assert mud.space.variables[MUDDY_CELLS].largest_distance == 86


def outcomes(world, state, action):
    return {o.state: o.probability for o in world.transition(state, action)}


def test_slips_by_hand():
    world = sf.make("four-rooms")
    cell = world.map.index
    state = (cell[(2, 2)], 0, 0, 0, 0)
    got = outcomes(world, state, UP)
    assert got[(cell[(1, 2)], 0, 0, 0, 0)] == pytest.approx(0.9)
    for target in ((3, 2), (2, 1), (2, 3)):
        assert got[(cell[target], 0, 0, 0, 0)] == pytest.approx(0.1 / 3)


def test_walls_hold_and_tools_are_picked_up_by_entering():
    world = sf.make("four-rooms")
    cell = world.map.index
    corner = (cell[(1, 1)], 0, 0, 0, 0)
    assert outcomes(world, corner, UP)[corner] == pytest.approx(0.9 + 0.1 / 3)
    beside = (cell[(4, 5)], 0, 0, 0, 0)
    assert outcomes(world, beside, DOWN)[(cell[(5, 5)], 1, 0, 0, 0)] == pytest.approx(0.9)
    on_top = (cell[(5, 5)], 0, 0, 0, 0)  # bumping into a wall is no arrival
    assert outcomes(world, on_top, DOWN)[on_top] == pytest.approx(0.9 + 0.1 / 3)


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


def test_states_draw_themselves():
    world = sf.make("four-rooms")
    text = world.draw((world.map.index[(6, 9)], 1, 0, 0, 0))
    rows = text.splitlines()
    assert rows[6] == "##.####T.@..#"
    assert rows[5] == "#.....#.....#"  # tool_1 is gone
    assert rows[7] == "#....T###.###"
    assert "tool_1=1" in text
    mud = sf.make("mud-world")
    assert mud.draw((0, 0, 1, 0)).splitlines()[4] == "#.MMMM..WW.#"
    forage = sf.make("forage-world")
    assert forage.draw((0, 0, 0, 1, 0, 0)).splitlines()[2] == "#......#"


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("", "empty"),
        ("###\n#T#\n####", "map row 2 has 4 cells, the first has 3"),
        ("####\n#T?#\n####", r"row 1, column 2 has the unknown glyph '\?'"),
        ("#####\n#.#T#\n#####", "the tool at map row 1, column 3 cannot be reached"),
        ("###\n#.#\n###", "no tool"),
        ("###\n###", "no free cell"),
    ],
)
def test_bad_maps_are_refused_with_the_place(drawing, message):
    with pytest.raises(UserError, match=message):
        FourRooms(drawing)


@given(st.data())
def test_any_map_parses_or_names_the_problem(data):
    width = data.draw(st.integers(1, 6))
    rows = data.draw(
        st.lists(st.text("#.T", min_size=width, max_size=width), min_size=1, max_size=5)
    )
    try:
        world = FourRooms("\n".join(rows))
    except UserError as error:
        assert str(error)
        return
    for state in itertools.islice(world.states(), 20):
        for action in range(4):
            found = world.transition(state, action)
            assert sum(o.probability for o in found) == pytest.approx(1.0)
            assert all(
                0 <= i < n for o in found for i, n in zip(o.state, world.space.sizes, strict=True)
            )
        assert world.draw(state).count("@") == 1
