"""Where everything stands in a picture."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from drawings import muddy
from skillfocus.render import raster, scene
from skillfocus.render.icons import BOX, ICONS, plate_color
from skillfocus.render.scene import (
    OFFSET,
    Stage,
    mark_of_cell,
    observed_tracks,
    turned,
    wrap,
)
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.maps import make_map
from skillfocus.worlds.mud_world import MudWorld


def test_cards_stand_beside_each_other_inside_the_picture():
    for name in ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0", "gymnasium:Taxi-v4"):
        world = sf.make(name)
        stage = scene.Stage(world)
        cards = [i for i in stage.items(world.state()) if i.layer == scene.CARD]
        boxes = []
        for card in cards:
            points = np.add(raster.outlines(card.shape.path)[0][0], (card.x, card.y))
            boxes.append((*points.min(axis=0), *points.max(axis=0)))
            assert boxes[-1][0] > 0
            assert boxes[-1][1] > (len(world.map.rows) * 24 if stage.grid else 0)
            assert boxes[-1][2] < stage.width
            assert boxes[-1][3] < stage.height
        assert len(boxes) == len(world.space)
        for place, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:place]:
                apart = left > other[2] or right < other[0] or top > other[3] or bottom < other[1]
                assert apart


def shapes_at(items, cell, layer):
    x, y = cell[1] * BOX, cell[0] * BOX
    placed = [item for item in items if isinstance(item, scene.PlacedShape)]
    return [item for item in placed if (item.layer, item.x, item.y) == (layer, x, y)]


def test_things_stand_in_their_cells_until_they_are_taken():
    world = sf.make("FourRooms-v0")
    stage = scene.Stage(world, cards=False)
    cell = world.tools[1]
    before = shapes_at(stage.items(world.state()), cell, scene.THING)
    after = shapes_at(stage.items(world.state(tool_2=1)), cell, scene.THING)
    assert tuple(item.shape for item in before) == ICONS["tool"]
    assert not any(item.faint for item in before)
    (outline,) = after
    assert (outline.faint, outline.shape.path, outline.shape.fill) == (
        True,
        ICONS["tool"][0].path,
        "",
    )


def test_the_start_and_tracks_are_marked_below_things():
    world = sf.make("MudWorld-v0")
    stage = scene.Stage(world, cards=False)
    start, state = world.state(position=(8, 3)), world.state(position=(8, 5))
    items = stage.items(state, start=start, tracks=frozenset([(8, 4)]))
    assert tuple(i.shape for i in shapes_at(items, (8, 3), scene.THING)) == scene.START
    assert tuple(i.shape for i in shapes_at(items, (8, 4), scene.THING)) == ICONS["tracks"]
    assert shapes_at(items, (8, 5), scene.THING) == []
    assert [item.layer for item in items] == sorted(item.layer for item in items)


def test_walls_are_one_shape_and_the_map_without_cards_is_as_large_as_its_cells():
    world = sf.make("FourRooms-v0")
    stage = scene.Stage(world, cards=False)
    assert (stage.width, stage.height) == (13 * BOX, 13 * BOX)
    floor, grid, walls = stage.background
    assert (floor.shape.fill, grid.shape.stroke, walls.shape.fill) == ("floor", "grid", "wall")
    assert walls.shape.path.count("Z") == 13 * 13 - len(world.map.cells)


def test_kinds_of_a_custom_map_are_plates_with_their_letter():
    world = make_map("room", text="K = pick-up key\nL = pick-up lamp\nmap:\n####\n#KL#\n####\n")
    stage = scene.Stage(world, cards=False)
    items = stage.items(world.state())
    letters = {i.text: (i.x, i.anchor) for i in items if isinstance(i, scene.TextLine)}
    assert letters == {"K": (1.5 * BOX, "middle"), "L": (2.5 * BOX, "middle")}
    fills = [shapes_at(items, (1, c), scene.THING)[0].shape.fill for c in (1, 2)]
    assert fills == [plate_color(world, "K"), plate_color(world, "L")]
    assert len(set(fills)) == 2


def test_notes_say_what_became_of_targets_and_of_everything_else():
    world = sf.make("FourRooms-v0")
    first, now = world.state(position=(1, 1)), world.state(position=(1, 2), tool_1=1)
    assert scene.card_notes(world, first, now, ["tool_1", "tool_2"]) == {
        "position": "✗ side effect", "tool_1": "✓ target", "tool_2": "target",
    }  # fmt: skip
    assert scene.card_notes(world, first, now, ["tool_1"], over=False)["position"] == (
        "changed so far"
    )
    assert scene.card_notes(world, first, now, []) == {"position": "changed", "tool_1": "changed"}


def test_captions_have_room_between_map_and_cards():
    world = sf.make("FourRooms-v0")
    caption = [scene.Paragraph("one line"), scene.Paragraph("word " * 40, "faint")]
    stage = scene.Stage(world, captions=[caption])
    assert stage.height == scene.Stage(world).height + 4 * scene.LINE_HEIGHT + 6
    lines = [i for i in stage.items(world.state(), caption=caption) if i.layer == scene.TEXT][:4]
    assert [line.color for line in lines] == ["ink", "faint", "faint", "faint"]
    assert all(13 * BOX < line.y < stage.height for line in lines)
    assert lines[3].text.endswith("…")


def test_what_is_said_is_broken_into_lines_and_cut():
    assert wrap("one two three", 10, 62) == ["one two", "three"]
    assert wrap("o" * 20, 10, 62) == ["o" * 9 + "…"]
    assert wrap("梅" * 9, 10, 62) == ["梅" * 9]
    assert wrap("one two three four five six", 10, 32) == ["one", "two", "thre…"]


def test_tracks_lie_where_a_muddy_agent_went():
    run = muddy()
    world = run.world
    assert run[-1] == world.space.state(position=(3, 6), muddy=1, treasure=1, muddy_cells=3)
    made = observed_tracks(world, run)
    assert [sorted(cells) for cells in made[:7]] == [[]] * 7
    assert made[7] == {(3, 6)}
    assert made[8] == made[9] == {(3, 6), (3, 7)}
    assert run._repr_html_().count(ICONS["tracks"][0].path) == 2


def test_tracks_that_were_there_before_are_known_once_the_agent_steps_on_them():
    world = sf.make("MudWorld-v0")
    states = [world.state(position=at, muddy=1, muddy_cells=1) for at in ((7, 3), (7, 4))]
    assert observed_tracks(world, states) == [set(), {(7, 4)}]


def test_the_way_back_runs_beside_the_way_out():
    """By hand: two cells to the right and back; rows become y, columns x."""
    cells = np.array([(3.0, 0.0), (3, 1), (3, 2), (3, 1), (3, 0)])
    times, x, y = turned(cells, 0.1)
    assert times.tolist() == [0, 1, 2, 2, 3, 4]
    assert x == pytest.approx([0.4, 1.4, 2.4, 2.6, 1.6, 0.6])
    assert y == pytest.approx([3.4] * 3 + [3.6] * 3)
    times, x, y = turned(cells[:3], 0.1)  # no way back
    assert times.tolist() == [0, 1, 2]
    assert x == pytest.approx([0.4, 1.4, 2.4])


def test_the_line_along_a_walk_grows_with_the_agent_at_its_end():
    world = sf.make("FourRooms-v0")
    stage = Stage(world)
    path = [world.state(position=(1, c)) for c in (1, 2, 3, 2, 1)]
    for time, corners, column in ((None, 6, 1), (1, 2, 2), (1.5, 3, 2.5), (2.5, 5, 2.5)):
        line, *agent = stage.walk(path, time)
        points = raster.outlines(line.shape.path)[0][0]
        assert len(points) == corners
        side = -OFFSET if time in (1, 1.5) else OFFSET
        (x, y), here = points[-1], agent[0]
        assert (y / BOX, x / BOX) == pytest.approx((1.5 + side, column + 0.5 + side), abs=1e-3)
        assert (here.y / BOX, here.x / BOX) == (1, column)
        assert tuple(shape.shape for shape in agent) == ICONS["agent"]
    assert [shape.shape for shape in stage.walk(path[:1] * 3)] == [*ICONS["agent"]]


def test_every_cell_that_can_be_tracked_has_its_mark():
    world = sf.make("MudWorld-v0")
    assert isinstance(world, MudWorld)
    assert mark_of_cell(world, sf.tabulate(world)) == world.mark_of
    rooms = sf.make("FourRooms-v0")
    assert isinstance(rooms, FourRooms)
    assert mark_of_cell(rooms, sf.tabulate(rooms)) == {}
