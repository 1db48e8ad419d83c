"""Parse map files: `read_map("museum.txt")`.

A map file is text. Above the line `map:` stand, one per line and in any order: comments (`# …`),
settings (`slip = 0.1`, `step limit = 40`, `goals = NAME, …`, `stay = yes`), the legend (`V =
fragile vase`: a glyph and the features of its cells, separated by commas), and at most one line
`tracks NAME while NAME up to N`. Below it stands the map: `#` wall, `.` free, `@` free and the
start of figures, and the legend's glyphs. `maps/world.py` says what the features do.

Every error names its line and column, counted from 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, NoReturn

from skillfocus.errors import UserError, unknown
from skillfocus.spaces import State, Variable
from skillfocus.world import MAX_STEPS, Outcome
from skillfocus.worlds.grid import (
    ACTIONS,
    FREE,
    MAX_VARIABLES,
    STAY,
    WALL,
    Cell,
    GridWorld,
    MapError,
)

# --------------------
#
# The text of a map file: lines, words with their places, and errors that name the place


class Word(NamedTuple):
    """A piece of a file and where it begins."""

    text: str
    line: int
    """Counted from 1."""
    column: int
    """Counted from 1."""


class SourceText:
    """A text file as lines, and the errors about it.

    Attributes:
        name: The file's name, for errors.
        lines: The lines without trailing spaces.
    """

    def __init__(self, name: str, text: str) -> None:
        """Split a text into lines.

        Raises:
            UserError: If it holds tabs or other control characters.
        """
        self.name = name
        normalized = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = [line.rstrip(" ") for line in normalized.split("\n")]
        for number, line in enumerate(self.lines, 1):
            for column, character in enumerate(line, 1):
                if character == "\t":
                    self.fail(number, column, "this is a tab; use spaces")
                if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
                    self.fail(number, column, f"the character {character!r} is not allowed")

    def fail(self, line: int, column: int, problem: str) -> NoReturn:
        """Raise an error about a place."""
        raise UserError(f"{self.name}, line {line}, column {column}: {problem}")

    def fail_at(self, word: Word, problem: str) -> NoReturn:
        """Raise an error about a word."""
        self.fail(word.line, word.column, problem)

    def fail_unknown(self, word: Word, kind: str, known: Iterable[str]) -> NoReturn:
        """Raise an error about an unknown word that suggests the nearest known one."""
        known = list(known)
        if not known:
            self.fail_at(word, f"unknown {kind} {word.text!r}: the legend names none")
        self.fail_at(word, str(unknown(kind, word.text, known)))

    def split_phrases(self, text: str, line: int, column: int) -> list[list[Word]]:
        """Split a part of a line at commas, and each phrase into words.

        Args:
            text: The part of the line.
            line: The number of the line.
            column: Where the part begins.

        Raises:
            UserError: If a phrase is empty.
        """
        phrases = []
        for part in text.split(","):
            words = split_words(part, line, column)
            if not words:
                self.fail(line, column, "a word is missing here")
            phrases.append(words)
            column += len(part) + 1
        return phrases

    def match_form(self, form: str, words: list[Word]) -> tuple[list[Word], bool]:
        """Match words with a form such as `door needs [no] NAME`.

        Returns:
            The words in the places of NAME and N, and whether the optional `no` is absent.

        Raises:
            UserError: If the words do not have this form.
        """
        pattern = form.split()
        affirmative = True
        if "[no]" in pattern:
            place = pattern.index("[no]")
            affirmative = len(words) < len(pattern) or words[place].text != "no"
            pattern.pop(place)
            words = words if affirmative else [*words[:place], *words[place + 1 :]]
        for word, expected in zip(words, pattern, strict=False):
            if expected.islower() and word.text != expected:
                self.fail_at(word, f"expected {expected!r}, got {word.text!r}; write {form!r}")
        if len(words) > len(pattern):
            extra = words[len(pattern)]
            self.fail_at(extra, f"unexpected {extra.text!r}; write {form!r}")
        if len(words) < len(pattern):
            last = words[-1]
            end = last.column + len(last.text)
            self.fail(last.line, end, f"the line is incomplete; write {form!r}")
        slots = [word for word, part in zip(words, pattern, strict=True) if part.isupper()]
        return slots, affirmative

    def parse_count(self, word: Word, maximum: int) -> int:
        """Return a whole number from 1 to `maximum`.

        Raises:
            UserError: If the word is anything else.
        """
        number = int(word.text) if re.fullmatch("[0-9]{1,9}", word.text) else 0
        if not 1 <= number <= maximum:
            self.fail_at(word, f"{word.text!r} must be a whole number from 1 to {maximum:,}")
        return number


def split_words(text: str, line: int, column: int) -> list[Word]:
    """Split a part of a line that begins at `column` into words."""
    return [Word(m.group(), line, column + m.start()) for m in re.finditer(r"\S+", text)]


# -------------------- `MapWorld`: the world that a map file describes
#
# Variables   position; then one per name in the order of the legend (0 at first); last the count of
#             tracks. A pick-up, a counter or a fragile thing has a variable of its own in each of
#             its cells: `tool` if there is one cell, `tool_1`, `tool_2`, … in reading order if
#             there are several. A flag (`sets`, `clears`, `switch`) is one variable, whatever cells
#             name it.
# Actions     up, right, down, left; they slip. With `stay = yes` also stay, which does nothing
# Arrival     the features of a cell take effect in the order of the legend Doors       a door's
# cell is a wall while its variable is 0 (`needs no`: while it is not 0), in the
#             state before the move. An agent inside a door that closes may leave it. A door that
#             names a thing of its own cell means the one in that cell: `B = fragile bridge, door
#             needs no bridge` can be crossed once.
# Hidden      which free cells already have tracks, as in MudWorld
# Starts      every combination of the variables, even inside a closed door

ONE_TIME_KINDS = ("pick-up", "fragile")
"""Features that are gone once they have taken effect."""
PER_CELL_KINDS = (*ONE_TIME_KINDS, "counter")
"""Features with a variable of their own in every cell; the others share one by its name."""
DEFAULT_GOAL_KINDS = ("pick-up", "counter")
"""Features whose variables are goals if a map names none."""


@dataclass(frozen=True)
class Feature:
    """One thing that a cell does, such as `pick-up key` or `door needs key`."""

    kind: str
    """The first word, one of `header.FEATURE_FORMS`."""
    name: str
    """The name of its variable or variables."""
    max_count: int = 1
    """Where a counter stops."""
    passable_when_set: bool = True
    """Whether a door is open while its variable is not 0, or while it is 0."""

    def apply(self, value: int) -> int:
        """Return the variable's value after an arrival."""
        if self.kind == "switch":
            return 1 - value
        return 0 if self.kind == "clears" else min(value + 1, self.max_count)

    def is_open(self, value: int) -> bool:
        """Return whether a door is open at a value of its variable."""
        return (value > 0) == self.passable_when_set


