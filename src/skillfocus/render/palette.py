"""The colours that maps are drawn in, everywhere."""

from __future__ import annotations

from skillfocus.worlds.grid import FREE, WALL, GridWorld

COLOURS = {
    "tool": "#e8528c", "resource": "#d2c42b", "plant": "#1f9c4b", "mud": "#70500f",
    "treasure": "#ffd60a", "puddle": "#aef0ef",
}  # fmt: skip
OTHERS = ("#e8a33d", "#7b6fd0", "#4fb0a5", "#c96a6a", "#8fb04f", "#5b8fd9", "#b08fc7", "#a0887a")
"""What a map of one's own names, in the order of its legend; its letter is shown too."""
WALLS, FLOOR = "#1b1b1b", "#ffffff"


def colours_of(world: GridWorld) -> dict[str, str]:
    """The colour of every glyph of a map."""
    named = {
        glyph: COLOURS.get(what, OTHERS[place % len(OTHERS)])
        for place, (glyph, what) in enumerate(world.legend.items())
    }
    return {WALL: WALLS, FREE: FLOOR, **named}


def lettered(world: GridWorld, glyph: str) -> bool:
    """Whether a glyph's colour alone does not say what it is."""
    return glyph in world.legend and world.legend[glyph] not in COLOURS
