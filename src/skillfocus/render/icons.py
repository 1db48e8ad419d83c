"""How things look, drawn once for every painter: SVG, pixels and the page's canvas.

An icon is a tuple of shapes on a box of 24 × 24, painted in order. Path data holds absolute M, L,
C and Z only, which SVG, `Path2D` and `raster.outlines` understand; lines have round caps and joins.
The first shape is the outline of the whole thing: alone and faint, it shows where something was.
"""

from __future__ import annotations

from typing import NamedTuple

from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import Cell, GridWorld

# -------------------- Every color that pictures of worlds are drawn in
#
# Shapes name their colors: either a role of a theme ("floor", "target"; see `PALETTES`), resolved
# when a picture is painted, or a CSS color that is the same in every theme.

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
"""Theme → role → color. Both themes have the same roles; "way" is the path of a run."""

THING_COLORS = {
    "tool": "#e8528c", "resource": "#d2c42b", "plant": "#1f9c4b", "mud": "#70500f",
    "treasure": "#ffd60a", "puddle": "#aef0ef",
}  # fmt: skip
"""The main color of each kind of thing that has an icon of its own."""

PLATE_COLORS = (
    "#e8a33d", "#7b6fd0", "#4fb0a5", "#c96a6a", "#8fb04f", "#5b8fd9", "#b08fc7", "#a0887a",
)  # fmt: skip
"""Colors for the kinds that a custom map defines, by their place in its legend."""

PLATE_EDGE, PLATE_LETTER = "#3a3a3a", "#1b1b1b"
"""Outline of, and letter on, the plate that stands for such a kind."""

SHADES = {
    "tool edge": "#8f1f4d", "tool shine": "#ffb3d1",
    "resource edge": "#7d7210", "resource shine": "#fff7b8", "resource leaf": "#3fa653",
    "plant edge": "#0d5a29", "plant vein": "#8fe0a8", "soil": "#8a6434", "soil edge": "#5c4019",
    "mud base": "#7a5a1c", "mud pit": "#654609", "mud shine": "#a07c36",
    "wood": "#9a5b1e", "wood edge": "#4a2a08", "lock": "#fff3a6",
    "water": "#8adbe8", "wave": "#c9f5f7", "ripple": "#3d9fc0",
    "track": "#a5813f",
    "skin": "#3f93d6", "skin edge": "#0b3954", "skin shine": "#a9d6f7", "pupil": "#0b2438",
    "eye": "#ffffff", "splash": "#6b4a12", "splash edge": "#432c06",
}  # fmt: skip
"""Further colors of the icons below, the same in every theme."""


def plate_color(world: GridWorld, glyph: str) -> str:
    """Return the color of the plate that stands for a glyph of a custom map's legend."""
    return PLATE_COLORS[list(world.legend).index(glyph) % len(PLATE_COLORS)]


TRACKED = ","
"""Glyph of tracks in worlds that show them as variables, whose legends need not have it."""
BOX = 24
"""Width and height of the box that icons are drawn on; also the size of a map cell."""

Point = tuple[float, float]


class Shape(NamedTuple):
    """One path with a fill, a stroke, or both.

    The page's canvas draws the same shapes: this order of fields is part of its data format.
    """

    path: str
    """Path data in units of the box."""
    fill: str = ""
    """A role of a palette or a CSS color; empty for no fill."""
    stroke: str = ""
    """Likewise, for the outline."""
    width: float = 0.0
    """Stroke width in units of the box."""


Icon = tuple[Shape, ...]


def disc(x: float, y: float, r: float, aspect: float = 1.0) -> str:
    """Return path data of a circle or an ellipse, as four Bézier curves.

    Args:
        x, y: Its center.
        r: Half its width.
        aspect: Its height divided by its width.
    """
    high, across, down = r * aspect, 0.5523 * r, 0.5523 * r * aspect
    curves = (
        (x + across, y - high, x + r, y - down, x + r, y),
        (x + r, y + down, x + across, y + high, x, y + high),
        (x - across, y + high, x - r, y + down, x - r, y),
        (x - r, y - down, x - across, y - high, x, y - high),
    )
    text = "".join("C" + " ".join(f"{number:.4g}" for number in curve) for curve in curves)
    return f"M{x:.4g} {y - high:.4g}{text}Z"


CELL = "M0 0L24 0L24 24L0 24Z"
"""A whole cell, for grounds."""
PLATE = (
    "M6 2.5L18 2.5C20 2.5 21.5 4 21.5 6L21.5 18C21.5 20 20 21.5 18 21.5"
    "L6 21.5C4 21.5 2.5 20 2.5 18L2.5 6C2.5 4 4 2.5 6 2.5Z"
)
"""A square with rounded corners, for kinds of things without an icon of their own."""

