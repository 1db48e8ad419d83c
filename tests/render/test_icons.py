"""Icons: every painter understands them, and every kind of thing has one."""

from __future__ import annotations

import re

import numpy as np

import skillfocus as sf
from skillfocus.render import icons, raster
from skillfocus.render.icons import ICONS, PALETTES, THING_COLORS
from skillfocus.worlds.mud_world import MudWorld


def test_every_thing_that_has_a_color_has_an_icon_that_all_painters_understand():
    assert set(THING_COLORS) <= set(ICONS)
    for icon in ICONS.values():
        for shape in icon:
            assert re.fullmatch(r"([MLC][\d. -]+|Z)+", shape.path), shape
            assert (shape.stroke != "") == (shape.width > 0)
            for points, _ in raster.outlines(shape.path):
                assert len(points) > 1
                assert np.min(points) >= 0
                assert np.max(points) <= icons.BOX
    assert PALETTES["light"].keys() == PALETTES["dark"].keys()


def test_path_data_is_parsed_into_outlines():
    ((points, closed),) = raster.outlines("M0 1L2 3C4 5 6 7 8 9Z")
    assert (points[:2], points[-1], closed) == (((0, 1), (2, 3)), (8, 9), True)
    middle = points[1 + raster.CURVE_PIECES // 2]  # (2 + 3 * 4 + 3 * 6 + 8) / 8, by hand
    assert middle == (5, 6)
    assert len(points) == 2 + raster.CURVE_PIECES
    assert raster.outlines("M0 0L1 1 2 -2M3 3L4 4") == (
        (((0, 0), (1, 1), (2, -2)), False), (((3, 3), (4, 4)), False),
    )  # fmt: skip


def test_a_muddy_agent_has_another_icon():
    world = sf.make("MudWorld-v0")
    assert ICONS[icons.agent_icon_name(world, world.state(muddy=1))] == ICONS["muddy agent"]
    assert ICONS[icons.agent_icon_name(world, world.state())] == ICONS["agent"]


def test_the_treasure_of_mud_world_stands_on_mud():
    world = sf.make("MudWorld-v0")
    assert isinstance(world, MudWorld)
    ground = icons.ground_glyphs(world)
    (chest,) = world.map.find("X")
    assert world.legend[ground[chest]] == "mud"
    assert {world.legend[glyph] for glyph in ground.values()} == {"mud", "puddle"}