@dataclass(frozen=True)
class Tracks:
    """Counts the first arrival in each free cell, while a condition holds."""

    name: str
    """The variable that counts."""
    condition: Feature
    """Tracks are left while this door would be open."""
    max_count: int
    """Where the count stops."""


@dataclass(frozen=True)
class MapSpec:
    """What a map file says."""

    rows: tuple[str, ...]
    """The map, with a free cell instead of `@`."""
    legend: Mapping[str, tuple[Feature, ...]]
    """The features of each glyph's cells."""
    slip: float
    """Probability that a move goes in one of the other three directions."""
    step_limit: int
    """The most steps a skill may take."""
    goals: tuple[str, ...] | None
    """Variables that get two skills each; `None` if the file names none."""
    start: Cell
    """Where figures show the skills from."""
    tracks: Tracks | None
    """The tracks, if any."""
    stay: bool = False
    """Whether there is a fifth action that does nothing."""

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """The cells with a variable of their own, by name in the order of the legend.

        Names of flags have no cells; names of doors are absent.
        """
        features = (feature for row in self.legend.values() for feature in row)
        cells: dict[str, list[Cell]] = {f.name: [] for f in features if f.kind != "door"}
        for r, row in enumerate(self.rows):
            for c, glyph in enumerate(row):
                for feature in self.legend.get(glyph, ()):
                    if feature.kind in PER_CELL_KINDS:
                        cells[feature.name].append((r, c))
        return cells

    def variables(self, name: str) -> tuple[str, ...]:
        """Return the variables that a name stands for."""
        n = len(self.cells[name])
        return tuple(f"{name}_{i + 1}" for i in range(n)) if n > 1 else (name,)

    @cached_property
    def variable_of_cell(self) -> dict[tuple[str, Cell], str]:
        """The variables that cells have of their own, by name and cell."""
        return {
            (name, cell): variable
            for name, cells in self.cells.items()
            for cell, variable in zip(cells, self.variables(name), strict=False)
        }


