"""Scenes as pixels, with Pillow: for GIFs and for the environments' `rgb_array`.

Everything is painted three times as large and then reduced, so that edges are smooth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from skillfocus.mdp import TabularMDP
from skillfocus.render.icons import PALETTES, Point
from skillfocus.render.scene import (
    SCALE,
    Item,
    PlacedShape,
    Stage,
    TextLine,
    mark_of_cell,
    places_in_table,
)
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import Cell, environment_painter

SUPERSAMPLING = 3
"""How many times larger than the result things are painted."""
CURVE_PIECES = 8
"""Straight pieces that a Bézier curve is flattened to."""
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
"""Pillow's names of a text line's anchors."""


class Canvas:
    """A picture being painted, in the units of a scene.

    canvas = Canvas(stage.width, stage.height, SCALE, "light")
    canvas.paint(stage.items(state))
    canvas.image().save("state.png")
    """

    def __init__(self, width: float, height: float, scale: float, theme: str) -> None:
        """Start an empty picture of `width` × `height` units, `scale` pixels each."""
        self._scale, self._palette = scale * SUPERSAMPLING, PALETTES[theme]
        size = round(width * scale) * SUPERSAMPLING, round(height * scale) * SUPERSAMPLING
        self._image = Image.new("RGB", size, self._palette["page"])
        self._pen = ImageDraw.Draw(self._image)

    def copy(self) -> Canvas:
        """Return a copy to paint on further."""
        other = copy(self)
        other._image = self._image.copy()
        other._pen = ImageDraw.Draw(other._image)
        return other

    def image(self) -> Image.Image:
        """Return what has been painted, in its final size."""
        return self._image.reduce(SUPERSAMPLING)

    def paint(self, items: Iterable[Item]) -> None:
        """Paint items of a scene in their order."""
        for item in items:
            if isinstance(item, TextLine):
                font = _font(round(item.size * self._scale), item.bold)
                at = item.x * self._scale, item.y * self._scale
                fill = self._palette.get(item.color, item.color)
                self._pen.text(at, item.text, fill=fill, font=font, anchor=ANCHORS[item.anchor])
            else:
                self._paint_shape(item)

    def _line(self, pixels: Sequence[Point], color: str, width: float) -> None:
        """Paint a line with round joins and caps."""
        fill, wide = self._palette.get(color, color), width * self._scale
        self._pen.line(pixels, fill=fill, width=max(1, round(wide)))
        if wide > 2:
            for x, y in pixels:
                r = wide / 2 - 0.5
                self._pen.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def _paint_shape(self, item: PlacedShape) -> None:
        shape, scale = item.shape, self._scale
        for points, closed in outlines(shape.path):
            pixels = [((item.x + x) * scale, (item.y + y) * scale) for x, y in points]
            if shape.fill:
                self._pen.polygon(pixels, fill=self._palette.get(shape.fill, shape.fill))
            if shape.stroke:
                line = [*pixels, pixels[0]] if closed else pixels
                self._line(line, shape.stroke, shape.width * (0.6 if item.faint else 1))


class StateImages:
    """Images of a world's states, all of one size: what `env.render()` returns.

    The map with its tracks, the path of the last skill, its start, rings where its targets change
    and the agent, and a card per variable, which says what the skill has changed: what the page of
    `skills.view` shows. Where a world has no map, it is what its environment draws, or else only
    the cards.
    """

    def __init__(self, world: World, mdp: TabularMDP | None) -> None:
        """Prepare the images of a world whose states `mdp` numbers, if it has a table."""
        self._world, self._mdp, self._stage = world, mdp, Stage(world)
        self._marks: dict[Cell, int] = {}
        self._places: dict[str, list[Cell]] = {}
        grid = self._stage.grid
        if grid is not None and mdp is not None:
            self._marks = mark_of_cell(grid, mdp)
            for name, places in zip(world.space.names, places_in_table(mdp), strict=True):
                self._places[name] = [grid.map.cells[place] for place in places]
        self._painter = None if grid is not None else environment_painter(world)
        self._background = Canvas(self._stage.width, self._stage.height, SCALE, "light")
        self._background.paint(self._stage.background)

    def _values(self, state: int | Sequence[int]) -> State:
        if isinstance(state, Sequence):
            return tuple(state)
        assert self._mdp is not None
        return self._mdp.state(state)

    def draw(
        self,
        state: int | Sequence[int],
        marked: np.ndarray,
        path: Sequence[int] | Sequence[Sequence[int]] = (),
        targets: Sequence[str] = (),
    ) -> np.ndarray:
        """Return the image of a state.

        Args:
            state: The number of the state, or its value indices.
            marked: [n_marks], nonzero for hidden marks that are set; they are drawn as tracks.
            path: The states along the last skill's path, the current one last.
            targets: The variables that skill is for.

        Returns:
            [height, width, 3] bytes: red, green and blue.
        """
        stage, values = self._stage, self._values(state)
        if self._painter is not None:
            return self._painter(values)
        canvas, states = self._background.copy(), [self._values(each) for each in path]
        tracks = frozenset(cell for cell, mark in self._marks.items() if marked[mark])
        first = states[0] if len(states) > 1 else None
        rings = [cell for name in targets for cell in self._places.get(name, ())]
        items = stage.items(values, first, targets, tracks=tracks, rings=rings)
        canvas.paint(items[len(stage.background) :])
        canvas.paint(stage.walk(states if first is not None else [values]))
        return np.array(canvas.image(), dtype=np.uint8)


@lru_cache(4096)  # icons recur; the lines along paths do not
def outlines(path: str) -> tuple[tuple[tuple[Point, ...], bool], ...]:
    """Return the outlines of path data with curves flattened to straight pieces.

    Args:
        path: Absolute M, L, C and Z commands, as `Shape.path` has them.

    Returns:
        For each outline its points, and whether it is closed.
    """
    lines: list[list[Point]] = []
    closed: list[bool] = []
    for command, rest in re.findall(r"([MLCZ])([^MLCZ]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", rest)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            lines.append([])
            closed.append(False)
        if command == "C":
            for i in range(0, len(points), 3):
                lines[-1] += _flatten(lines[-1][-1], *points[i : i + 3])
        elif command == "Z":
            closed[-1] = True
        else:
            lines[-1] += points
    return tuple(zip(map(tuple, lines), closed, strict=True))


def _flatten(*corners: Point) -> list[Point]:
    """Return points on a Bézier curve without its first, given its ends and control points."""
    points = []
    for step in range(1, CURVE_PIECES + 1):
        t = step / CURVE_PIECES
        weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        x, y = (sum(w * p[i] for w, p in zip(weights, corners, strict=True)) for i in (0, 1))
        points.append((x, y))
    return points


@cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """Return DejaVu Sans, which matplotlib ships: it has letters of many languages, and signs."""
    from matplotlib import get_data_path

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / name, size)
