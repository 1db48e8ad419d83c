"""Tracks and lines of runs on a map."""

from __future__ import annotations

import pytest

import skillfocus as sf
from drawings import muddy
from skillfocus.render import icons
from skillfocus.render.icons import BOX
from skillfocus.render.scene import (
    OFFSET,
    Stage,
    mark_of_cell,
    observed_tracks,
    path_data,
    path_points,
)
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.mud_world import MudWorld


def test_tracks_lie_where_a_muddy_agent_went():
    run = muddy()
    world = run.world
    assert run[-1] == world.space.state(position=(3, 6), muddy=1, treasure=1, muddy_cells=3)
    made = observed_tracks(world, run)
    assert [sorted(cells) for cells in made[:7]] == [[]] * 7
    assert made[7] == {(3, 6)}
    assert made[8] == made[9] == {(3, 6), (3, 7)}
    assert run._repr_html_().count(icons.TRACKS[0].path) == 2


def test_tracks_that_were_there_before_are_known_once_the_agent_steps_on_them():
    world = sf.make("MudWorld-v0")
    states = [world.state(position=at, muddy=1, muddy_cells=1) for at in ((7, 3), (7, 4))]
    assert observed_tracks(world, states) == [set(), {(7, 4)}]


def test_the_way_back_runs_beside_the_way_out():
    stage = Stage(sf.make("FourRooms-v0"))
    cells = [(1, 1), (1, 2), (1, 3), (1, 2), (1, 1)]
    points = path_points(stage, cells)
    assert [t for t, _, _ in points] == [0, 1, 2, 2, 3, 4]
    at = {t: (x / BOX, y / BOX) for t, x, y in points[:2]}
    back = {t: (x / BOX, y / BOX) for t, x, y in points[-2:]}
    assert at[0] == pytest.approx((1.5 - OFFSET, 1.5 - OFFSET))
    assert back[4] == pytest.approx((1.5 + OFFSET, 1.5 + OFFSET))
    assert path_data(stage, cells).count("L") == 5
    assert path_data(stage, [(1, 1)] * 3) == ""


def test_one_way_has_one_line():
    stage = Stage(sf.make("FourRooms-v0"))
    assert [t for t, _, _ in path_points(stage, [(1, 1), (1, 2), (2, 2)])] == [0, 1, 2]


def test_every_cell_that_can_be_tracked_has_its_mark():
    world = sf.make("MudWorld-v0")
    assert isinstance(world, MudWorld)
    assert mark_of_cell(world, sf.tabulate(world)) == world.mark_of
    rooms = sf.make("FourRooms-v0")
    assert isinstance(rooms, FourRooms)
    assert mark_of_cell(rooms, sf.tabulate(rooms)) == {}