_BODY = (
    (disc(12, 12, 10.4), "eye"),
    (disc(12, 12, 9), "skin", "skin edge", 1.3),
)
_FACE = (
    (disc(8.7, 10.4, 2.5, 1.15), "eye"),
    (disc(15.3, 10.4, 2.5, 1.15), "eye"),
    (disc(9.2, 10.8, 1.25), "pupil"),
    (disc(14.8, 10.8, 1.25), "pupil"),
    ("M9 15.6C10.6 17.4 13.4 17.4 15 15.6", "", "eye", 1.4),
)
_SHAPES: dict[str, tuple[tuple, ...]] = {
    "tool": (
        ("M19.1 1.8L15.9 5L16.4 7.6L19 8.1L22.2 4.9C23.2 7.3 22.7 9.5 20.8 11.1C19.1 12.5 17.1 "
         "12.8 15.2 12.3L7.9 19.6C5.5 22.1 1.9 18.5 4.4 16.1L11.7 8.8C11.2 6.9 11.5 4.9 12.9 "
         "3.2C14.5 1.3 16.7 0.8 19.1 1.8Z", "tool", "tool edge", 1.2),
        ("M13.6 8.9L7.6 14.9", "", "tool shine", 1.3),
        (disc(6.2, 17.8, 1.1), "tool edge"),
    ),
    "resource": (
        ("M12 3.4C14.9 3.4 17 5.6 16.9 8.2C16.9 9.2 16.6 10 16.2 10.7C19.3 10.6 21.6 12.9 21.6 "
         "15.7C21.6 18.6 19.4 20.8 16.6 20.8C14.7 20.8 13 19.9 12 18.3C11 19.9 9.3 20.8 7.4 "
         "20.8C4.6 20.8 2.4 18.6 2.4 15.7C2.4 12.9 4.7 10.6 7.8 10.7C7.4 10 7.1 9.2 7.1 8.2C7 5.6 "
         "9.1 3.4 12 3.4Z", "resource", "resource edge", 1.2),
        (disc(12, 8.4, 4.9), "resource", "resource edge", 1),
        (disc(7.4, 15.8, 4.9), "resource", "resource edge", 1),
        (disc(16.6, 15.8, 4.9), "resource", "resource edge", 1),
        (disc(10.4, 6.9, 1.3), "resource shine"),
        (disc(5.8, 14.2, 1.3), "resource shine"),
        (disc(15, 14.2, 1.3), "resource shine"),
        ("M12.3 4.2C12.6 2 14.6 0.9 17.3 1.2C16.9 3.4 14.9 4.6 12.3 4.2Z", "resource leaf"),
    ),
    "plant": (
        ("M11 20.2C11.2 17 11 14.8 10.4 13.2C6 13.6 2.6 10.6 2.3 5.4C7 5.2 10.4 7.2 11.6 10.4C12.3 "
         "5.8 15.8 2.6 21.6 2.8C22 8.6 18.6 12.6 13 12.7C13.1 15 13.1 17.6 13 20.2Z",
         "plant", "plant edge", 1.1),
        ("M4.6 7.2C7.4 8 9.6 10 10.8 13", "", "plant vein", 1),
        ("M19.4 4.8C16 6.4 13.8 9 12.6 12.4", "", "plant vein", 1),
        ("M4.5 21.8C6 19.2 8.6 18.4 12 18.4C15.4 18.4 18 19.2 19.5 21.8Z", "soil", "soil edge", 1),
    ),
    "mud": (
        (CELL, "mud base"),
        ("M1.5 7C3.5 4 8.5 3 11 5.2C13 7 10.4 9.6 7.4 9.6C4.4 9.8 0.4 9.4 1.5 7Z", "mud pit"),
        ("M13 16.6C14.4 13.8 19.6 13 22 15.2C23.8 17 21 19.8 17.8 19.8C14.8 19.8 12 18.8 13 16.6Z",
         "mud pit"),
        (disc(17.8, 6.4, 2.3, 0.75), "mud pit"),
        (disc(5.6, 17.4, 2.6, 0.75), "mud pit"),
        ("M3.6 6.4C5 5.2 7 4.8 8.6 5.2", "", "mud shine", 1),
        ("M15.2 15.8C16.6 14.8 18.4 14.6 20 15", "", "mud shine", 1),
        (disc(12.4, 12.2, 0.8), "mud shine"),
        (disc(21.2, 10.4, 0.6), "mud shine"),
        (disc(9.8, 21, 0.7), "mud shine"),
    ),
    "treasure": (
        ("M2.4 10.6C2.4 6.4 4.8 4 8 4L16 4C19.2 4 21.6 6.4 21.6 10.6L21.6 19C21.6 20 21 20.6 20 "
         "20.6L4 20.6C3 20.6 2.4 20 2.4 19Z", "treasure", "wood edge", 1.4),
        ("M7.2 11.4L7.2 5.6C5.4 6 4.2 7.6 4.1 11.4Z", "wood"),
        ("M9.2 11.4L9.2 5.4L14.8 5.4L14.8 11.4Z", "wood"),
        ("M16.8 11.4L16.8 5.6C18.6 6 19.8 7.6 19.9 11.4Z", "wood"),
        ("M4.1 13.4L7.2 13.4L7.2 19L4.1 19Z", "wood"),
        ("M9.2 13.4L14.8 13.4L14.8 19L9.2 19Z", "wood"),
        ("M16.8 13.4L19.9 13.4L19.9 19L16.8 19Z", "wood"),
        ("M2.6 12.4L21.4 12.4", "", "wood edge", 1.1),
        ("M9.8 10.4L14.2 10.4L14.2 14C14.2 16.6 9.8 16.6 9.8 14Z", "lock", "wood edge", 1),
        (disc(12, 13, 1), "wood edge"),
    ),
    "puddle": (
        (CELL, "water"),
        ("M0 5C4 3.4 8 6.6 12 5C16 3.4 20 6.6 24 5", "", "wave", 1.5),
        ("M0 19C4 17.4 8 20.6 12 19C16 17.4 20 20.6 24 19", "", "wave", 1.5),
        (disc(12, 12, 6.6, 0.5), "", "ripple", 1.1),
        (disc(12, 12, 3, 0.5), "", "ripple", 1.1),
    ),
    "tracks": (
        (disc(8.4, 14.6, 2.7, 1.45) + disc(15.6, 8.2, 2.7, 1.45), "track"),
        (disc(8.4, 20.4, 1.8, 0.8) + disc(15.6, 14, 1.8, 0.8), "track"),
    ),
    "agent": (
        *_BODY,
        ("M5.4 9C6.2 6.8 8 5.2 10.2 4.7", "", "skin shine", 1.4),
        *_FACE,
    ),
    "muddy agent": (
        *_BODY,
        ("M3.2 11.8C4.6 13.4 6 12.8 7.2 14.2C8.4 15.6 9.6 13.4 11.4 14.2C13.2 15 13.6 13 15.6 "
         "13.6C17.6 14.2 19.2 12.8 20.8 11.8C20.9 17 17 20.8 12 20.8C7 20.8 3.1 17 3.2 11.8Z",
         "splash", "splash edge", 0.8),
        (disc(16.6, 6.2, 1.3) + disc(6.6, 7, 0.8) + disc(12.6, 5, 0.7), "splash"),
        *_FACE,
    ),
}  # fmt: skip
"""Icon → its shapes: path data, fill, stroke and width, with the colors of the tables above."""


