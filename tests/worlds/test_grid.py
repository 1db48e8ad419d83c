from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import corridor
from skillfocus.errors import UserError
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.grid import ACTIONS, MOVES, Map, MapError

UP, RIGHT, DOWN, LEFT = range(4)


def test_moves_go_where_their_names_say():
    assert dict(zip(ACTIONS, MOVES, strict=True)) == {
        "up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1),
    }  # fmt: skip


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


def test_a_map_knows_its_cells():
    drawing = Map("#####\n#.T.#\n##.##", {"T": "tool"})
    assert drawing.cells == ((1, 1), (1, 2), (1, 3), (2, 2))
    assert drawing.index[(2, 2)] == 3
    assert (drawing.glyph((1, 2)), drawing.find("T"), drawing.find("X")) == ("T", [(1, 2)], [])
    assert drawing.move((1, 2), DOWN) == (2, 2)
    assert drawing.move((2, 2), DOWN) == (2, 2)  # beyond the border is wall


def test_map_errors_know_their_cell():
    with pytest.raises(MapError) as caught:
        Map("...\n.?.", {})
    assert caught.value.cell == (1, 1)
    assert caught.value.problem.startswith("this cell has the unknown glyph '?'")


def test_a_cell_that_may_not_be_entered_is_a_wall_for_now():
    class Guarded(FourRooms):
        def may_enter(self, state, cell):
            return cell != (1, 3)

    world = Guarded("#####\n#..T#\n#####", slip=0.0)
    beside = (1, 0)
    assert outcomes(world, beside, RIGHT) == {beside: 1.0}
    assert outcomes(corridor(), beside, RIGHT) == {(2, 1): 1.0}


def test_the_showcase_falls_back_to_the_first_cell():
    assert sf.make("four-rooms").showcase.labels["position"] == (6, 9)
    assert corridor().showcase == (0, 0)


def test_settings_make_the_same_world_again():
    world = FourRooms("####\n#.T#\n####", slip=0.3, step_limit=5)
    assert world.settings == {"drawing": "####\n#.T#\n####", "slip": 0.3, "step_limit": 5}
    settings: Any = world.settings
    assert sf.tabulate(FourRooms(**settings)).fingerprint == sf.tabulate(world).fingerprint


def test_a_map_with_very_many_variables_is_refused():
    with pytest.raises(UserError, match="the map makes 5,001 variables, more than 60"):
        FourRooms("T" * 5000)
