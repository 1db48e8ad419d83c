"""Parse map files: `read_map("museum.txt")`.

A map file is text. The lines above `map:` hold, in any order: comments (`# …`),
settings (`slip = 0.1`), the legend (`V = fragile vase`: a glyph and the features of its cells,
separated by commas), and at most one line `tracks NAME while NAME up to N`. Below it stands the
map: `#` wall, `.` free, `@` free and the start of figures, and the legend's glyphs.

`FEATURES` and `SETTINGS` are the words there are; docs/maps.md says what they mean. Every error
names its line and column, counted from 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import NamedTuple, NoReturn

from skillfocus.errors import UserError, unknown
from skillfocus.spaces import State, Variable
from skillfocus.world import MAX_STEPS, Outcome
from skillfocus.worlds.grid import (
    ACTIONS,
    FREE,
    MAX_VARIABLES,
    MOVES,
    START,
    STAY,
    WALL,
    Cell,
    GridWorld,
    MapError,
)

# -------------------- The words of a map file


class FeatureKind(NamedTuple):
    """A kind of feature: how it is written, and what it does to the cells that have it."""

    form: str
    """The words, with capitals for what the user names; `[no]` may be left out."""
    apply: Callable[[int, int], int] | None = None
    """`apply(value, max_count)`: the variable's value after an arrival; None for doors."""
    per_cell: bool = False
    """Whether it has a variable of its own in every cell; the others share one by its name."""
    once: bool = False
    """Whether it is gone once it has taken effect."""
    is_goal: bool = False
    """Whether its variables are goals if a map names none."""


def _add_one(value: int, most: int) -> int:
    return min(value + 1, most)


FEATURES = {
    kind.form.split()[0]: kind
    for kind in (
        FeatureKind("pick-up NAME", _add_one, per_cell=True, once=True, is_goal=True),
        FeatureKind("counter NAME up to N", _add_one, per_cell=True, is_goal=True),
        FeatureKind("fragile NAME", _add_one, per_cell=True, once=True),
        FeatureKind("switch NAME", lambda value, most: most - value),
        FeatureKind("sets NAME", _add_one),
        FeatureKind("clears NAME", lambda *_: 0),
        FeatureKind("door needs [no] NAME"),
        FeatureKind("one-way DIRECTION"),
    )
}
"""What the cells of a glyph can do, by the first word."""
SETTINGS = {"slip": "0.1", "step limit": "40", "goals": "", "stay": "no"}
"""The settings of a map, with their defaults; without goals, `MapWorld.goals` finds some."""
TRACKS_FORM = "tracks NAME while [no] NAME up to N"
MAX_UNITS = 1000


@dataclass(frozen=True)
class Feature:
    """One thing that a cell does, such as `pick-up key` or `door needs key`."""

    kind: str
    """The first word, one of `FEATURES`."""
    name: str
    """The name of its variable or variables, or the direction of a one-way door."""
    max_count: int = 1
    """Where a counter stops."""
    passable_when_set: bool = True
    """Whether a door is open while its variable is not 0, or while it is 0."""

    def apply(self, value: int) -> int:
        """Return the variable's value after an arrival."""
        effect = FEATURES[self.kind].apply
        return effect(value, self.max_count) if effect else value

    def is_open(self, value: int) -> bool:
        """Return whether a door is open at a value of its variable."""
        return (value > 0) == self.passable_when_set


class Tracks(NamedTuple):
    """Counts the first arrival in each free cell, while a condition holds."""

    name: str
    """The variable that counts."""
    condition: Feature
    """Tracks are left while this door would be open."""
    max_count: int
    """Where the count stops."""


# -------------------- The text of a map file: lines, words with their places, and errors that name
# the place


