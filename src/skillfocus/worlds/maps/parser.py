"""Worlds from map files: `read_map("museum.txt")`.

A map file is text. Above the line `map:` stand, one to a line and in any order: comments (`# …`),
settings (`slip = 0.1`, `step limit = 40`, `goals = NAME, …`), the legend (`V = fragile vase`: a
glyph and what its cells do, several things with commas between them), and at most one line
`tracks NAME while NAME up to N`. Below it stands the map: `#` wall, `.` free, `@` free and where
figures start, and the legend's glyphs. `map_world` says what the words mean.

Every mistake is told with its line and column, counted from 1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from skillfocus.errors import UserError
from skillfocus.worlds.grid import FREE, WALL, Cell, MapError
from skillfocus.worlds.maps.grammar import Source, Word, words_in
from skillfocus.worlds.maps.world import OWN, MapWorld, Part, Plan, Tracks

START = "@"
FORMS = {
    "pick-up": "pick-up NAME",
    "counter": "counter NAME up to N",
    "fragile": "fragile NAME",
    "switch": "switch NAME",
    "sets": "sets NAME",
    "clears": "clears NAME",
    "door": "door needs [no] NAME",
}
TRACKS = "tracks NAME while [no] NAME up to N"
SETTINGS = ("slip", "step limit", "goals")
MOST_UNITS, MOST_STEPS = 1000, 100_000
MOST_VARIABLES = 60
"""Far more than can be tabulated: one with two values doubles the number of states."""


def read_map(path: str | Path) -> MapWorld:
    """The world that a map file draws; its id is `map:` and the file's name without suffix."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"there is no map file {path}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"the map file {path} cannot be read: {error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(errors="replace").split("\n")
        raise UserError(
            f"{path}, line {len(before)}, column {len(before[-1]) + 1}: the byte "
            f"{error.object[error.start]:#04x} is not UTF-8; save the file as UTF-8 text"
        ) from None
    return _Reader(Source(str(path), text)).world(path.stem, text)


