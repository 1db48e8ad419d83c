"""Every colour that pictures of worlds are drawn in.

Shapes name their colours: either a role of a theme ("floor", "target"; see `PALETTES`), resolved
when a picture is painted, or a CSS colour that is the same in every theme.
"""

from __future__ import annotations

from skillfocus.worlds.grid import GridWorld

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
"""Theme → role → colour. Both themes have the same roles; "way" is the path of a run."""

THING_COLOURS = {
    "tool": "#e8528c", "resource": "#d2c42b", "plant": "#1f9c4b", "mud": "#70500f",
    "treasure": "#ffd60a", "puddle": "#aef0ef",
}  # fmt: skip
"""The main colour of each kind of thing that has an icon of its own."""

PLATE_COLOURS = (
    "#e8a33d", "#7b6fd0", "#4fb0a5", "#c96a6a", "#8fb04f", "#5b8fd9", "#b08fc7", "#a0887a",
)  # fmt: skip
"""Colours for the kinds that a custom map defines, by their place in its legend."""

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
"""Further colours of the icons in `icons.py`, the same in every theme."""


def has_own_icon(world: GridWorld, glyph: str) -> bool:
    """Return whether a glyph stands for a kind of thing with an icon of its own."""
    return world.legend.get(glyph) in THING_COLOURS


def plate_colour(world: GridWorld, glyph: str) -> str:
    """Return the colour of the plate that stands for a glyph of a custom map's legend."""
    return PLATE_COLOURS[list(world.legend).index(glyph) % len(PLATE_COLOURS)]
