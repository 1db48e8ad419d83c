"""How a world of real-valued variables looks: a few shapes, which pages draw.

A coordinate is a constant or a `Number`, the index of an observation's entry.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Number:
    """The entry of the observation with this index."""

    observation: int


Coordinate = float | Number
Point = tuple[Coordinate, Coordinate]


@dataclass(frozen=True)
class Circle:
    """A disc, such as an agent or an object."""

    at: Point
    """Its center."""
    radius: float
    """Its radius, in the units of the world."""
    variable: str | None = None
    """The variable it shows, whose color it has; None for scenery."""
    trail: bool = False
    """Whether the page draws where it has been."""
    hollow: bool = False
    """Whether to draw the outline only."""
    square: bool = False
    """Whether it is a square of this half side."""
    filling: tuple[Number, float, float] | None = None
    """A number from 0 to 1, and how opaque the filling is at 0 and at 1; None for always."""


@dataclass(frozen=True)
class Line:
    """A line, such as a wall."""

    start: Point
    """Where it begins."""
    end: Point
    """Where it ends."""
    width: float | None = None
    """Its width, in the units of the world; None for a hairline."""
    variable: str | None = None
    """The variable it shows; None for scenery."""


@dataclass(frozen=True)
class Arrow:
    """An arrow from a point, such as where a head looks."""

    at: Point
    """Where it begins."""
    angle: Coordinate
    """Its direction: 0 is up, π / 2 to the right."""
    length: float
    """Its length, in the units of the world."""
    variable: str | None = None
    """The variable it shows; None for scenery."""


@dataclass(frozen=True)
class Text:
    """A label."""

    at: Point
    """Its center."""
    text: str
    """What it says."""


@dataclass(frozen=True)
class Drawing:
    """The picture of a world."""

    bounds: tuple[float, float, float, float]
    """Left, bottom, right, top; the second axis points up."""
    shapes: tuple[Circle | Line | Arrow | Text, ...]
    """What to draw, in this order."""

    def as_json(self) -> dict[str, object]:
        """Return what the page takes: every shape with its kind."""
        shapes = [{"kind": type(shape).__name__.lower(), **asdict(shape)} for shape in self.shapes]
        return {"bounds": list(self.bounds), "shapes": shapes}