def make_map(name: str, **settings: object) -> MapWorld:
    """The world `map:NAME` again, from its settings: `text` is its whole map file."""
    text = settings.get("text")
    if set(settings) != {"text"} or not isinstance(text, str):
        raise UserError(f"map:{name} takes one setting, text: the whole text of its map file")
    return _Reader(Source(f"map:{name}", text)).world(name, text)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.settings: dict[str, Word] = {}
        self.glyphs: dict[str, Word] = {}
        self.legend: dict[str, tuple[Part, ...]] = {}
        self.things: dict[str, tuple[Part, Word]] = {}
        """Per name, what it is and where that was said first."""
        self.needs: list[Word] = []
        """The variables that doors and tracks need of other cells."""
        self.tracks: Tracks | None = None
        self.tracks_name = Word("", 0, 0)

    def world(self, name: str, text: str) -> MapWorld:
        lines = self.source.lines
        if not any(lines):
            raise UserError(f"{self.source.name} is empty; write a legend, map: and a drawing")
        if "map:" not in map(str.strip, lines):
            raise UserError(f"{self.source.name} has no map; write map: and below it the drawing")
        above = [line.strip() for line in lines].index("map:")
        for number, line in enumerate(lines[:above], 1):
            said = f" {line}".partition(" #")[0][1:]
            if said.strip():
                self.read_line(said, number)
        rows, top = self.read_rows(above)
        start = self.find_start(rows, top)
        plan = Plan(
            rows=tuple(row.replace(START, FREE) for row in rows),
            legend=self.legend,
            slip=self.slip(),
            step_limit=self.step_limit(),
            goals=None,
            start=start,
            tracks=self.tracks,
        )
        variables = self.check_names(plan)
        plan = replace(plan, goals=self.goals(plan, variables))
        try:
            return MapWorld(name, text, plan)
        except MapError as error:
            row, column = error.cell
            self.source.wrong(top + row, column + 1, error.problem)

    def read_line(self, line: str, number: int) -> None:
        """A line above the map: a setting, a glyph's meaning, or tracks."""
        words = words_in(line, number, 1)
        if words[0].text == "tracks":
            self.read_tracks(words)
            return
        left, equals, right = line.partition("=")
        key = Word(" ".join(left.split()), number, words[0].column)
        if not equals:
            known = ["GLYPH = …", *(f"{name} = …" for name in SETTINGS), "tracks …", "map:"]
            self.source.unknown_word(key, "line", known)
        before = self.settings.get(key.text) or self.glyphs.get(key.text)
        if before:
            self.source.wrong_word(key, f"{key.text!r} stands in line {before.line} already")
        if len(key.text) == 1:
            self.read_glyph(key, right, len(left) + 2)
        elif key.text in SETTINGS:
            column = len(left) + 2 + len(right) - len(right.lstrip())
            self.settings[key.text] = Word(right.strip(), number, column)
        else:
            known = [*SETTINGS, "or a glyph of one character"]
            self.source.unknown_word(key, "setting", known)

    def read_glyph(self, glyph: Word, meaning: str, column: int) -> None:
        if glyph.text in (FREE, START):
            self.source.wrong_word(glyph, f"{glyph.text!r} is free in every map; take another")
        self.glyphs[glyph.text] = glyph
        parts: dict[tuple[str, bool], Part] = {}
        doors: list[Word] = []
        for words in self.source.phrases(meaning, glyph.line, column):
            kind = words[0].text
            if kind not in FORMS:
                self.source.unknown_word(words[0], "word", FORMS)
            (name, *most), affirmed = self.source.fill(FORMS[kind], words)
            units = self.source.count(most[0], MOST_UNITS) if most else 1
            part = Part(kind, name.text, units, affirmed)
            if (name.text, kind == "door") in parts:
                self.source.wrong_word(name, f"{glyph.text!r} names {name.text!r} twice")
            parts[name.text, kind == "door"] = part
            if kind == "door":
                doors.append(name)
            else:
                self.check_kind(part, name)
        self.needs += [name for name in doors if (name.text, False) not in parts]
        self.legend[glyph.text] = tuple(parts.values())

    def check_kind(self, part: Part, word: Word) -> None:
        """A name is one kind of thing, or a flag."""
        self.check_name(word)
        first, before = self.things.setdefault(part.name, (part, word))
        flags = first.kind not in OWN and part.kind not in OWN
        if not flags and (first.kind, first.most) != (part.kind, part.most):
            limit = f" up to {first.most}" if first.kind == "counter" else ""
            self.source.wrong_word(
                word,
                f"{part.name!r} is another thing in line {before.line} "
                f"({first.kind} {part.name}{limit}); take another name",
            )

    def check_name(self, word: Word) -> None:
        if "=" in word.text or "+" in word.text:
            self.source.wrong_word(word, f"the name {word.text!r} may not contain '=' or '+'")

    def read_tracks(self, words: list[Word]) -> None:
        if self.tracks:
            line = self.tracks_name.line
            self.source.wrong_word(words[0], f"tracks stand in line {line} already")
        (name, needed, most), affirmed = self.source.fill(TRACKS, words)
        self.check_name(name)
        self.needs.append(needed)
        condition = Part("door", needed.text, wanted=affirmed)
        self.tracks = Tracks(name.text, condition, self.source.count(most, MOST_UNITS))
        self.tracks_name = name

    def slip(self) -> float:
        word = self.settings.get("slip", Word("0.1", 0, 0))
        try:
            slip = float(word.text)
        except ValueError:
            slip = -1.0
        if not 0 <= slip < 1:
            self.source.wrong_word(
                word, f"slip is {word.text!r}; it must be a number, at least 0 and less than 1"
            )
        return slip

    def step_limit(self) -> int:
        return self.source.count(self.settings.get("step limit", Word("40", 0, 0)), MOST_STEPS)

    def goals(self, plan: Plan, variables: list[str]) -> tuple[str, ...] | None:
        if "goals" not in self.settings:
            return None
        text, line, column = self.settings["goals"]
        goals: list[str] = []
        for words in self.source.phrases(text, line, column):
            (name,), _ = self.source.fill("NAME", words)
            if name.text not in plan.cells and name.text not in variables:
                self.source.unknown_word(name, "goal", variables)
            goals += plan.variables(name.text) if name.text in plan.cells else [name.text]
        return tuple(dict.fromkeys(goals))

    def read_rows(self, above: int) -> tuple[list[str], int]:
        """The map's rows, and the line of the first one."""
        below = self.source.lines[above + 1 :]
        if not any(below):
            self.source.wrong(above + 1, 1, "no map follows; draw it below this line")
        first = [bool(row) for row in below].index(True)
        rows = list(takewhile(bool, below[first:]))
        for number, line in enumerate(below[first + len(rows) :], above + 2 + first + len(rows)):
            if line:
                self.source.wrong(number, 1, "the map has ended above; all else belongs above map:")
        return rows, above + 2 + first

    def find_start(self, rows: list[str], top: int) -> Cell:
        """Where `@` stands; without one, the first free cell, or else the first that is no wall."""
        cells = [(r, c) for r, row in enumerate(rows) for c in range(len(row))]
        glyph = {(r, c): rows[r][c] for r, c in cells}
        inside = [cell for cell in cells if glyph[cell] != WALL]
        if len(inside) < 2:
            self.source.wrong(top, 1, "the map has fewer than two cells to walk on")
        starts = [cell for cell in inside if glyph[cell] == START]
        if len(starts) > 1:
            row, column = starts[1]
            self.source.wrong(top + row, column + 1, "there is a second '@'; leave one out")
        free = [cell for cell in inside if glyph[cell] == FREE]
        return (starts or free or inside)[0]

    def check_names(self, plan: Plan) -> list[str]:
        """The names of all variables but position, once they are known to be distinct and to
        include what doors and tracks need."""
        drawn = set("".join(plan.rows))
        for glyph, word in self.glyphs.items():
            if glyph not in drawn:
                self.source.wrong_word(word, f"{glyph!r} is not in the map")
        words = {name: word for name, (_, word) in self.things.items()}
        named = [(v, words[name]) for name in plan.cells for v in plan.variables(name)]
        variables = [variable for variable, _ in named]
        for needed in self.needs:
            if needed.text in variables:
                continue
            if needed.text in plan.cells:
                several = ", ".join(plan.variables(needed.text))
                self.source.wrong_word(needed, f"{needed.text!r} is {several}; name one of them")
            self.source.unknown_word(needed, "variable", variables)
        if self.tracks:
            if FREE not in drawn:
                self.source.wrong_word(self.tracks_name, "the map has no free cell for tracks")
            named.append((self.tracks.name, self.tracks_name))
        taken = {"position"}
        for variable, word in named:
            if variable in taken:
                self.source.wrong_word(
                    word, f"two variables would be named {variable!r}; take another name"
                )
            taken.add(variable)
            if len(taken) > MOST_VARIABLES:
                self.source.wrong_word(
                    word, f"there are more than {MOST_VARIABLES} variables; draw fewer cells of it"
                )
        return [variable for variable, _ in named]