FeaturesByCell = dict[Cell, list[tuple[Feature, int]]]
"""The features of each cell, with the indices of their variables."""


class MapWorld(GridWorld):
    """A world described by a map file; `read_map("museum.txt")` makes one.

    Attributes:
        text: The text of the map file.
        spec: What it says.
    """

    def __init__(self, name: str, text: str, spec: MapSpec) -> None:
        self.id = f"map:{name}"
        self.text, self.spec = text, spec
        self.legend = {
            glyph: " and ".join(f"{feature.kind} {feature.name}" for feature in features)
            for glyph, features in spec.legend.items()
        }
        self.showcase_cell = spec.start
        if spec.stay:
            self.actions = (*ACTIONS, STAY)
        super().__init__("\n".join(spec.rows), spec.slip, spec.step_limit)
        index = {name: j for j, name in enumerate(self.space.names)}
        self._features: FeaturesByCell = {
            cell: [
                (feature, index[spec.variable_of_cell.get((feature.name, cell), feature.name)])
                for feature in spec.legend.get(self.map.glyph(cell), ())
            ]
            for cell in self.map.cells
        }
        self._doors = _select(self._features, doors=True)
        self._effects = _select(self._features, doors=False)
        self._mark_of = {}
        if spec.tracks:
            self._mark_of = {cell: i for i, cell in enumerate(self.map.find(FREE))}
            self._track_condition = index[spec.tracks.condition.name]
        self.n_marks = len(self._mark_of)
        self.fixed = self._find_fixed()

    def other_variables(self) -> Iterable[Variable]:
        """Yield the variables of the legend, then the count of tracks."""
        features = (feature for row in self.spec.legend.values() for feature in row)
        max_count = {f.name: f.max_count for f in features if f.kind != "door"}
        for name in self.spec.cells:
            counts = tuple(range(max_count[name] + 1))
            yield from (Variable(variable, counts) for variable in self.spec.variables(name))
        if self.spec.tracks:
            n_free = len(self.map.find(FREE))
            counts = tuple(range(min(self.spec.tracks.max_count, n_free) + 1))
            yield Variable(self.spec.tracks.name, counts, scale=float(n_free))

    @property
    def settings(self) -> dict[str, object]:
        """The text of the map file, which makes this world again."""
        return {"text": self.text}

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals of the file; by default pick-ups and counters, or else all but position."""
        if self.spec.goals is not None:
            return self.spec.goals
        collectable = {
            self.space.names[variable]
            for features in self._features.values()
            for feature, variable in features
            if feature.kind in DEFAULT_GOAL_KINDS
        }
        goals = super().goals
        return tuple(name for name in goals if name in collectable) or goals

    def may_enter(self, state: State, cell: Cell) -> bool:
        """Return whether all doors of a cell are open."""
        return all(door.is_open(state[variable]) for door, variable in self._doors[cell])

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Apply the features of a cell, then count tracks."""
        for feature, variable in self._effects[cell]:
            state[variable] = feature.apply(state[variable])
        tracks = self.spec.tracks
        if (
            tracks
            and cell in self._mark_of
            and tracks.condition.is_open(state[self._track_condition])
        ):
            again = tuple(state)
            state[-1] = min(state[-1] + 1, self.space.sizes[-1] - 1)
            return Outcome(1.0, tuple(state), self._mark_of[cell], again)
        return Outcome(1.0, tuple(state))

    def marks_in(self, state: State) -> int:
        """Return how many free cells have tracks."""
        return state[-1] if self.spec.tracks else 0

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Return the glyph for what is left of a cell once a thing is gone or a door is open.

        That is the glyph with just the remaining features, `.` if none remain, and the cell's own
        glyph if no other has these features.
        """
        remaining = tuple(
            feature
            for feature, variable in self._features[cell]
            if not (feature.kind in ONE_TIME_KINDS and state[variable])
            and not (feature.kind == "door" and feature.is_open(state[variable]))
        )
        own = self.map.glyph(cell)
        if len(remaining) == len(self._features[cell]):
            return own
        glyph_of = {features: glyph for glyph, features in self.spec.legend.items()}
        return glyph_of.get(remaining, own) if remaining else FREE

    def _find_fixed(self) -> tuple[str, ...]:
        """Return the variables that no arrival changes, such as a pick-up behind its own door."""
        changing = {0} if not self.spec.tracks else {0, len(self.space) - 1}
        for cell, effects in self._effects.items():
            for feature, variable in effects:
                doors = [door for door, needed in self._doors[cell] if needed == variable]
                if any(
                    feature.apply(value) != value and all(door.is_open(value) for door in doors)
                    for value in range(self.space.sizes[variable])
                ):
                    changing.add(variable)
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)

    def _repr_details(self) -> Iterable[str]:
        yield f"map of {len(self.map.rows)} × {len(self.map.rows[0])} cells"


def _select(features: FeaturesByCell, doors: bool) -> FeaturesByCell:
    """Return only the doors, or only the other features."""
    return {
        cell: [
            (feature, variable) for feature, variable in row if (feature.kind == "door") == doors
        ]
        for cell, row in features.items()
    }


# --------------------
#
# The header of a map file: settings, legend and tracks, the lines above `map:`

START = "@"
"""A free cell, from which figures show the skills."""
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
SETTINGS = ("slip", "step limit", "goals", "stay")
MAX_UNITS = 1000


class Header:
    """What the lines above the map say, read line by line with `parse_line`.

    Attributes:
        source: The file, for errors.
        glyphs: Where each glyph of the legend is defined.
        legend: The features of each glyph's cells.
        definitions: The first feature of each name, and where it stands.
        required: The variables that doors and tracks need of other cells.
        tracks: The tracks, if any.
        tracks_name: Where they are defined.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.settings: dict[str, Word] = {}
        self.glyphs: dict[str, Word] = {}
        self.legend: dict[str, tuple[Feature, ...]] = {}
        self.definitions: dict[str, tuple[Feature, Word]] = {}
        self.required: list[Word] = []
        self.tracks: Tracks | None = None
        self.tracks_name = Word("", 0, 0)

    def parse_line(self, line: str, number: int) -> None:
        """Parse one line: a setting, a glyph's features, or tracks.

        Args:
            line: The line without comments; not empty.
            number: Its number, counted from 1.

        Raises:
            UserError: Names the place of a mistake.
        """
        words = split_words(line, number, 1)
        if words[0].text == "tracks":
            self._parse_tracks(words)
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
            self._parse_glyph(key, right, len(left) + 2)
        elif key.text in SETTINGS:
            column = len(left) + 2 + len(right) - len(right.lstrip())
            self.settings[key.text] = Word(right.strip(), number, column)
        else:
            known = [*SETTINGS, "or a glyph of one character"]
            self.source.fail_unknown(key, "setting", known)

    def _parse_glyph(self, glyph: Word, meaning: str, column: int) -> None:
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
                self._check_definition(feature, name)
        self.required += [name for name in doors if (name.text, False) not in features]
        self.legend[glyph.text] = tuple(features.values())

    def _check_definition(self, feature: Feature, word: Word) -> None:
        """Check that a name has one kind; only flags may have several features."""
        self._check_name(word)
        first, earlier = self.definitions.setdefault(feature.name, (feature, word))
        flags = first.kind not in PER_CELL_KINDS and feature.kind not in PER_CELL_KINDS
        if not flags and (first.kind, first.max_count) != (feature.kind, feature.max_count):
            limit = f" up to {first.max_count}" if first.kind == "counter" else ""
            self.source.fail_at(
                word,
                f"{feature.name!r} is already defined in line {earlier.line} "
                f"({first.kind} {feature.name}{limit}); choose another name",
            )

    def _check_name(self, word: Word) -> None:
        if "=" in word.text or "+" in word.text:
            self.source.fail_at(word, f"the name {word.text!r} may not contain '=' or '+'")

    def _parse_tracks(self, words: list[Word]) -> None:
        """Parse the line `tracks NAME while NAME up to N`."""
        if self.tracks:
            line = self.tracks_name.line
            self.source.fail_at(words[0], f"tracks are already defined in line {line}")
        (name, needed, count), affirmative = self.source.match_form(TRACKS_FORM, words)
        self._check_name(name)
        self.required.append(needed)
        condition = Feature("door", needed.text, passable_when_set=affirmative)
        self.tracks = Tracks(name.text, condition, self.source.parse_count(count, MAX_UNITS))
        self.tracks_name = name

    @property
    def slip(self) -> float:
        """Probability that a move goes in one of the other three directions."""
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

    @property
    def step_limit(self) -> int:
        """The most steps a skill may take."""
        word = self.settings.get("step limit", Word("40", 0, 0))
        return self.source.parse_count(word, MAX_STEPS)

    @property
    def stay(self) -> bool:
        """Whether there is a fifth action that does nothing."""
        word = self.settings.get("stay", Word("no", 0, 0))
        if word.text not in ("yes", "no"):
            self.source.fail_at(word, f"stay is {word.text!r}; it must be yes or no")
        return word.text == "yes"


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
    return _parse(SourceText(str(path), text), path.stem, text)


