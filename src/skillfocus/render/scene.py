"""What a picture of a state consists of: shapes and words at places, whoever paints them.

A map is measured in boxes of 24; below it (or alone, where a world has no map) stand what there is
to say and a card for every variable, that of the agent's place across the picture.
Colours are names of a palette or as CSS writes them.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from skillfocus.core.factored import State
from skillfocus.core.world import World
from skillfocus.render.icons import BOX, ICONS, Icon, Shape, agent_look, grounds, look
from skillfocus.worlds.grid import Cell, GridWorld

GROUND, THING, CARD, WORDS = range(4)
"""Layers, from the lowest."""
PAD, CARD_HEIGHT, GAP = 7.0, 33.0, 5.0
NAME, VALUE, NOTE = 9.5, 13.0, 9.5
"""Sizes of letters."""
LONGEST = 24
"""Letters of a name or a value; what is longer is cut."""
LINE, MOST_LINES = 14.0, 3
"""The height of a line of a saying, and how many it may have."""
TARGET, CHANGED_TARGET, CHANGED = "target", "✓ target", "changed"
SO_FAR, SIDE_EFFECT = "changed so far", "✗ side effect"
"""What is changed besides the targets while a run is under way, and at its end."""
NOTE_COLOURS = {
    TARGET: "target", CHANGED_TARGET: "target", SO_FAR: "side effect", SIDE_EFFECT: "side effect",
    CHANGED: "way", "": "grid",
}  # fmt: skip
UNFRAMED = ("", SO_FAR)
"""Notes whose cards look as those without one."""

START: Icon = (Shape("M1 1L23 1L23 23L1 23Z", "start", "way", 1.6),)
"""Larger than the agent, which often ends where it began."""


class Painted(NamedTuple):
    """A shape at a place; `faint` for what is there no more."""

    layer: int
    x: float
    y: float
    shape: Shape
    faint: bool = False


class Words(NamedTuple):
    """A line of text whose baseline begins (or is centred, or ends) at a place."""

    layer: int
    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: str = "start"
    bold: bool = False


Item = Painted | Words


class Saying(NamedTuple):
    """A paragraph below the map."""

    text: str
    colour: str = "ink"


def notes(
    world: World, first: State, now: State, targets: Sequence[str], over: bool = True
) -> dict[str, str]:
    """What there is to say of each variable of a skill on its way from a first state, under way or
    `over`."""
    effect = SIDE_EFFECT if over else SO_FAR
    said = {}
    for name, before, after in zip(world.space.names, first, now, strict=True):
        if name in targets:
            said[name] = TARGET if before == after else CHANGED_TARGET
        elif before != after:
            said[name] = effect if targets else CHANGED
    return said


def tracked(world: World, states: Sequence[State]) -> list[frozenset[Cell]]:
    """Per moment of a way, the cells known to have got a hidden mark: tracks, on a map."""
    made: list[frozenset[Cell]] = [frozenset()] * len(states)
    if not isinstance(world, GridWorld) or not world.n_marks:
        return made
    for t in range(1, len(states)):
        before, now = tuple(states[t - 1]), tuple(states[t])
        outcomes = (o for a in range(len(world.actions)) for o in world.transition(before, a))
        arrived = any(o.mark >= 0 and now in (o.state, o.again) for o in outcomes)
        made[t] = made[t - 1] | ({world.map.cells[now[0]]} if arrived else frozenset())
    return made


def agent_icon(world: World, state: State) -> Icon:
    return ICONS[agent_look(world, state)]


class Stage:
    """Where everything stands in the pictures of one world, the same for all its states, with room
    for the longest of the `captions`."""

    def __init__(
        self, world: World, cards: bool = True, captions: Sequence[Sequence[Saying]] = ()
    ) -> None:
        self.world = world
        self.grid = world if isinstance(world, GridWorld) else None
        self._grounds = grounds(self.grid) if self.grid else {}
        self.broad = world.space.variables[:1] if self.grid and cards else ()
        self.listed = world.space.variables[len(self.broad) :] if cards else ()
        rows = self.grid.map.rows if self.grid else []
        wide, high = (len(rows[0]) if rows else 0) * BOX, len(rows) * BOX
        widest = max((self._card_width(v.name, v.values) for v in self.listed), default=0.0)
        least = min(len(self.listed), 2 if self.grid else 4) * (widest + GAP)
        broadest = max((self._card_width(v.name, v.values, 2) for v in self.broad), default=0.0)
        self.width = max(wide, least + GAP if cards else 0.0, broadest + 2 * GAP)
        self.columns = max(1, min(len(self.listed), int((self.width - GAP) // (widest + GAP))))
        self._card = (self.width - GAP) / self.columns - GAP
        self.left, self._caption_at = (self.width - wide) / 2, high + LINE + 1.0
        said = max((len(self._lines(caption)) for caption in captions), default=0)
        self._top = high + (said * LINE + 6.0 if said else 0.0) + GAP
        lines = len(self.broad) + math.ceil(len(self.listed) / self.columns)
        self.height = self._top + lines * (CARD_HEIGHT + GAP) if cards else high

    @staticmethod
    def _card_width(name: str, values: Sequence[object], times: int = 1) -> float:
        value = max(length(" → ".join([cut(value)] * times), VALUE) for value in values[:200])
        note = max(length(note, NOTE) for note in NOTE_COLOURS)
        return 2 * PAD + max(length(cut(name), NAME), value + 6 + note)

    def _lines(self, caption: Sequence[Saying]) -> list[Saying]:
        room = self.width - 2 * GAP - 2
        return [
            Saying(line, colour)
            for text, colour in caption
            for line in wrapped(text, NAME + 1, room)
        ]

    def middle(self, cell: Sequence[float]) -> tuple[float, float]:
        """The middle of a cell, or of what lies between cells."""
        return self.left + (cell[1] + 0.5) * BOX, (cell[0] + 0.5) * BOX

    def cell(self, state: State) -> Cell:
        return self.grid.map.cells[state[0]] if self.grid else (0, 0)

    def items(
        self,
        state: State,
        said: Mapping[str, str] | None = None,
        start: State | None = None,
        tracks: frozenset[Cell] = frozenset(),
        caption: Sequence[Saying] = (),
        first: State | None = None,
    ) -> list[Item]:
        """Everything but the agent and its way, lowest first. The way is marked where it began, in
        `start`; the agent's place is compared with that in `first`."""
        items: list[Item] = [*self._still]
        if self.grid is not None:
            items += self._things(self.grid, state, start, tracks)
        for place, (line, colour) in enumerate(self._lines(caption)):
            y = self._caption_at + place * LINE
            items.append(Words(WORDS, GAP + 1, y, line, NAME + 1, colour))
        items += self._cards(state, state if first is None else first, said or {})
        return sorted(items, key=lambda item: item.layer)

    @cached_property
    def _still(self) -> list[Item]:
        """What is the same in all states."""
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
        return [Painted(GROUND, self.left, 0.0, shape) for shape in shapes]

    def _things(
        self, grid: GridWorld, state: State, start: State | None, tracks: frozenset[Cell]
    ) -> Iterator[Item]:
        below = self._grounds
        for cell in grid.map.cells:
            at = self.left + cell[1] * BOX, float(cell[0] * BOX)
            own, now = grid.map.glyph(cell), grid.glyph_now(cell, state)
            if cell in below:
                ground = ICONS[grid.legend[below[cell]]]
                yield from (Painted(GROUND, *at, shape) for shape in ground)
            if start is not None and cell == grid.map.cells[start[0]]:
                yield from (Painted(THING, *at, shape) for shape in START)
            if cell in tracks:
                yield from (Painted(THING, *at, shape) for shape in ICONS["tracks"])
            if own != now and own in grid.legend:
                outline = look(grid, own)[0][0]
                gone = Shape(outline.path, "", outline.fill, 1.4)
                yield Painted(THING, *at, gone, faint=True)
            if now in grid.legend and now != below.get(cell):
                icon, letter = look(grid, now)
                yield from (Painted(THING, *at, shape) for shape in icon)
                if letter:
                    yield Words(
                        THING, at[0] + 12, at[1] + 16.6, letter, 13, "#1b1b1b", "middle", True
                    )

    def _cards(self, state: State, first: State, said: Mapping[str, str]) -> Iterator[Item]:
        now, before = (self.world.space.labels(each) for each in (state, first))
        top = self._top
        for name in (variable.name for variable in self.broad):
            ends = dict.fromkeys([cut(before[name]), cut(now[name])])
            note = said.get(name, "")
            yield from _card(GAP, top, self.width - 2 * GAP, name, " → ".join(ends), note)
            top += CARD_HEIGHT + GAP
        for place, variable in enumerate(self.listed):
            row, column = divmod(place, self.columns)
            x, y = GAP + column * (self._card + GAP), top + row * (CARD_HEIGHT + GAP)
            value, note = cut(now[variable.name]), said.get(variable.name, "")
            yield from _card(x, y, self._card, variable.name, value, note)


