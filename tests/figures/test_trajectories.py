"""Figures of skills: maps, paths and titles."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import skillfocus as sf
from probes import RandomWorld, corridor
from skill_sets import make_skills
from skillfocus.errors import UserError
from skillfocus.figures.trajectories import (
    END,
    PATH,
    START,
    SceneShapes,
    check_drawable,
    draw_map,
    draw_skills,
    skills_figure,
    vector_path,
)
from skillfocus.render import icons
from skillfocus.render.icons import PALETTES, plate_colour
from skillfocus.render.scene import PlacedShape, Stage
from skillfocus.worlds.maps import make_map


@pytest.fixture(scope="module")
def fetch():
    return sf.discover(
        corridor(slip=0.1), sf.focused(sf.vic()), seed=1, targets={"tool_1": 2},
        learner=sf.Planning(rounds=20),
    )  # fmt: skip


def map_of(world, state):
    """A panel with a world's map, and the artist that draws it."""
    panel = Figure(figsize=(3, 3)).subplots()
    draw_map(panel, world, state)
    (shapes,) = panel.collections
    return panel, shapes


def points_of(line: Line2D) -> np.ndarray:
    """The points of a line, `[n_points, 2]`."""
    return np.asarray(line.get_xydata())


def colours_of(shapes: Collection) -> tuple[np.ndarray, np.ndarray]:
    """The RGBA colours of the shapes' faces and edges, `[n_shapes, 4]` each."""
    return np.asarray(shapes.get_facecolor()), np.asarray(shapes.get_edgecolor())


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


def test_the_map_is_the_scene_in_cells():
    """Every shape of the scene, in its order, at its cell, in the light theme's colours."""
    world = sf.make("FourRooms-v0")
    state = world.state(tool_1=1)
    panel, shapes = map_of(world, state)
    items = [i for i in Stage(world, cards=False).items(state) if isinstance(i, PlacedShape)]
    assert len(shapes.get_paths()) == len(items)
    assert (panel.get_xlim(), panel.get_ylim()) == ((0, 13), (13, 0))
    faces, edges = colours_of(shapes)
    assert to_hex(faces[0]) == PALETTES["light"]["floor"]
    tool = next(i for i, item in enumerate(items) if item.shape == icons.TOOL[0])
    corner = items[tool].y / icons.BOX, items[tool].x / icons.BOX
    assert corner in world.tools[1:]
    low, high = shapes.get_paths()[tool].get_extents().get_points()[:, ::-1]
    assert (np.floor([low, high]) == corner).all()
    assert to_hex(faces[tool]) == icons.TOOL[0].fill
    (gone,) = [i for i, item in enumerate(items) if item.faint]
    assert faces[gone][3] == 0
    assert 0 < edges[gone][3] < 1
    vertices = np.asarray(shapes.get_paths()[gone].vertices)
    assert np.floor(vertices[0][::-1]).tolist() == list(world.tools[0])


def test_curves_stay_curves():
    path = vector_path(PlacedShape(0, 24, 48, icons.Shape(icons.disc(12, 12, 12), "floor")))
    assert path.codes.tolist() == [1] + [4] * 12 + [79]
    assert path.get_extents().get_points() == pytest.approx(np.array([[1, 2], [2, 3]]), abs=1e-3)


@pytest.mark.parametrize("size", [2.0, 6.0])
def test_strokes_grow_with_the_panel(size):
    """A wall's edge is as many cells wide in a large figure as in a small one."""
    figure = Figure(figsize=(size, size), dpi=100)
    panel = figure.add_axes((0, 0, 1, 1))
    shape = icons.Shape("M0 0L24 0", "", "wall", 2.4)
    panel.add_collection(shapes := SceneShapes([PlacedShape(0, 0, 0, shape)]))
    panel.set(xlim=(0, 4), ylim=(4, 0))
    FigureCanvasAgg(figure).draw()
    points_per_cell = size * 72 / 4
    assert shapes.get_linewidth() == pytest.approx([0.1 * points_per_cell])


def test_kinds_of_a_custom_map_are_shown_by_letter_and_colour():
    world = make_map("room", text="K = pick-up $x^$\nmap:\n#####\n#..K#\n#####\n")
    panel, shapes = map_of(world, world.state())
    assert [(text.get_text(), int(text.get_position()[0])) for text in panel.texts] == [("K", 3)]
    fills = [to_hex(colour) for colour in colours_of(shapes)[0]]
    assert plate_colour(world, "K") in fills


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


def test_maps_are_vectors(fetch, tmp_path):
    assert "<image" not in draw_skills(fetch, tmp_path / "a.svg").read_text()


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