class Span(NamedTuple):
    """Text of a map file with its line and column."""

    text: str
    line: int
    """Counted from 1."""
    column: int = 1
    """Counted from 1."""

    def split(self) -> list[Span]:
        """Return its words."""
        found = re.finditer(r"\S+", self.text)
        return [Span(m.group(), self.line, self.column + m.start()) for m in found]


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
                place = Span(character, number, column)
                if character == "\t":
                    self.fail(place, "this is a tab; use spaces")
                if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
                    self.fail(place, f"the character {character!r} is not allowed")

    def fail(self, place: Span, problem: str) -> NoReturn:
        """Raise an error about a place."""
        raise UserError(f"{self.name}, line {place.line}, column {place.column}: {problem}")

    def fail_unknown(self, word: Span, kind: str, known: Iterable[str]) -> NoReturn:
        """Raise an error about an unknown word that suggests the nearest known one."""
        known = list(known)
        if not known:
            self.fail(word, f"unknown {kind} {word.text!r}: the legend names none")
        self.fail(word, str(unknown(kind, word.text, known)))

    def split_phrases(self, piece: Span) -> list[list[Span]]:
        """Split a part of a line at commas and into words.

        Raises:
            UserError: If a phrase is empty.
        """
        phrases, column = [], piece.column
        for part in piece.text.split(","):
            place = Span(part, piece.line, column)
            if not part.strip():
                self.fail(place, "a word is missing here")
            phrases.append(place.split())
            column += len(part) + 1
        return phrases

    def match_form(self, form: str, words: list[Span]) -> tuple[list[Span], bool]:
        """Match words with a form such as `door needs [no] NAME`.

        Returns:
            The words in the places of capitals, and whether the optional `no` is absent.

        Raises:
            UserError: If the words do not have this form.
        """
        expected = form.replace("[no] ", "").split()
        affirmative = True
        if "[no]" in form and len(words) > len(expected):
            place = form.split().index("[no]")
            affirmative = words[place].text != "no"
            words = words if affirmative else [*words[:place], *words[place + 1 :]]
        slots = []
        for word, part in zip_longest(words, expected):
            if word is None:
                end = words[-1].column + len(words[-1].text)
                place = words[-1]._replace(column=end)
                self.fail(place, f"the line is incomplete; write {form!r}")
            if part is None:
                self.fail(word, f"unexpected {word.text!r}; write {form!r}")
            if part.isupper():
                slots.append(word)
            elif word.text != part:
                self.fail(word, f"expected {part!r}, got {word.text!r}; write {form!r}")
        return slots, affirmative

    def parse_count(self, word: Span, maximum: int) -> int:
        """Return a whole number from 1 to `maximum`.

        Raises:
            UserError: If the word is anything else.
        """
        number = int(word.text) if re.fullmatch("[0-9]{1,9}", word.text) else 0
        if not 1 <= number <= maximum:
            self.fail(word, f"{word.text!r} must be a whole number from 1 to {maximum:,}")
        return number


# -------------------- What a map file says


