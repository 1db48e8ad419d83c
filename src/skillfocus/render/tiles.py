"""States as pictures: the map in colours where a world has one, else its variables as text.

The agent is a disc, brown while it is muddy. What has been taken or destroyed leaves an outline,
and tracks, which the variables only count, are shown where they lie. A line shows the way the last
skill took.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.render.palette import FLOOR, colours_of, lettered
from skillfocus.worlds.grid import FREE, WALL, Cell, GridWorld

TRACKED, LINES, TEXT = "#c9b48a", "#dddddd", "#1b1b1b"
AGENT, MUDDY_AGENT, PATH = "#0b3954", "#4a3208", "#2f7fb8"
TILE, LINE_HEIGHT, MARGIN = 28, 16, 6


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default()


class Pictures:
    """Pictures of a world's states, all of one size."""

    def __init__(self, world: World, mdp: TabularMDP) -> None:
        self._world, self._table = world, mdp
        variables = world.space.variables
        self._grid = world if isinstance(world, GridWorld) else None
        self._listed = variables[1:] if self._grid else variables
        texts = [f"{v.name} = {value}" for v in self._listed for value in v.values]
        width = max((round(_font().getlength(text)) for text in texts), default=0)
        width, height = width + 2 * MARGIN, len(self._listed) * LINE_HEIGHT + 2 * MARGIN
        self._top = 0
        if self._grid is not None:
            rows = self._grid.map.rows
            self._top = len(rows) * TILE
            width, height = max(width, len(rows[0]) * TILE), height + self._top
            self._colours = colours_of(self._grid)
            self._tracked = tracked_cells(self._grid, mdp)
        self._size = width, height

    def draw(self, state: int, marked: np.ndarray, path: Sequence[int] = ()) -> np.ndarray:
        """[row, column, colour]: a (numbered) state as bytes, with the hidden marks that are set
        and the way that led there."""
        image = Image.new("RGB", self._size, FLOOR)
        pen = ImageDraw.Draw(image)
        values = self._table.state(state)
        if self._grid is not None:
            self._draw_map(pen, self._grid, values, marked)
            self._draw_agent(pen, self._grid, values, path)
        labels = self._world.space.labels(values)
        for place, variable in enumerate(self._listed):
            at = (MARGIN, self._top + MARGIN + place * LINE_HEIGHT)
            text = f"{variable.name} = {labels[variable.name]}"
            pen.text(at, text, fill=TEXT, font=_font())
        return np.array(image, dtype=np.uint8)

    def _draw_map(
        self, pen: ImageDraw.ImageDraw, world: GridWorld, state: State, marked: np.ndarray
    ) -> None:
        for r, row in enumerate(world.map.rows):
            for c, own in enumerate(row):
                cell = (r, c)
                now = world.glyph_now(cell, state) if cell in world.map.index else WALL
                colour = self._colours[now]
                if now == FREE and cell in self._tracked and marked[self._tracked[cell]]:
                    colour = TRACKED
                pen.rectangle(_box(cell, 0), fill=colour, outline=None if now == WALL else LINES)
                if lettered(world, now):
                    pen.text((c * TILE + 10, r * TILE + 7), now, fill=TEXT, font=_font())
                if own != now:
                    pen.rectangle(_box(cell, 6), outline=self._colours[own], width=2)

    def _draw_agent(
        self, pen: ImageDraw.ImageDraw, world: GridWorld, state: State, path: Sequence[int]
    ) -> None:
        cells = [world.map.cells[place] for place in self._table.values[list(path), 0]]
        if len(cells) > 1:
            pen.line([_middle(cell) for cell in cells], fill=PATH, width=3)
        muddy = world.space.labels(state).get("muddy")
        disc = _box(world.map.cells[state[0]], 5)
        pen.ellipse(disc, fill=MUDDY_AGENT if muddy else AGENT, outline=FLOOR, width=2)


def tracked_cells(world: GridWorld, mdp: TabularMDP) -> dict[Cell, int]:
    """Per cell that can be tracked, its hidden mark."""
    source, action, slot = np.nonzero(mdp.marks >= 0)
    places = mdp.values[mdp.successors[source, action, slot], 0]
    marks = mdp.marks[source, action, slot]
    pairs = np.unique(np.stack([places, marks], axis=1), axis=0)
    return {world.map.cells[place]: mark for place, mark in pairs.tolist()}


def _box(cell: Cell, inset: int) -> tuple[int, int, int, int]:
    top, left = cell[0] * TILE, cell[1] * TILE
    return left + inset, top + inset, left + TILE - 1 - inset, top + TILE - 1 - inset


def _middle(cell: Cell) -> tuple[int, int]:
    return cell[1] * TILE + TILE // 2, cell[0] * TILE + TILE // 2