def make_map(name: str, **settings: object) -> MapWorld:
    """Return the world `map:NAME` from its settings, for skills files.

    Args:
        name: The name.
        **settings: `text`, the whole text of the map file.
    """
    text = settings.get("text")
    if set(settings) != {"text"} or not isinstance(text, str):
        raise UserError(f"map:{name} takes one setting, text: the whole text of its map file")
    return _parse(SourceText(f"map:{name}", text), name, text)


def _parse(source: SourceText, name: str, text: str) -> MapWorld:
    """Parse the whole file into a world."""
    lines = source.lines
    if not any(lines):
        raise UserError(f"{source.name} is empty; write a legend, map: and a drawing")
    if "map:" not in map(str.strip, lines):
        raise UserError(f"{source.name} has no map; write map: and below it the drawing")
    header = Header(source)
    map_line = [line.strip() for line in lines].index("map:")
    for number, line in enumerate(lines[:map_line], 1):
        content = f" {line}".partition(" #")[0][1:]
        if content.strip():
            header.parse_line(content, number)
    rows, first_line = _parse_rows(source, map_line)
    spec = MapSpec(
        rows=tuple(row.replace(START, FREE) for row in rows),
        legend=header.legend,
        slip=header.slip,
        step_limit=header.step_limit,
        goals=None,
        start=_find_start(source, rows, first_line),
        tracks=header.tracks,
        stay=header.stay,
    )
    variables = _check_names(header, spec)
    spec = replace(spec, goals=_parse_goals(header, spec, variables))
    try:
        return MapWorld(name, text, spec)
    except MapError as error:
        row, column = error.cell
        source.fail(first_line + row, column + 1, error.problem)