class MapFile(SourceText):
    """A parsed map file.

    Attributes:
        text: The whole text.
        rows: The map, with a free cell instead of `@`.
        first_line: The number of the line with the first row.
        legend: The features of each glyph's cells.
        definitions: The first feature of each name, and where the name stands.
        variables: The variables by name and cell, in the order of the legend; a flag has none.
        tracks: The tracks, if any.
        slip: Probability that a move goes in one of the other three directions.
        step_limit: The most steps a skill may take.
        stay: Whether there is a fifth action that does nothing.
        start: Where figures show the skills from.
        goals: Variables that get two skills each; `None` if the file names none.
    """

    def __init__(self, name: str, text: str) -> None:
        """Parse a text.

        Raises:
            UserError: Names the place of a mistake.
        """
        super().__init__(name, text)
        self.text = text
        stripped = [line.strip() for line in self.lines]
        if not any(stripped):
            raise UserError(f"{name} is empty; write a legend, map: and a drawing")
        if "map:" not in stripped:
            raise UserError(f"{name} has no map; write map: and below it the drawing")
        self.legend: dict[str, tuple[Feature, ...]] = {}
        self.tracks: Tracks | None = None
        self._tracks_name = Span("", 0)
        self._entries: dict[str, Span] = {}  # values of settings, and places of glyphs
        self.definitions: dict[str, tuple[Feature, Span]] = {}
        self._required: list[Span] = []  # variables that doors and tracks need of other cells
        map_line = stripped.index("map:")
        for number, line in enumerate(self.lines[:map_line], 1):
            content = f" {line}".partition(" #")[0][1:]
            if content.strip():
                self._parse_line(Span(content, number))
        self.rows = self._parse_rows(map_line)
        self.slip = self._parse_slip()
        self.step_limit = self.parse_count(self._setting("step limit"), MAX_STEPS)
        glyphs = {(r, c): g for r, row in enumerate(self.rows) for c, g in enumerate(row)}
        self.start = self._find_start(glyphs)
        stay = self._setting("stay")
        if stay.text not in ("yes", "no"):
            self.fail(stay, f"stay is {stay.text!r}; it must be yes or no")
        self.stay = stay.text == "yes"
        self.rows = [row.replace(START, FREE) for row in self.rows]
        known = self._name_variables(glyphs)
        self.goals = self._parse_goals(known) if "goals" in self._entries else None

    def _parse_line(self, line: Span) -> None:
        """Parse one line, without comments and not empty: a setting, a glyph, or tracks."""
        words = line.split()
        if words[0].text == "tracks":
            self._parse_tracks(words)
            return
        left, equals, right = line.text.partition("=")
        key = words[0]._replace(text=" ".join(left.split()))
        if not equals:
            known = ["GLYPH = …", *(f"{name} = …" for name in SETTINGS), "tracks …", "map:"]
            self.fail_unknown(key, "line", known)
        if earlier := self._entries.get(key.text):
            self.fail(key, f"{key.text!r} is already defined in line {earlier.line}")
        value = Span(right, line.line, len(left) + 2)
        if len(key.text) == 1:
            self._entries[key.text] = key
            self._parse_glyph(key, value)
        elif key.text in SETTINGS:
            column = value.column + len(right) - len(right.lstrip())
            self._entries[key.text] = Span(right.strip(), line.line, column)
        else:
            self.fail_unknown(key, "setting", [*SETTINGS, "or a glyph of one character"])

    def _parse_glyph(self, glyph: Span, meaning: Span) -> None:
        """Parse the features of a glyph's cells."""
        if glyph.text in (FREE, START):
            self.fail(glyph, f"{glyph.text!r} is a free cell in every map; choose another glyph")
        features: dict[tuple[str, str], Feature] = {}
        needed: list[Span] = []
        for words in self.split_phrases(meaning):
            kind = words[0].text
            if kind not in FEATURES:
                self.fail_unknown(words[0], "word", FEATURES)
            (name, *count), affirmative = self.match_form(FEATURES[kind].form, words)
            max_count = self.parse_count(count[0], MAX_UNITS) if count else 1
            key = name.text, "" if FEATURES[kind].apply else kind
            if key in features:
                self.fail(name, f"{glyph.text!r} names {name.text!r} twice")
            features[key] = Feature(kind, name.text, max_count, affirmative)
            if kind == "door":
                needed.append(name)
            elif kind != "one-way":
                self._define(features[key], name)
            elif name.text not in ACTIONS:
                self.fail_unknown(name, "direction", ACTIONS)
        self._required += [name for name in needed if (name.text, "") not in features]
        self.legend[glyph.text] = tuple(features.values())

    def _define(self, feature: Feature, word: Span) -> None:
        """Check that a name has one kind; only flags may have several features."""
        self._check_name(word)
        first, earlier = self.definitions.setdefault(feature.name, (feature, word))
        flags = not (FEATURES[first.kind].per_cell or FEATURES[feature.kind].per_cell)
        if not flags and (first.kind, first.max_count) != (feature.kind, feature.max_count):
            limit = f" up to {first.max_count}" if first.kind == "counter" else ""
            self.fail(
                word,
                f"{feature.name!r} is already defined in line {earlier.line} "
                f"({first.kind} {feature.name}{limit}); choose another name",
            )

    def _check_name(self, word: Span) -> None:
        if "=" in word.text or "+" in word.text:
            self.fail(word, f"the name {word.text!r} may not contain '=' or '+'")

    def _parse_tracks(self, words: list[Span]) -> None:
        """Parse the line `tracks NAME while NAME up to N`."""
        if self.tracks:
            line = self._tracks_name.line
            self.fail(words[0], f"tracks are already defined in line {line}")
        (name, needed, count), affirmative = self.match_form(TRACKS_FORM, words)
        self._check_name(name)
        self._required.append(needed)
        condition = Feature("door", needed.text, passable_when_set=affirmative)
        self.tracks = Tracks(name.text, condition, self.parse_count(count, MAX_UNITS))
        self._tracks_name = name

    def _parse_rows(self, map_line: int) -> list[str]:
        """Return the map's rows, and note where they begin."""
        below = self.lines[map_line + 1 :]
        if not any(below):
            self.fail(Span("", map_line + 1), "no map follows; draw it below this line")
        first = [bool(row) for row in below].index(True)
        rows = list(takewhile(bool, below[first:]))
        self.first_line = map_line + 2 + first
        for number, line in enumerate(below[first + len(rows) :], self.first_line + len(rows)):
            if line:
                problem = "the map has already ended; everything else belongs above map:"
                self.fail(Span(line, number), problem)
        return rows

    def _setting(self, name: str) -> Span:
        return self._entries.get(name, Span(SETTINGS[name], 0))

    def _parse_slip(self) -> float:
        word = self._setting("slip")
        try:
            slip = float(word.text)
        except ValueError:
            slip = -1.0
        if not 0 <= slip < 1:
            problem = f"slip is {word.text!r}; it must be a number, at least 0 and less than 1"
            self.fail(word, problem)
        return slip

    def _find_start(self, glyphs: dict[Cell, str]) -> Cell:
        """Return the cell of `@`; without one, the first free cell, or else the first cell."""
        inside = [cell for cell, glyph in glyphs.items() if glyph != WALL]
        if len(inside) < 2:
            first = Span("", self.first_line)
            self.fail(first, "the map has fewer than two cells to walk on")
        starts = [cell for cell in inside if glyphs[cell] == START]
        if len(starts) > 1:
            row, column = starts[1]
            second = Span(START, self.first_line + row, column + 1)
            self.fail(second, "there is a second '@'; remove one")
        free = [cell for cell in inside if glyphs[cell] == FREE]
        return (starts or free or inside)[0]

    def _name_variables(self, glyphs: dict[Cell, str]) -> list[str]:
        """Name the variables; they must be distinct and include what doors and tracks need.

        Returns:
            The names of all variables but position.
        """
        drawn = set("".join(self.rows))
        for glyph in self.legend:
            if glyph not in drawn:
                self.fail(self._entries[glyph], f"{glyph!r} is not in the map")
        cells: dict[str, list[Cell | None]] = {name: [] for name in self.definitions}
        for cell, glyph in glyphs.items():
            for feature in self.legend.get(glyph, ()):
                if FEATURES[feature.kind].per_cell:
                    cells[feature.name].append(cell)
        self.variables: dict[tuple[str, Cell | None], str] = {}
        for name, own in cells.items():
            for i, cell in enumerate(own or [None], 1):
                self.variables[name, cell] = f"{name}_{i}" if len(own) > 1 else name
        known = list(self.variables.values())
        for required in self._required:
            if required.text not in known:
                if several := ", ".join(self._variables_of(required.text)):
                    self.fail(required, f"{required.text!r} is {several}; name one of them")
                self.fail_unknown(required, "variable", known)
        named = [(v, self.definitions[name][1]) for (name, _), v in self.variables.items()]
        if self.tracks:
            if FREE not in drawn:
                self.fail(self._tracks_name, "the map has no free cell for tracks")
            named.append((self.tracks.name, self._tracks_name))
        names = {"position"}
        for variable, word in named:
            if variable in names:
                problem = f"two variables would be named {variable!r}; choose another name"
                self.fail(word, problem)
            names.add(variable)
            if len(names) > MAX_VARIABLES:
                problem = f"there are more than {MAX_VARIABLES} variables; draw fewer such cells"
                self.fail(word, problem)
        return [variable for variable, _ in named]

    def _variables_of(self, name: str) -> list[str]:
        """Return the variables that a name stands for."""
        return [variable for (each, _), variable in self.variables.items() if each == name]

    def _parse_goals(self, known: list[str]) -> tuple[str, ...]:
        """Return the variables that the goals name; a name may stand for several."""
        goals: list[str] = []
        for words in self.split_phrases(self._entries["goals"]):
            (name,), _ = self.match_form("NAME", words)
            several = self._variables_of(name.text)
            if not several and name.text not in known:
                self.fail_unknown(name, "goal", known)
            goals += several or [name.text]
        return tuple(dict.fromkeys(goals))


