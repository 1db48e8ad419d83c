"""Figures of skills: maps, paths and titles."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import skillfocus as sf
from probes import RandomWorld, corridor
from skill_sets import make_skills
from skillfocus.errors import UserError
from skillfocus.figures import (
    END,
    PATH,
    START,
    check_drawable,
    draw_map,
    draw_skills,
    skills_figure,
)
from skillfocus.render.icons import ICONS, PALETTES, PLATE_LETTER, plate_color
from skillfocus.worlds.maps import make_map


@pytest.fixture(scope="module")
def fetch():
    return sf.discover(
        corridor(slip=0.1), sf.focused(sf.vic()), seed=1, targets={"tool_1": 2},
        learner=sf.Planning(rounds=20),
    )  # fmt: skip


def map_of(world, state):
    """A panel with a world's map."""
    panel = Figure(figsize=(3, 3)).subplots()
    draw_map(panel, world, state)
    return panel


def points_of(line: Line2D) -> np.ndarray:
    """The points of a line, `[n_points, 2]`."""
    return np.asarray(line.get_xydata())


def test_the_likely_path_is_the_one_without_slips(fetch):
    paths = [fetch.likely_path(z, (0, 0)) for z in range(2)]
    assert sorted(paths, key=len) == [
        [(0, 0)], [(0, 0), (1, 0), (2, 1), (1, 1), (0, 1)],
    ]  # fmt: skip


def test_panels_show_the_paths_rows_down_columns_across(fetch):
    figure = skills_figure(fetch, (0, 0))
    longest = max(
        (panel.lines[0] for panel in figure.axes), key=lambda line: np.size(line.get_xdata())
    )
    across, down = np.array(longest.get_xdata()), np.array(longest.get_ydata())
    assert np.floor(across).tolist() == [1, 2, 3, 3, 2, 1]  # columns of the map
    assert np.floor(down).tolist() == [1] * 6  # its only free row
    assert {panel.get_title().splitlines()[1] for panel in figure.axes} == {
        "changes tool_1", "changes nothing",
    }  # fmt: skip


def test_the_start_is_a_filled_cell_and_the_end_a_dot(fetch):
    for panel in skills_figure(fetch, (1, 0)).axes:
        (start,) = panel.patches
        assert (start.get_xy(), start.get_width(), start.get_height()) == ((2, 1), 1, 1)
        assert to_hex(start.get_facecolor()) == START
        path, end = panel.lines
        assert (path.get_color(), end.get_color()) == (PATH, END)
        assert end.get_marker() == "o"
        assert points_of(path)[-1].tolist() == points_of(end)[0].tolist()


def color_at(panel, row, column):
    """The color of a panel's map at a place, in cells from its top left corner."""
    (shown,) = panel.images
    pixels = np.asarray(shown.get_array())
    (height, width), (left, right, bottom, top) = pixels.shape[:2], shown.get_extent()
    x, y = (column - left) / (right - left), (row - top) / (bottom - top)
    return to_hex(pixels[int(y * height), int(x * width)] / 255)


def test_the_map_is_the_scene_in_cells():
    """What is there stands in its cell, rows down and columns across; what is gone does not."""
    world = sf.make("FourRooms-v0")
    panel = map_of(world, world.state(tool_1=1))
    assert (panel.get_xlim(), panel.get_ylim()) == ((0, 13), (13, 0))
    floor, wall, tool = (
        *(PALETTES["light"][name] for name in ("floor", "wall")),
        ICONS["tool"][0].fill,
    )
    middle = [color_at(panel, row + 0.4, column + 0.6) for row, column in world.tools]
    assert middle == [floor, tool, tool, tool]
    assert color_at(panel, 0.5, 12.5) == wall
    row, column = world.map.cells[5]
    assert color_at(panel, row + 0.5, column + 0.5) == floor


def test_maps_are_fine_enough_for_print():
    world = sf.make("FourRooms-v0")
    (shown,) = map_of(world, world.state()).images
    assert np.asarray(shown.get_array()).shape == (13 * 72, 13 * 72, 3)


def test_kinds_of_a_custom_map_are_shown_by_letter_and_color():
    world = make_map("room", text="K = pick-up $x^$\nmap:\n#####\n#..K#\n#####\n")
    panel = map_of(world, world.state())
    assert color_at(panel, 1.25, 3.5) == plate_color(world, "K")
    strip = {color_at(panel, 1.5, 3 + share) for share in np.linspace(0.3, 0.7, 41)}
    assert PLATE_LETTER in strip


def test_skills_with_modes_have_a_faint_path_for_each(fetch):
    world, mdp = fetch.world, fetch.mdp
    actions = np.full((mdp.n_states, 2), mdp.n_actions, np.uint8)
    actions[mdp.values[:, 0] == 0, 1] = 1  # the second mode goes right from the first cell
    skills = make_skills(world, mdp, ((),), ((),), actions.ravel(), 3, modes=(2,))
    (panel,) = skills_figure(skills, (0, 0)).axes
    paths = panel.lines[::2]
    assert [np.size(path.get_xdata()) for path in paths] == [1, 2]
    assert all(path.get_alpha() < 1 for path in paths)
    assert panel.get_title() == "skill 0 for any\nchanges position"


def test_panels_without_a_skill_are_empty(focused_vic):
    figure = skills_figure(focused_vic)
    assert [panel.get_title().split(" ")[:2] for panel in figure.axes] == [
        ["skill", str(z)] for z in range(16)
    ]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_every_format_is_written(fetch, tmp_path, suffix):
    path = draw_skills(fetch, tmp_path / f"a.{suffix}")
    signature = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(signature)


def test_a_world_without_a_map_is_an_error(tmp_path):
    world = RandomWorld(0)
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, n_skills=4, learner=sf.Planning(rounds=1)
    )
    with pytest.raises(UserError, match="Random-v0 has no map"):
        draw_skills(skills, tmp_path / "a.png")
    with pytest.raises(UserError, match="Random-v0 has no map"):
        check_drawable(world, tmp_path / "a.png")
    with pytest.raises(UserError, match="Random-v0 has no map"):
        skills_figure(skills)
