"""What a picture of a state consists of: shapes and texts at places, whoever paints them.

`Stage` lays out the pictures of one world and lists the items of a state and of the walk that led
there; `svg` and `raster` paint them. A map is measured in boxes of 24 units; below it
(or alone, where a world has no map) stand the caption and a card for every variable, that of the
agent's position across the whole picture. Colors are roles of a palette or CSS colors.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skillfocus.mdp import TabularMDP
from skillfocus.render.icons import (
    BOX,
    ICONS,
    PLATE_LETTER,
    TRACKED,
    Icon,
    Shape,
    agent_icon_name,
    disc,
    glyph_icon,
    ground_glyphs,
)
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import Cell, GridWorld

# -------------------- Fitting text into pictures: estimated widths, line breaks and truncation
#
# Widths are estimates that hold for any sans-serif font, because an SVG is set in a font that only
# the reader's browser knows.

MAX_LABEL = 24
"""Characters of a name or a value on a card; longer ones are truncated."""
MAX_LINES = 3
"""Lines of a wrapped paragraph; the rest is truncated."""
CHARACTER, WIDE_CHARACTER = 0.62, 0.5
"""Estimated width of a character in font sizes, and the extra width of an East Asian one."""


def wrap(text: str, size: float, width: float) -> list[str]:
    """Break a text into lines.

    Args:
        text: The text; runs of white space count as one space.
        size: The font size.
        width: The room for a line, in the same unit.

    Returns:
        At most `MAX_LINES` lines; what does not fit is truncated.
    """
    most = int(width / (CHARACTER * size))
    lines = [""]
    for word in (truncate(word, most) for word in text.split()):
        longer = f"{lines[-1]} {word}".lstrip()
        if not lines[-1] or text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [truncate(" ".join(lines[MAX_LINES - 1 :]), most)]
    return lines


def truncate(text: object, most: int = MAX_LABEL) -> str:
    """Return a text on one line of at most `most` characters, ending in "…" if it was cut."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in a font size."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return (CHARACTER * len(text) + WIDE_CHARACTER * wide) * size


SCALE = 28 / BOX
"""Pixels per unit: cells are 28 pixels wide."""
GROUND, THING, CARD, TEXT, WALK = range(5)
"""Layers, from the lowest."""
PADDING, CARD_HEIGHT, GAP = 7.0, 33.0, 5.0
NAME_SIZE, VALUE_SIZE, NOTE_SIZE, CAPTION_SIZE = 9.5, 13.0, 9.5, 10.5
"""Font sizes."""
LINE_HEIGHT = 14.0
"""Of a caption."""
TARGET, TARGET_CHANGED, CHANGED = "target", "✓ target", "changed"
CHANGED_SO_FAR, SIDE_EFFECT = "changed so far", "✗ side effect"
"""Notes on a card. What else is changed counts as a side effect only once the run is over."""
NOTE_COLORS = {
    TARGET: "target", TARGET_CHANGED: "target", CHANGED_SO_FAR: "side effect",
    SIDE_EFFECT: "side effect", CHANGED: "way", "": "grid",
}  # fmt: skip
"""The role of each note's color."""
PLAIN_NOTES = ("", CHANGED_SO_FAR)
"""Notes whose cards get no colored frame."""

START: Icon = (Shape("M1 1L23 1L23 23L1 23Z", "start", "way", 1.6),)
"""Where a run began. It shows around the agent, which often ends where it began."""
RING: Icon = (Shape(disc(BOX / 2, BOX / 2, BOX / 2), "", "target", 2.2),)
"""Where a target changes, as the page marks it."""


class PlacedShape(NamedTuple):
    """A shape at a place of a picture."""

    layer: int
    x: float
    y: float
    shape: Shape
    faint: bool = False
    """Whether it stands for something that is gone: dashed and translucent."""


class TextLine(NamedTuple):
    """A line of text; its baseline starts, is centered or ends (`anchor`) at (x, y)."""

    layer: int
    x: float
    y: float
    text: str
    size: float
    color: str
    anchor: str = "start"
    bold: bool = False


Item = PlacedShape | TextLine


def place(icon: Icon, layer: int, x: float, y: float) -> list[PlacedShape]:
    """Return an icon whose box has its top left corner at (x, y)."""
    return [PlacedShape(layer, x, y, shape) for shape in icon]


class Paragraph(NamedTuple):
    """A paragraph of the caption below the map."""

    text: str
    color: str = "ink"


