"""How things look, once for everything that draws: SVG, the page's canvas, and pixels.

An icon is a tuple of shapes on a box of 24 × 24, painted in order. Path data holds absolute M, L,
C and Z only, which SVG, `Path2D` and `raster` all understand; lines end and join round. The first
shape is the outline of the whole thing: alone and faint, it shows where something was.
"""

from __future__ import annotations

from typing import NamedTuple

from skillfocus.core.factored import State
from skillfocus.core.world import World
from skillfocus.render.palette import COLOURS, colours_of, lettered
from skillfocus.worlds.grid import Cell, GridWorld

BOX = 24
"""The width and height of the box that icons are drawn on."""


class Shape(NamedTuple):
    path: str
    fill: str = ""
    stroke: str = ""
    width: float = 0.0


Icon = tuple[Shape, ...]


def disc(x: float, y: float, r: float, tall: float = 1.0) -> str:
    """A circle, or an ellipse `tall` times as high as wide, as path data."""
    high, across, down = r * tall, 0.5523 * r, 0.5523 * r * tall
    curves = (
        (x + across, y - high, x + r, y - down, x + r, y),
        (x + r, y + down, x + across, y + high, x, y + high),
        (x - across, y + high, x - r, y + down, x - r, y),
        (x - r, y - down, x - across, y - high, x, y - high),
    )
    text = "".join("C" + " ".join(f"{number:.4g}" for number in curve) for curve in curves)
    return f"M{x:.4g} {y - high:.4g}{text}Z"


CELL = "M0 0L24 0L24 24L0 24Z"
PLATE = (
    "M6 2.5L18 2.5C20 2.5 21.5 4 21.5 6L21.5 18C21.5 20 20 21.5 18 21.5"
    "L6 21.5C4 21.5 2.5 20 2.5 18L2.5 6C2.5 4 4 2.5 6 2.5Z"
)

TOOL: Icon = (
    Shape(
        "M19.1 1.8L15.9 5L16.4 7.6L19 8.1L22.2 4.9C23.2 7.3 22.7 9.5 20.8 11.1C19.1 12.5 17.1 12.8"
        " 15.2 12.3L7.9 19.6C5.5 22.1 1.9 18.5 4.4 16.1L11.7 8.8C11.2 6.9 11.5 4.9 12.9 3.2"
        "C14.5 1.3 16.7 0.8 19.1 1.8Z",
        COLOURS["tool"], "#8f1f4d", 1.2,
    ),
    Shape("M13.6 8.9L7.6 14.9", "", "#ffb3d1", 1.3),
    Shape(disc(6.2, 17.8, 1.1), "#8f1f4d"),
)  # fmt: skip

_BERRY, _BERRY_EDGE = COLOURS["resource"], "#7d7210"
RESOURCE: Icon = (
    Shape(
        "M12 3.4C14.9 3.4 17 5.6 16.9 8.2C16.9 9.2 16.6 10 16.2 10.7C19.3 10.6 21.6 12.9 21.6 15.7"
        "C21.6 18.6 19.4 20.8 16.6 20.8C14.7 20.8 13 19.9 12 18.3C11 19.9 9.3 20.8 7.4 20.8"
        "C4.6 20.8 2.4 18.6 2.4 15.7C2.4 12.9 4.7 10.6 7.8 10.7C7.4 10 7.1 9.2 7.1 8.2"
        "C7 5.6 9.1 3.4 12 3.4Z",
        _BERRY, _BERRY_EDGE, 1.2,
    ),
    Shape(disc(12, 8.4, 4.9), _BERRY, _BERRY_EDGE, 1),
    Shape(disc(7.4, 15.8, 4.9), _BERRY, _BERRY_EDGE, 1),
    Shape(disc(16.6, 15.8, 4.9), _BERRY, _BERRY_EDGE, 1),
    Shape(disc(10.4, 6.9, 1.3), "#fff7b8"),
    Shape(disc(5.8, 14.2, 1.3), "#fff7b8"),
    Shape(disc(15, 14.2, 1.3), "#fff7b8"),
    Shape("M12.3 4.2C12.6 2 14.6 0.9 17.3 1.2C16.9 3.4 14.9 4.6 12.3 4.2Z", "#3fa653"),
)  # fmt: skip

