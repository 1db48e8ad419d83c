"""Scenes as pixels, with Pillow: for GIFs. Painted three times as large and made smaller, so that
edges are smooth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from skillfocus.render.icons import PALETTES, Icon
from skillfocus.render.scene import Item, Painted, Words

FINER = 3
"""How much finer than the result things are painted."""
CURVE = 8
"""Pieces of a curve."""
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
Point = tuple[float, float]


class Canvas:
    def __init__(self, width: float, height: float, scale: float, theme: str) -> None:
        self._scale, self._palette = scale * FINER, PALETTES[theme]
        size = round(width * scale) * FINER, round(height * scale) * FINER
        self._image = Image.new("RGB", size, self._palette["page"])
        self._pen = ImageDraw.Draw(self._image)

    def copy(self) -> Canvas:
        other = object.__new__(Canvas)
        other._scale, other._palette, other._image = self._scale, self._palette, self._image.copy()
        other._pen = ImageDraw.Draw(other._image)
        return other

    def image(self) -> Image.Image:
        return self._image.reduce(FINER)

    def paint(self, items: Iterable[Item]) -> None:
        for item in items:
            if isinstance(item, Words):
                self._write(item)
            else:
                self._shape(item)

    def paint_icon(self, icon: Icon, x: float, y: float) -> None:
        self.paint(Painted(0, x, y, shape) for shape in icon)

    def line(self, points: Sequence[Point], colour: str, width: float) -> None:
        """A line with round corners and ends."""
        fill, wide = self._palette.get(colour, colour), width * self._scale
        pixels = [(x * self._scale, y * self._scale) for x, y in points]
        self._pen.line(pixels, fill=fill, width=max(1, round(wide)))
        if wide > 2:
            for x, y in pixels:
                r = wide / 2 - 0.5
                self._pen.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def _shape(self, item: Painted) -> None:
        shape = item.shape
        for points, closed in outlines(shape.path):
            moved = [(item.x + x, item.y + y) for x, y in points]
            if shape.fill:
                pixels = [(x * self._scale, y * self._scale) for x, y in moved]
                self._pen.polygon(pixels, fill=self._palette.get(shape.fill, shape.fill))
            if shape.stroke:
                whole = [*moved, moved[0]] if closed else moved
                self.line(whole, shape.stroke, shape.width * (0.6 if item.faint else 1))

    def _write(self, item: Words) -> None:
        font = _font(round(item.size * self._scale), item.bold)
        at = item.x * self._scale, item.y * self._scale
        fill = self._palette.get(item.colour, item.colour)
        self._pen.text(at, item.text, fill=fill, font=font, anchor=ANCHORS[item.anchor])


@cache
def outlines(path: str) -> tuple[tuple[tuple[Point, ...], bool], ...]:
    """The lines of path data as points, and whether each is closed."""
    found: list[tuple[list[Point], bool]] = []
    for command, rest in re.findall(r"([MLCZ])([^MLCZ]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", rest)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            found.append((points, False))
        elif command == "Z":
            found[-1] = found[-1][0], True
        elif command == "L":
            found[-1][0].extend(points)
        else:
            for place in range(0, len(points), 3):
                found[-1][0].extend(_curve(found[-1][0][-1], *points[place : place + 3]))
    return tuple((tuple(points), closed) for points, closed in found)


def _curve(a: Point, b: Point, c: Point, d: Point) -> list[Point]:
    """A Bézier curve from a to d, without a."""
    points = []
    for step in range(1, CURVE + 1):
        t = step / CURVE
        shares = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        x, y = (sum(s * p[i] for s, p in zip(shares, (a, b, c, d), strict=True)) for i in (0, 1))
        points.append((x, y))
    return points


@cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """DejaVu, which comes with matplotlib: it has letters of many languages, and signs."""
    from matplotlib import get_data_path

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / name, size)