def _card(x: float, y: float, width: float, name: str, value: str, note: str) -> Iterator[Item]:
    frame, thick = ("grid", 1.0) if note in UNFRAMED else (NOTE_COLOURS[note], 1.6)
    yield Painted(CARD, x, y, Shape(_plate(width, CARD_HEIGHT), "card", frame, thick))
    yield Words(WORDS, x + PAD, y + 12, cut(name), NAME, "faint")
    yield Words(WORDS, x + PAD, y + 27, value, VALUE, "ink", bold=True)
    if note:
        yield Words(WORDS, x + width - PAD, y + 27, note, NOTE, NOTE_COLOURS[note], "end")


def wrapped(text: str, size: float, room: float) -> list[str]:
    """A text as lines for which there is room; what does not fit into a few is cut."""
    most = int(room / (0.62 * size))
    lines = [""]
    for word in (cut(word, most) for word in text.split()):
        longer = f"{lines[-1]} {word}".lstrip()
        if not lines[-1] or length(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [cut(" ".join(lines[MOST_LINES - 1 :]), most)]
    return lines


def cut(text: object, most: int = LONGEST) -> str:
    """A text on one line, no longer than there is room for."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def length(text: str, size: float) -> float:
    """About how long a text is, in letters of a size."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return (0.62 * len(text) + 0.5 * wide) * size


def _square(row: int, column: int) -> str:
    left, top = column * BOX, row * BOX
    right, bottom = left + BOX, top + BOX
    return f"M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}Z"


def _plate(width: float, height: float, r: float = 5.0) -> str:
    w, h = round(width, 2), round(height, 2)
    return (
        f"M{r} 0L{w - r:g} 0C{w - 2:g} 0 {w} 2 {w} {r}L{w} {h - r:g}C{w} {h - 2:g} {w - 2:g} {h} "
        f"{w - r:g} {h}L{r} {h}C2 {h} 0 {h - 2:g} 0 {h - r:g}L0 {r}C0 2 2 0 {r} 0Z"
    )