PLANT: Icon = (
    Shape(
        "M11 20.2C11.2 17 11 14.8 10.4 13.2C6 13.6 2.6 10.6 2.3 5.4C7 5.2 10.4 7.2 11.6 10.4"
        "C12.3 5.8 15.8 2.6 21.6 2.8C22 8.6 18.6 12.6 13 12.7C13.1 15 13.1 17.6 13 20.2Z",
        COLOURS["plant"], "#0d5a29", 1.1,
    ),
    Shape("M4.6 7.2C7.4 8 9.6 10 10.8 13", "", "#8fe0a8", 1),
    Shape("M19.4 4.8C16 6.4 13.8 9 12.6 12.4", "", "#8fe0a8", 1),
    Shape(
        "M4.5 21.8C6 19.2 8.6 18.4 12 18.4C15.4 18.4 18 19.2 19.5 21.8Z",
        "#8a6434", "#5c4019", 1,
    ),
)  # fmt: skip

MUD: Icon = (
    Shape(CELL, "#7a5a1c"),
    Shape(
        "M1.5 7C3.5 4 8.5 3 11 5.2C13 7 10.4 9.6 7.4 9.6C4.4 9.8 0.4 9.4 1.5 7Z",
        "#654609",
    ),
    Shape("M13 16.6C14.4 13.8 19.6 13 22 15.2C23.8 17 21 19.8 17.8 19.8C14.8 19.8 12 18.8 13 16.6Z",
          "#654609"),
    Shape(disc(17.8, 6.4, 2.3, 0.75), "#654609"),
    Shape(disc(5.6, 17.4, 2.6, 0.75), "#654609"),
    Shape("M3.6 6.4C5 5.2 7 4.8 8.6 5.2", "", "#a07c36", 1),
    Shape("M15.2 15.8C16.6 14.8 18.4 14.6 20 15", "", "#a07c36", 1),
    Shape(disc(12.4, 12.2, 0.8), "#a07c36"),
    Shape(disc(21.2, 10.4, 0.6), "#a07c36"),
    Shape(disc(9.8, 21, 0.7), "#a07c36"),
)  # fmt: skip

_WOOD, _DARK = "#9a5b1e", "#4a2a08"
TREASURE: Icon = (
    Shape(
        "M2.4 10.6C2.4 6.4 4.8 4 8 4L16 4C19.2 4 21.6 6.4 21.6 10.6L21.6 19C21.6 20 21 20.6 20 20.6"
        "L4 20.6C3 20.6 2.4 20 2.4 19Z",
        COLOURS["treasure"], _DARK, 1.4,
    ),
    Shape("M7.2 11.4L7.2 5.6C5.4 6 4.2 7.6 4.1 11.4Z", _WOOD),
    Shape("M9.2 11.4L9.2 5.4L14.8 5.4L14.8 11.4Z", _WOOD),
    Shape("M16.8 11.4L16.8 5.6C18.6 6 19.8 7.6 19.9 11.4Z", _WOOD),
    Shape("M4.1 13.4L7.2 13.4L7.2 19L4.1 19Z", _WOOD),
    Shape("M9.2 13.4L14.8 13.4L14.8 19L9.2 19Z", _WOOD),
    Shape("M16.8 13.4L19.9 13.4L19.9 19L16.8 19Z", _WOOD),
    Shape("M2.6 12.4L21.4 12.4", "", _DARK, 1.1),
    Shape("M9.8 10.4L14.2 10.4L14.2 14C14.2 16.6 9.8 16.6 9.8 14Z", "#fff3a6", _DARK, 1),
    Shape(disc(12, 13, 1), _DARK),
)  # fmt: skip

PUDDLE: Icon = (
    Shape(CELL, "#8adbe8"),
    Shape("M0 5C4 3.4 8 6.6 12 5C16 3.4 20 6.6 24 5", "", "#c9f5f7", 1.5),
    Shape("M0 19C4 17.4 8 20.6 12 19C16 17.4 20 20.6 24 19", "", "#c9f5f7", 1.5),
    Shape(disc(12, 12, 6.6, 0.5), "", "#3d9fc0", 1.1),
    Shape(disc(12, 12, 3, 0.5), "", "#3d9fc0", 1.1),
)