def _shape(path: str, fill: str, stroke: str = "", width: float = 0.0) -> Shape:
    colors = {"": "", **THING_COLORS, **SHADES}
    return Shape(path, colors[fill], colors[stroke], width)


ICONS = {name: tuple(_shape(*row) for row in rows) for name, rows in _SHAPES.items()}
"""Every icon by the kind of thing it shows; the agent has two looks."""
GROUNDS = frozenset({"mud", "puddle"})
"""Kinds that fill their cell; everything else stands on the floor or on one of these."""


def glyph_icon(world: GridWorld, glyph: str) -> tuple[Icon, str]:
    """Return how a glyph of a world's legend is drawn.

    Returns:
        The icon, and the letter to write on it. Kinds of things without an icon of their own are
        a colored plate with the glyph as its letter; the others have no letter.
    """
    if world.legend.get(glyph) in THING_COLORS:
        return ICONS[world.legend[glyph]], ""
    return (Shape(PLATE, plate_color(world, glyph), PLATE_EDGE, 0.8),), glyph


def ground_glyphs(world: GridWorld) -> dict[Cell, str]:
    """Return the glyph of the ground (mud, water) for each cell that has one.

    The ground is what a cell shows once everything that can be taken is gone.
    """
    emptied = tuple(size - 1 for size in world.space.sizes)
    below = {cell: world.glyph_now(cell, emptied) for cell in world.map.cells}
    return {cell: glyph for cell, glyph in below.items() if world.legend.get(glyph) in GROUNDS}


def agent_icon_name(world: World, state: State) -> str:
    """Return the key in `ICONS` of the agent's look in a state: splashed while it is muddy."""
    return "muddy agent" if world.space.labels(state).get("muddy") else "agent"