def _parse_rows(source: SourceText, map_line: int) -> tuple[list[str], int]:
    """Return the map's rows, and the number of the line with the first one."""
    below = source.lines[map_line + 1 :]
    if not any(below):
        source.fail(map_line + 1, 1, "no map follows; draw it below this line")
    first = [bool(row) for row in below].index(True)
    rows = list(takewhile(bool, below[first:]))
    end = first + len(rows)
    for number, line in enumerate(below[end:], map_line + 2 + end):
        if line:
            source.fail(number, 1, "the map has already ended; everything else belongs above map:")
    return rows, map_line + 2 + first


def _find_start(source: SourceText, rows: list[str], first_line: int) -> Cell:
    """Return the cell of `@`; without one, the first free cell, or else the first cell."""
    cells = [(r, c) for r, row in enumerate(rows) for c in range(len(row))]
    glyph = {(r, c): rows[r][c] for r, c in cells}
    inside = [cell for cell in cells if glyph[cell] != WALL]
    if len(inside) < 2:
        source.fail(first_line, 1, "the map has fewer than two cells to walk on")
    starts = [cell for cell in inside if glyph[cell] == START]
    if len(starts) > 1:
        row, column = starts[1]
        source.fail(first_line + row, column + 1, "there is a second '@'; remove one")
    free = [cell for cell in inside if glyph[cell] == FREE]
    return (starts or free or inside)[0]