TRACKS: Icon = (
    Shape(disc(8.4, 14.6, 2.7, 1.45) + disc(15.6, 8.2, 2.7, 1.45), "#a5813f"),
    Shape(disc(8.4, 20.4, 1.8, 0.8) + disc(15.6, 14, 1.8, 0.8), "#a5813f"),
)

_SKIN, _EDGE, _INK = "#3f93d6", "#0b3954", "#0b2438"
_BODY: Icon = (Shape(disc(12, 12, 10.4), "#ffffff"), Shape(disc(12, 12, 9), _SKIN, _EDGE, 1.3))
_FACE: Icon = (
    Shape(disc(8.7, 10.4, 2.5, 1.15), "#ffffff"),
    Shape(disc(15.3, 10.4, 2.5, 1.15), "#ffffff"),
    Shape(disc(9.2, 10.8, 1.25), _INK),
    Shape(disc(14.8, 10.8, 1.25), _INK),
    Shape("M9 15.6C10.6 17.4 13.4 17.4 15 15.6", "", "#ffffff", 1.4),
)
AGENT: Icon = (*_BODY, Shape("M5.4 9C6.2 6.8 8 5.2 10.2 4.7", "", "#a9d6f7", 1.4), *_FACE)
MUDDY_AGENT: Icon = (
    *_BODY,
    Shape(
        "M3.2 11.8C4.6 13.4 6 12.8 7.2 14.2C8.4 15.6 9.6 13.4 11.4 14.2C13.2 15 13.6 13 15.6 13.6"
        "C17.6 14.2 19.2 12.8 20.8 11.8C20.9 17 17 20.8 12 20.8C7 20.8 3.1 17 3.2 11.8Z",
        "#6b4a12", "#432c06", 0.8,
    ),
    Shape(disc(16.6, 6.2, 1.3) + disc(6.6, 7, 0.8) + disc(12.6, 5, 0.7), "#6b4a12"),
    *_FACE,
)  # fmt: skip

ICONS: dict[str, Icon] = {
    "tool": TOOL, "resource": RESOURCE, "plant": PLANT, "mud": MUD, "treasure": TREASURE,
    "puddle": PUDDLE, "tracks": TRACKS, "agent": AGENT, "muddy agent": MUDDY_AGENT,
}  # fmt: skip
GROUNDS = frozenset({"mud", "puddle"})
"""What fills its cell; anything else stands on the floor or on one of these."""

PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "page": "#ffffff", "card": "#faf9f6", "floor": "#f4f1ea", "grid": "#e3ded3",
        "wall": "#3b4252", "wall edge": "#2b303c", "ink": "#1f2430", "faint": "#6b7280",
        "way": "#2f7fb8", "start": "#b3c4de", "target": "#147a3d", "side effect": "#c01f2f",
    },
    "dark": {
        "page": "#14171d", "card": "#1d2129", "floor": "#2a2f3a", "grid": "#353b48",
        "wall": "#0d0f14", "wall edge": "#454d5e", "ink": "#e8eaf0", "faint": "#9aa3b2",
        "way": "#6cb8ee", "start": "#47597a", "target": "#5fd38d", "side effect": "#ff7b86",
    },
}  # fmt: skip
"""The colours around things, on light pages and on dark ones."""


def look(world: GridWorld, glyph: str) -> tuple[Icon, str]:
    """How a glyph of a world's legend is drawn: its shapes, and the letter to write on them where
    the shapes alone do not say what it is."""
    if not lettered(world, glyph):
        return ICONS[world.legend[glyph]], ""
    return (Shape(PLATE, colours_of(world)[glyph], "#3a3a3a", 0.8),), glyph


def grounds(world: GridWorld) -> dict[Cell, str]:
    """The glyph of the ground that a cell has under whatever stands there: what it shows when
    everything is taken."""
    taken = tuple(size - 1 for size in world.space.sizes)
    below = {cell: world.glyph_now(cell, taken) for cell in world.map.cells}
    return {cell: glyph for cell, glyph in below.items() if world.legend.get(glyph) in GROUNDS}


def agent_look(world: World, state: State) -> str:
    """The icon of the agent in a state."""
    return "muddy agent" if world.space.labels(state).get("muddy") else "agent"