def card_notes(
    world: World, first: State, now: State, targets: Sequence[str], over: bool = True
) -> dict[str, str]:
    """Return what a run's cards say about its variables.

    Args:
        world: The world of the run.
        first: The first state of the run.
        now: Its current state.
        targets: The variables the skill is for; without any, nothing is a side effect.
        over: Whether the run has ended.

    Returns:
        A note for each target and each variable that differs from its first value.
    """
    effect = SIDE_EFFECT if over else CHANGED_SO_FAR
    notes = {}
    for name, before, after in zip(world.space.names, first, now, strict=True):
        if name in targets:
            notes[name] = TARGET if before == after else TARGET_CHANGED
        elif before != after:
            notes[name] = effect if targets else CHANGED
    return notes


class Stage:
    """The layout of one world's pictures, the same for all its states.

        stage = Stage(world)
        items = stage.items(state)  # everything but the agent and its path, lowest first

    Attributes:
        grid: The world, if it has a map.
        width, height: The size of the pictures, in units.
        left: The x coordinate of the map's left edge.
        columns: Cards in a row.
    """

    def __init__(
        self, world: World, cards: bool = True, captions: Sequence[Sequence[Paragraph]] = ()
    ) -> None:
        """Lay out the pictures of a world.

        Args:
            world: The world.
            cards: Whether there is a card for every variable.
            captions: All captions to leave room for.
        """
        self.world = world
        self.grid = world if isinstance(world, GridWorld) else None
        self._grounds = ground_glyphs(self.grid) if self.grid else {}
        self._full_width = world.space.variables[:1] if self.grid and cards else ()
        self._in_columns = world.space.variables[len(self._full_width) :] if cards else ()
        rows = self.grid.map.rows if self.grid else []
        wide, high = (len(rows[0]) if rows else 0) * BOX, len(rows) * BOX
        widest = max((_card_width(v.name, v.values) for v in self._in_columns), default=0.0)
        narrowest = min(len(self._in_columns), 2 if self.grid else 4) * (widest + GAP)
        across = max((_card_width(v.name, v.values, 2) for v in self._full_width), default=0.0)
        self.width = max(wide, narrowest + GAP if cards else 0.0, across + 2 * GAP)
        self.columns = max(1, min(len(self._in_columns), int((self.width - GAP) // (widest + GAP))))
        self._card_width = (self.width - GAP) / self.columns - GAP
        self.left, self._caption_at = (self.width - wide) / 2, high + LINE_HEIGHT + 1.0
        lines = max((len(self._lines(caption)) for caption in captions), default=0)
        self._cards_top = high + (lines * LINE_HEIGHT + 6.0 if lines else 0.0) + GAP
        card_rows = len(self._full_width) + math.ceil(len(self._in_columns) / self.columns)
        self.height = self._cards_top + card_rows * (CARD_HEIGHT + GAP) if cards else high

    def _lines(self, caption: Sequence[Paragraph]) -> list[Paragraph]:
        width = self.width - 2 * GAP - 2
        return [
            Paragraph(line, color)
            for text, color in caption
            for line in wrap(text, CAPTION_SIZE, width)
        ]

    def center(self, cell: Sequence[float]) -> tuple[float, float]:
        """Return (x, y) of the center of a cell (row, column), or of a point between cells."""
        return self.left + (cell[1] + 0.5) * BOX, (cell[0] + 0.5) * BOX

    def items(
        self,
        state: State,
        first: State | None = None,
        targets: Sequence[str] = (),
        over: bool = True,
        start: State | None = None,
        tracks: frozenset[Cell] = frozenset(),
        caption: Sequence[Paragraph] = (),
        rings: Sequence[Cell] = (),
    ) -> list[Item]:
        """Return everything a picture shows but the agent and its path, the lowest layer first.

        Args:
            state: The state to draw.
            first: The first state of the run that led there, if any; cards say what has changed.
            targets: The variables the run's skill is for.
            over: Whether the run has ended.
            start: The state whose cell is marked as the start of the path (default: `first`).
            tracks: Cells with tracks.
            caption: Paragraphs below the map.
            rings: Cells that are ringed: where the targets change.
        """
        notes = {} if first is None else card_notes(self.world, first, state, targets, over)
        start = first if start is None else start
        items: list[Item] = [*self.background]
        if self.grid is not None:
            items += self._things(self.grid, state, start, tracks)
        for row, column in rings:
            items += place(RING, THING, self.left + column * BOX, float(row * BOX))
        for i, (line, color) in enumerate(self._lines(caption)):
            y = self._caption_at + i * LINE_HEIGHT
            items.append(TextLine(TEXT, GAP + 1, y, line, CAPTION_SIZE, color))
        items += self._cards(state, state if first is None else first, notes)
        return sorted(items, key=lambda item: item.layer)

    def walk(self, path: Sequence[State], time: float | None = None) -> list[PlacedShape]:
        """Return the line along a path, and the agent at its end; nothing without a map.

        Args:
            path: The states along the path.
            time: How many steps of it the agent has taken (default: all); between two steps it is
                between two cells.
        """
        if self.grid is None:
            return []
        time = len(path) - 1 if time is None else time
        cells = np.array([self.grid.map.cells[state[0]] for state in path], dtype=float)
        times, x, y = turned(cells, OFFSET)
        line = np.stack([x, y], axis=1)[times <= time]
        if time % 1:
            line = np.vstack([line, [np.interp(time, times, x), np.interp(time, times, y)]])
        here = [float(np.interp(time, np.arange(len(path)), each)) for each in cells.T]
        x, y = self.center(here)
        icon = ICONS[agent_icon_name(self.world, path[int(time)])]
        agent = place(icon, WALK, x - BOX / 2, y - BOX / 2)
        if (line == line[0]).all():
            return agent
        data = "L".join(f"{self.left + x * BOX:g} {y * BOX:g}" for x, y in line.tolist())
        return [PlacedShape(WALK, 0.0, 0.0, Shape(f"M{data}", "", "way", PATH_WIDTH)), *agent]

    @cached_property
    def background(self) -> list[PlacedShape]:
        """What is the same in all states: floor, grid lines and walls."""
        if self.grid is None:
            return []
        rows = self.grid.map.rows
        wide, high = len(rows[0]) * BOX, len(rows) * BOX
        lines = [f"M{x} 0L{x} {high}" for x in range(0, wide + 1, BOX)]
        lines += [f"M0 {y}L{wide} {y}" for y in range(0, high + 1, BOX)]
        cells = itertools.product(range(len(rows)), range(len(rows[0])))
        walls = "".join(_square(*cell) for cell in cells if cell not in self.grid.map.index)
        shapes = [
            Shape(f"M0 0L{wide} 0L{wide} {high}L0 {high}Z", "floor"),
            Shape("".join(lines), "", "grid", 0.8),
            *([Shape(walls, "wall", "wall edge", 0.6)] if walls else []),
        ]
        return [PlacedShape(GROUND, self.left, 0.0, shape) for shape in shapes]

    def _things(
        self, grid: GridWorld, state: State, start: State | None, tracks: frozenset[Cell]
    ) -> Iterator[Item]:
        for cell in grid.map.cells:
            at = self.left + cell[1] * BOX, float(cell[0] * BOX)
            original, now = grid.map.glyph(cell), grid.glyph_now(cell, state)
            ground = self._grounds.get(cell)
            if ground is not None:
                yield from place(ICONS[grid.legend[ground]], GROUND, *at)
            if start is not None and cell == grid.map.cells[start[0]]:
                yield from place(START, THING, *at)
            if cell in tracks or (now == TRACKED and TRACKED not in grid.legend):
                yield from place(ICONS["tracks"], THING, *at)
            if original != now and original in grid.legend:
                whole = glyph_icon(grid, original)[0][0]
                outline = Shape(whole.path, "", whole.fill, 1.4)
                yield PlacedShape(THING, *at, outline, faint=True)
            if now in grid.legend and now != ground:
                icon, letter = glyph_icon(grid, now)
                yield from place(icon, THING, *at)
                if letter:
                    x, y = at[0] + BOX / 2, at[1] + 16.6
                    yield TextLine(THING, x, y, letter, 13, PLATE_LETTER, "middle", True)

    def _cards(self, state: State, first: State, notes: Mapping[str, str]) -> Iterator[Item]:
        now, before = (self.world.space.labels(each) for each in (state, first))
        top = self._cards_top
        for name in (variable.name for variable in self._full_width):
            ends = dict.fromkeys([truncate(before[name]), truncate(now[name])])
            note = notes.get(name, "")
            yield from _card(GAP, top, self.width - 2 * GAP, name, " → ".join(ends), note)
            top += CARD_HEIGHT + GAP
        for i, variable in enumerate(self._in_columns):
            row, column = divmod(i, self.columns)
            x, y = GAP + column * (self._card_width + GAP), top + row * (CARD_HEIGHT + GAP)
            value, note = truncate(now[variable.name]), notes.get(variable.name, "")
            yield from _card(x, y, self._card_width, variable.name, value, note)


def _card_width(name: str, values: Sequence[object], times: int = 1) -> float:
    """Return the room a card needs for its name, `times` values and a note."""
    value = max(
        text_width(" → ".join([truncate(value)] * times), VALUE_SIZE) for value in values[:200]
    )
    note = max(text_width(note, NOTE_SIZE) for note in NOTE_COLORS)
    return 2 * PADDING + max(text_width(truncate(name), NAME_SIZE), value + 6 + note)


def _card(x: float, y: float, width: float, name: str, value: str, note: str) -> Iterator[Item]:
    frame, stroke = ("grid", 1.0) if note in PLAIN_NOTES else (NOTE_COLORS[note], 1.6)
    yield PlacedShape(CARD, x, y, Shape(_plate(width, CARD_HEIGHT), "card", frame, stroke))
    yield TextLine(TEXT, x + PADDING, y + 12, truncate(name), NAME_SIZE, "faint")
    yield TextLine(TEXT, x + PADDING, y + 27, value, VALUE_SIZE, "ink", bold=True)
    if note:
        right, color = x + width - PADDING, NOTE_COLORS[note]
        yield TextLine(TEXT, right, y + 27, note, NOTE_SIZE, color, "end")


def _square(row: int, column: int) -> str:
    left, top = column * BOX, row * BOX
    right, bottom = left + BOX, top + BOX
    return f"M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}Z"


def _plate(width: float, height: float, r: float = 5.0) -> str:
    """Return path data of a rectangle with rounded corners."""
    w, h = round(width, 2), round(height, 2)
    return (
        f"M{r} 0L{w - r:g} 0C{w - 2:g} 0 {w} 2 {w} {r}L{w} {h - r:g}C{w} {h - 2:g} {w - 2:g} {h} "
        f"{w - r:g} {h}L{r} {h}C2 {h} 0 {h - 2:g} 0 {h - r:g}L0 {r}C0 2 2 0 {r} 0Z"
    )


# --------------------
#
# What pictures know of a run on a map: the line along its cells, and the tracks it left

OFFSET = 0.11
"""How far beside the cells' centers a path runs, in cells, so that the way back shows."""
MAX_PLACES = 4
"""A variable that changes in more cells of a map than these has no place to be marked."""
PATH_WIDTH = 2.6
"""Stroke width of a path, in units of a picture."""


def turned(cells: np.ndarray, aside: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the line along a path on a map, with the way back drawn beside the way out.

    The path turns at the cell that is farthest from its first; both halves pass through it.

    Args:
        cells: Rows and columns, float [n_steps + 1, 2].
        aside: Offset of either half from the middle of the cells.

    Returns:
        The time of each corner, and its x and y, in cells.
    """
    turn, last = int(np.abs(cells - cells[0]).sum(axis=1).argmax()), len(cells) - 1
    out, back = np.arange(turn + 1), np.arange(turn, last + 1 if 0 < turn < last else turn)
    y, x = np.concatenate([cells[out] + 0.5 - aside, cells[back] + 0.5 + aside]).T
    return np.concatenate([out, back]), x, y


def observed_tracks(world: World, states: Sequence[State]) -> list[frozenset[Cell]]:
    """Return the cells known to have a hidden mark (tracks, on a map) after each step of a run.

    Variables only count the marks, so those of the first state are known to lie in a cell only
    once the agent has entered it.

    Returns:
        One set per state; all empty for worlds without hidden marks or without a map.
    """
    tracks: list[frozenset[Cell]] = [frozenset()] * len(states)
    if not isinstance(world, GridWorld) or not world.n_marks:
        return tracks
    for t in range(1, len(states)):
        before, now = tuple(states[t - 1]), tuple(states[t])
        outcomes = (o for a in range(len(world.actions)) for o in world.transition(before, a))
        arrived = any(o.mark >= 0 and now in (o.state, o.again) for o in outcomes)
        tracks[t] = tracks[t - 1] | ({world.map.cells[now[0]]} if arrived else frozenset())
    return tracks


def mark_of_cell(world: GridWorld, mdp: TabularMDP) -> dict[Cell, int]:
    """Return the index of the hidden mark of each cell that can get one."""
    source, action, slot = np.nonzero(mdp.marks >= 0)
    positions = mdp.values[mdp.successors[source, action, slot], 0]
    marks = mdp.marks[source, action, slot]
    pairs = np.unique(np.stack([positions, marks], axis=1), axis=0)
    return {world.map.cells[position]: mark for position, mark in pairs.tolist()}


def changing_places(before: np.ndarray, after: np.ndarray) -> list[list[int]]:
    """Return per variable the positions in which it changes; none if there are many.

    Pages and pictures ring these places for the targets of the current skill.

    Args:
        before: int [n, n_variables]: value indices before each possible step.
        after: int [n, n_variables]: and after it.
    """
    changed = before != after
    places = [np.unique(after[changed[:, j], 0]) for j in range(before.shape[1])]
    places[0] = places[0][:0]
    return [each.tolist() if len(each) <= MAX_PLACES else [] for each in places]


def places_in_table(mdp: TabularMDP) -> list[list[int]]:
    """Return `changing_places` of a map whose states `mdp` numbers."""
    source, action, slot = np.nonzero(mdp.probabilities > 0)
    return changing_places(mdp.values[source], mdp.values[mdp.successors[source, action, slot]])