def _check_names(header: Header, spec: MapSpec) -> list[str]:
    """Return the names of all variables except position.

    They must be distinct and include what doors and tracks need.
    """
    drawn = set("".join(spec.rows))
    for glyph, word in header.glyphs.items():
        if glyph not in drawn:
            header.source.fail_at(word, f"{glyph!r} is not in the map")
    words = {name: word for name, (_, word) in header.definitions.items()}
    named = [(v, words[name]) for name in spec.cells for v in spec.variables(name)]
    variables = [variable for variable, _ in named]
    for required in header.required:
        if required.text in variables:
            continue
        if required.text in spec.cells:
            several = ", ".join(spec.variables(required.text))
            header.source.fail_at(required, f"{required.text!r} is {several}; name one of them")
        header.source.fail_unknown(required, "variable", variables)
    if header.tracks:
        if FREE not in drawn:
            header.source.fail_at(header.tracks_name, "the map has no free cell for tracks")
        named.append((header.tracks.name, header.tracks_name))
    names = {"position"}
    for variable, word in named:
        if variable in names:
            header.source.fail_at(
                word, f"two variables would be named {variable!r}; choose another name"
            )
        names.add(variable)
        if len(names) > MAX_VARIABLES:
            header.source.fail_at(
                word, f"there are more than {MAX_VARIABLES} variables; draw fewer such cells"
            )
    return [variable for variable, _ in named]


def _parse_goals(header: Header, spec: MapSpec, variables: list[str]) -> tuple[str, ...] | None:
    """Return the variables that the goals name; a name may stand for several."""
    if "goals" not in header.settings:
        return None
    text, line, column = header.settings["goals"]
    goals: list[str] = []
    for words in header.source.split_phrases(text, line, column):
        (name,), _ = header.source.match_form("NAME", words)
        if name.text not in spec.cells and name.text not in variables:
            header.source.fail_unknown(name, "goal", variables)
        goals += spec.variables(name.text) if name.text in spec.cells else [name.text]
    return tuple(dict.fromkeys(goals))
