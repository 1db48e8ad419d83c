"""Scenes as pixels."""

from __future__ import annotations

import numpy as np

import skillfocus as sf
from skillfocus.render import icons, raster, scene
from skillfocus.render.icons import ICONS, PALETTES
from skillfocus.render.scene import mark_of_cell, places_in_table
from skillfocus.worlds.four_rooms import FourRooms
from skillfocus.worlds.mud_world import MudWorld


def test_curves_end_where_they_should_and_bend():
    ((points, closed),) = raster.outlines(icons.disc(12, 12, 6))
    assert closed
    assert np.allclose(np.hypot(*(np.array(points) - 12).T), 6, atol=0.01)


def color_at(image, x, y):
    return "#" + bytes(image.getpixel((x, y))).hex()


def test_shapes_are_painted_in_their_order_and_in_the_themes_colors():
    for theme in ("light", "dark"):
        canvas = raster.Canvas(20, 10, 2.0, theme)
        square = icons.Shape("M0 0L8 0L8 8L0 8Z", "floor")
        inner = icons.Shape("M2 2L6 2L6 6L2 6Z", "#ff0000")
        canvas.paint(scene.place((square, inner), 0, 10, 1))
        image = canvas.image()
        assert image.size == (40, 20)
        assert color_at(image, 2, 2) == PALETTES[theme]["page"]
        assert color_at(image, 22, 4) == PALETTES[theme]["floor"]
        assert color_at(image, 28, 10) == "#ff0000"


def test_a_copy_can_be_painted_on_without_changing_the_original():
    canvas = raster.Canvas(10, 10, 1.0, "light")
    other = canvas.copy()
    other.paint(scene.place((icons.Shape("M0 5L10 5", "", "way", 4),), 0, 0, 0))
    assert color_at(canvas.image(), 5, 5) == PALETTES["light"]["page"]
    assert color_at(other.image(), 5, 5) == PALETTES["light"]["way"]


def test_a_state_image_is_the_scene_that_the_svg_shows():
    """Map, cards, agent: pixel for pixel what a canvas paints of the same items."""
    world = sf.make("MudWorld-v0")
    mdp = sf.tabulate(world)
    state = world.state(position=(8, 3), muddy=1, muddy_cells=1)
    assert isinstance(world, MudWorld)
    (cell, mark), *_ = mark_of_cell(world, mdp).items()
    marked = np.zeros(mdp.n_marks, np.uint8)
    marked[mark] = 1
    image = raster.StateImages(world, mdp).draw(mdp.number(state), marked)
    stage = scene.Stage(world)
    canvas = raster.Canvas(stage.width, stage.height, scene.SCALE, "light")
    canvas.paint(stage.items(state, tracks=frozenset([cell])))
    x, y = stage.center((8, 3))
    canvas.paint(scene.place(ICONS["muddy agent"], scene.WALK, x - 12, y - 12))
    assert (image.dtype, image.shape[2]) == (np.uint8, 3)
    assert np.array_equal(image, np.array(canvas.image()))


def test_state_images_show_what_the_page_does():
    """The start is marked, the place where the target changes is ringed, and cards say what the
    skill has changed: the same pixels as the items painted by hand."""
    world = sf.make("FourRooms-v0")
    mdp = sf.tabulate(world)
    assert isinstance(world, FourRooms)
    first, last = world.state(position=(1, 1)), world.state(position=(1, 2), tool_1=1)
    drawn = raster.StateImages(world, mdp).draw(
        mdp.number(last), np.zeros(0, np.uint8), [first, last], ("tool_1",)
    )
    stage = scene.Stage(world)
    (tool,) = (world.map.cells[p] for p in places_in_table(mdp)[world.space.index("tool_1")])
    assert world.map.glyph(tool) == "T"
    canvas = raster.Canvas(stage.width, stage.height, scene.SCALE, "light")
    canvas.paint(stage.items(last, first, ("tool_1",), rings=[tool]))
    canvas.paint(stage.walk([first, last]))
    assert np.array_equal(drawn, np.array(canvas.image()))
    center_x, center_y = stage.center(tool)
    edge = drawn[round(center_y * scene.SCALE), round((center_x + 11.9) * scene.SCALE)]
    assert "#" + bytes(edge).hex() == PALETTES["light"]["target"]


def test_state_images_show_the_path_and_only_marks_that_are_set():
    world = sf.make("MudWorld-v0")
    mdp = sf.tabulate(world)
    images = raster.StateImages(world, mdp)
    path = [mdp.number(world.state(position=(8, c))) for c in (3, 4, 5)]
    none = np.zeros(mdp.n_marks, np.uint8)
    still, moved = images.draw(path[-1], none), images.draw(path[-1], none, path)
    changed = np.argwhere((still != moved).any(axis=2)) / (24 * scene.SCALE)
    changed = changed[changed[:, 0] < len(world.map.rows)]  # below are cards
    assert np.floor(changed[:, 0]).tolist() == [8] * len(changed)
    assert set(np.floor(changed[:, 1])) == {3, 4, 5}
    assert not np.array_equal(still, images.draw(path[-1], np.ones_like(none)))
    assert np.array_equal(still, images.draw(path[-1], none, path[-1:]))