# -------------------- `MapWorld`: the world that a map file describes
#
# Variables   position; then one per name in the order of the legend (0 at first); last the count of
#             tracks. A pick-up, a counter or a fragile thing has a variable of its own in each of
#             its cells: `tool` if there is one cell, `tool_1`, `tool_2`, … in reading order if
#             there are several. A flag (`sets`, `clears`, `switch`) is one variable, whatever cells
#             name it.
# Actions     up, right, down, left; they slip. With `stay = yes` also stay, which does nothing
# Arrival     the features of a cell take effect in the order of the legend
# Doors       a door's cell is a wall while its variable is 0 (`needs no`: while it is not 0), in
#             the state before the move. An agent inside a door that closes may leave it. A door
#             that names a thing of its own cell means the one in that cell: `B = fragile bridge,
#             door needs no bridge` can be crossed once. A one-way door's cell is a wall for moves
#             in another direction than its own; an agent inside may leave it in any direction.
# Hidden      which free cells already have tracks, as in MudWorld
# Starts      every combination of the variables, even inside a closed door


class MapWorld(GridWorld):
    """A world described by a map file; `read_map("museum.txt")` makes one.

    Attributes:
        file: What the map file says.
    """

    def __init__(self, name: str, file: MapFile) -> None:
        self.id = f"map:{name}"
        self.file = file
        self.legend = {
            glyph: " and ".join(f"{feature.kind} {feature.name}" for feature in features)
            for glyph, features in file.legend.items()
        }
        self.showcase_cell = file.start
        if file.stay:
            self.actions = (*ACTIONS, STAY)
        super().__init__("\n".join(file.rows), file.slip, file.step_limit)
        index = {name: j for j, name in enumerate(self.space.names)}
        self._effects: dict[Cell, list[tuple[Feature, int]]] = {}
        self._doors: dict[Cell, list[tuple[Feature, int]]] = {}
        self._one_way: dict[Cell, list[Cell]] = {}  # the moves that lead into a one-way door
        for cell in self.map.cells:
            self._effects[cell], self._doors[cell], self._one_way[cell] = [], [], []
            for feature in file.legend.get(self.map.glyph(cell), ()):
                if feature.kind == "one-way":
                    self._one_way[cell].append(MOVES[ACTIONS.index(feature.name)])
                    continue
                variable = file.variables.get((feature.name, cell), feature.name)
                placed = self._doors if feature.kind == "door" else self._effects
                placed[cell].append((feature, index[variable]))
        if file.tracks:
            self._track_condition = index[file.tracks.condition.name]
        self.fixed = self._find_fixed()

    def other_variables(self) -> Iterable[Variable]:
        """Yield the variables of the legend, then the count of tracks."""
        for (name, _), variable in self.file.variables.items():
            yield Variable(variable, tuple(range(self.file.definitions[name][0].max_count + 1)))
        if self.file.tracks:
            yield self.count_tracks(self.file.tracks.name, self.file.tracks.max_count)

    @property
    def settings(self) -> dict[str, object]:
        """The text of the map file, which makes this world again."""
        return {"text": self.file.text}

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals of the file; by default pick-ups and counters, or else all but position."""
        if self.file.goals is not None:
            return self.file.goals
        collectable = {
            self.space.names[variable]
            for effects in self._effects.values()
            for feature, variable in effects
            if FEATURES[feature.kind].is_goal
        }
        goals = super().goals
        return tuple(name for name in goals if name in collectable) or goals

    def may_enter(self, state: State, cell: Cell) -> bool:
        """Return whether all doors of a cell are open to the agent from where it is."""
        row, column = self.map.cells[state[0]]
        move = cell[0] - row, cell[1] - column
        return all(move == only for only in self._one_way[cell]) and all(
            door.is_open(state[variable]) for door, variable in self._doors[cell]
        )

    def arrive(self, state: list[int], cell: Cell) -> Outcome:
        """Apply the features of a cell, then count tracks."""
        for feature, variable in self._effects[cell]:
            state[variable] = feature.apply(state[variable])
        tracks = self.file.tracks
        if not tracks or cell not in self.mark_of:
            return Outcome(1.0, tuple(state))
        leaves = tracks.condition.is_open(state[self._track_condition])
        return self.leave_tracks(state, cell) if leaves else Outcome(1.0, tuple(state))

    def glyph_now(self, cell: Cell, state: State) -> str:
        """Return the glyph for what is left of a cell once a thing is gone or a door is open.

        That is the glyph with just the remaining features, `.` if none remain, and the cell's own
        glyph if no other has these features.
        """
        own = self.map.glyph(cell)
        over = {f for f, j in self._effects[cell] if FEATURES[f.kind].once and state[j]}
        over |= {door for door, j in self._doors[cell] if door.is_open(state[j])}
        if not over:
            return own
        remaining = tuple(feature for feature in self.file.legend[own] if feature not in over)
        glyph_of = {features: glyph for glyph, features in self.file.legend.items()}
        return glyph_of.get(remaining, own) if remaining else FREE

    def _find_fixed(self) -> tuple[str, ...]:
        """Return the variables that no arrival changes, such as a pick-up behind its own door."""
        changing = {len(self.space) - 1} if self.file.tracks else set()
        for (row, column), effects in self._effects.items():
            only, doors = self._one_way[row, column], self._doors[row, column]
            into = [(r, c) for r, c in MOVES if (row - r, column - c) in self.map.index]
            if not any(all(move == way for way in only) for move in into):
                continue
            changing.add(0)
            for feature, variable in effects:
                own = [door for door, needed in doors if needed == variable]
                if any(
                    feature.apply(value) != value and all(door.is_open(value) for door in own)
                    for value in range(self.space.sizes[variable])
                ):
                    changing.add(variable)
        return tuple(name for j, name in enumerate(self.space.names) if j not in changing)

    def _repr_details(self) -> Iterable[str]:
        yield f"map of {len(self.map.rows)} × {len(self.map.rows[0])} cells"


# -------------------- Make the world of a map file


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
    return _make(path.stem, str(path), text)


def make_map(name: str, **settings: object) -> MapWorld:
    """Return the world `map:NAME` from its settings, for skills files.

    Args:
        name: The name.
        **settings: `text`, the whole text of the map file.
    """
    text = settings.get("text")
    if set(settings) != {"text"} or not isinstance(text, str):
        raise UserError(f"map:{name} takes one setting, text: the whole text of its map file")
    return _make(name, f"map:{name}", text)


def _make(name: str, source: str, text: str) -> MapWorld:
    file = MapFile(source, text)
    try:
        return MapWorld(name, file)
    except MapError as error:
        row, column = error.cell
        file.fail(Span("", file.first_line + row, column + 1), error.problem)
