"""Parse map files: `read_map("museum.txt")`.

A map file is text. Above the line `map:` stand, one per line and in any order: comments (`# …`),
settings (`slip = 0.1`, `step limit = 40`, `goals = NAME, …`), the legend (`V = fragile vase`: a
glyph and the features of its cells, separated by commas), and at most one line `tracks NAME while
NAME up to N`. Below it stands the map: `#` wall, `.` free, `@` free and the start of figures, and
the legend's glyphs. `maps/world.py` says what the features do.

Every error names its line and column, counted from 1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from skillfocus.errors import UserError
from skillfocus.worlds.grid import FREE, WALL, Cell, MapError
from skillfocus.worlds.maps.grammar import SourceText, Word, split_words
from skillfocus.worlds.maps.world import PER_CELL_KINDS, Feature, MapSpec, MapWorld, Tracks

START = "@"
FEATURE_FORMS = {
    "pick-up": "pick-up NAME",
    "counter": "counter NAME up to N",
    "fragile": "fragile NAME",
    "switch": "switch NAME",
    "sets": "sets NAME",
    "clears": "clears NAME",
    "door": "door needs [no] NAME",
}
"""How features are written, by their kind."""
TRACKS_FORM = "tracks NAME while [no] NAME up to N"
SETTINGS = ("slip", "step limit", "goals")
MAX_UNITS, MAX_STEPS = 1000, 100_000
MAX_VARIABLES = 60
"""Far more than can be tabulated: each variable at least doubles the number of states."""


def read_map(path: str | Path) -> MapWorld:
    """Return the world of a map file; its id is `map:` and the file's name without suffix.

    Raises:
        UserError: If the file cannot be read, or names the line and column of a mistake.
    """
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
    return _Parser(SourceText(str(path), text)).parse(path.stem, text)


def make_map(name: str, **settings: object) -> MapWorld:
    """Return the world `map:NAME` from its settings, for skills files.

    Args:
        name: The name.
        **settings: `text`, the whole text of the map file.
    """
    text = settings.get("text")
    if set(settings) != {"text"} or not isinstance(text, str):
        raise UserError(f"map:{name} takes one setting, text: the whole text of its map file")
    return _Parser(SourceText(f"map:{name}", text)).parse(name, text)


class _Parser:
    """Reads one map file; what it has read so far is in its attributes."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.settings: dict[str, Word] = {}
        self.glyphs: dict[str, Word] = {}
        self.legend: dict[str, tuple[Feature, ...]] = {}
        self.definitions: dict[str, tuple[Feature, Word]] = {}
        """The first feature of each name, and where it stands."""
        self.required: list[Word] = []
        """The variables that doors and tracks need of other cells."""
        self.tracks: Tracks | None = None
        self.tracks_name = Word("", 0, 0)

    def parse(self, name: str, text: str) -> MapWorld:
        lines = self.source.lines
        if not any(lines):
            raise UserError(f"{self.source.name} is empty; write a legend, map: and a drawing")
        if "map:" not in map(str.strip, lines):
            raise UserError(f"{self.source.name} has no map; write map: and below it the drawing")
        map_line = [line.strip() for line in lines].index("map:")
        for number, line in enumerate(lines[:map_line], 1):
            content = f" {line}".partition(" #")[0][1:]
            if content.strip():
                self.parse_line(content, number)
        rows, first_line = self.parse_rows(map_line)
        spec = MapSpec(
            rows=tuple(row.replace(START, FREE) for row in rows),
            legend=self.legend,
            slip=self.parse_slip(),
            step_limit=self.parse_step_limit(),
            goals=None,
            start=self.find_start(rows, first_line),
            tracks=self.tracks,
        )
        variables = self.check_names(spec)
        spec = replace(spec, goals=self.parse_goals(spec, variables))
        try:
            return MapWorld(name, text, spec)
        except MapError as error:
            row, column = error.cell
            self.source.fail(first_line + row, column + 1, error.problem)

    def parse_line(self, line: str, number: int) -> None:
        """Parse a line above the map: a setting, a glyph's features, or tracks."""
        words = split_words(line, number, 1)
        if words[0].text == "tracks":
            self.parse_tracks(words)
            return
        left, equals, right = line.partition("=")
        key = Word(" ".join(left.split()), number, words[0].column)
        if not equals:
            known = ["GLYPH = …", *(f"{name} = …" for name in SETTINGS), "tracks …", "map:"]
            self.source.fail_unknown(key, "line", known)
        earlier = self.settings.get(key.text) or self.glyphs.get(key.text)
        if earlier:
            self.source.fail_at(key, f"{key.text!r} is already defined in line {earlier.line}")
        if len(key.text) == 1:
            self.parse_glyph(key, right, len(left) + 2)
        elif key.text in SETTINGS:
            column = len(left) + 2 + len(right) - len(right.lstrip())
            self.settings[key.text] = Word(right.strip(), number, column)
        else:
            known = [*SETTINGS, "or a glyph of one character"]
            self.source.fail_unknown(key, "setting", known)

    def parse_glyph(self, glyph: Word, meaning: str, column: int) -> None:
        """Parse the features of a glyph's cells."""
        if glyph.text in (FREE, START):
            self.source.fail_at(
                glyph, f"{glyph.text!r} is a free cell in every map; choose another glyph"
            )
        self.glyphs[glyph.text] = glyph
        features: dict[tuple[str, bool], Feature] = {}
        doors: list[Word] = []
        for words in self.source.split_phrases(meaning, glyph.line, column):
            kind = words[0].text
            if kind not in FEATURE_FORMS:
                self.source.fail_unknown(words[0], "word", FEATURE_FORMS)
            (name, *count), affirmative = self.source.match_form(FEATURE_FORMS[kind], words)
            max_count = self.source.parse_count(count[0], MAX_UNITS) if count else 1
            feature = Feature(kind, name.text, max_count, affirmative)
            if (name.text, kind == "door") in features:
                self.source.fail_at(name, f"{glyph.text!r} names {name.text!r} twice")
            features[name.text, kind == "door"] = feature
            if kind == "door":
                doors.append(name)
            else:
                self.check_definition(feature, name)
        self.required += [name for name in doors if (name.text, False) not in features]
        self.legend[glyph.text] = tuple(features.values())

    def check_definition(self, feature: Feature, word: Word) -> None:
        """Check that a name has one kind; only flags may have several features."""
        self.check_name(word)
        first, earlier = self.definitions.setdefault(feature.name, (feature, word))
        flags = first.kind not in PER_CELL_KINDS and feature.kind not in PER_CELL_KINDS
        if not flags and (first.kind, first.max_count) != (feature.kind, feature.max_count):
            limit = f" up to {first.max_count}" if first.kind == "counter" else ""
            self.source.fail_at(
                word,
                f"{feature.name!r} is already defined in line {earlier.line} "
                f"({first.kind} {feature.name}{limit}); choose another name",
            )

    def check_name(self, word: Word) -> None:
        if "=" in word.text or "+" in word.text:
            self.source.fail_at(word, f"the name {word.text!r} may not contain '=' or '+'")

    def parse_tracks(self, words: list[Word]) -> None:
        if self.tracks:
            line = self.tracks_name.line
            self.source.fail_at(words[0], f"tracks are already defined in line {line}")
        (name, needed, count), affirmative = self.source.match_form(TRACKS_FORM, words)
        self.check_name(name)
        self.required.append(needed)
        condition = Feature("door", needed.text, passable_when_set=affirmative)
        self.tracks = Tracks(name.text, condition, self.source.parse_count(count, MAX_UNITS))
        self.tracks_name = name

    def parse_slip(self) -> float:
        word = self.settings.get("slip", Word("0.1", 0, 0))
        try:
            slip = float(word.text)
        except ValueError:
            slip = -1.0
        if not 0 <= slip < 1:
            self.source.fail_at(
                word, f"slip is {word.text!r}; it must be a number, at least 0 and less than 1"
            )
        return slip

    def parse_step_limit(self) -> int:
        word = self.settings.get("step limit", Word("40", 0, 0))
        return self.source.parse_count(word, MAX_STEPS)

    def parse_goals(self, spec: MapSpec, variables: list[str]) -> tuple[str, ...] | None:
        """Return the variables that the goals name; a name may stand for several."""
        if "goals" not in self.settings:
            return None
        text, line, column = self.settings["goals"]
        goals: list[str] = []
        for words in self.source.split_phrases(text, line, column):
            (name,), _ = self.source.match_form("NAME", words)
            if name.text not in spec.cells and name.text not in variables:
                self.source.fail_unknown(name, "goal", variables)
            goals += spec.variables(name.text) if name.text in spec.cells else [name.text]
        return tuple(dict.fromkeys(goals))

    def parse_rows(self, map_line: int) -> tuple[list[str], int]:
        """Return the map's rows, and the number of the line with the first one."""
        below = self.source.lines[map_line + 1 :]
        if not any(below):
            self.source.fail(map_line + 1, 1, "no map follows; draw it below this line")
        first = [bool(row) for row in below].index(True)
        rows = list(takewhile(bool, below[first:]))
        end = first + len(rows)
        for number, line in enumerate(below[end:], map_line + 2 + end):
            if line:
                self.source.fail(
                    number, 1, "the map has already ended; everything else belongs above map:"
                )
        return rows, map_line + 2 + first

    def find_start(self, rows: list[str], first_line: int) -> Cell:
        """Return the cell of `@`; without one, the first free cell, or else the first cell."""
        cells = [(r, c) for r, row in enumerate(rows) for c in range(len(row))]
        glyph = {(r, c): rows[r][c] for r, c in cells}
        inside = [cell for cell in cells if glyph[cell] != WALL]
        if len(inside) < 2:
            self.source.fail(first_line, 1, "the map has fewer than two cells to walk on")
        starts = [cell for cell in inside if glyph[cell] == START]
        if len(starts) > 1:
            row, column = starts[1]
            self.source.fail(first_line + row, column + 1, "there is a second '@'; remove one")
        free = [cell for cell in inside if glyph[cell] == FREE]
        return (starts or free or inside)[0]

    def check_names(self, spec: MapSpec) -> list[str]:
        """Return the names of all variables except position.

        They must be distinct and include what doors and tracks need.
        """
        drawn = set("".join(spec.rows))
        for glyph, word in self.glyphs.items():
            if glyph not in drawn:
                self.source.fail_at(word, f"{glyph!r} is not in the map")
        words = {name: word for name, (_, word) in self.definitions.items()}
        named = [(v, words[name]) for name in spec.cells for v in spec.variables(name)]
        variables = [variable for variable, _ in named]
        for required in self.required:
            if required.text in variables:
                continue
            if required.text in spec.cells:
                several = ", ".join(spec.variables(required.text))
                self.source.fail_at(required, f"{required.text!r} is {several}; name one of them")
            self.source.fail_unknown(required, "variable", variables)
        if self.tracks:
            if FREE not in drawn:
                self.source.fail_at(self.tracks_name, "the map has no free cell for tracks")
            named.append((self.tracks.name, self.tracks_name))
        names = {"position"}
        for variable, word in named:
            if variable in names:
                self.source.fail_at(
                    word, f"two variables would be named {variable!r}; choose another name"
                )
            names.add(variable)
            if len(names) > MAX_VARIABLES:
                self.source.fail_at(
                    word, f"there are more than {MAX_VARIABLES} variables; draw fewer such cells"
                )
        return [variable for variable, _ in named]
