"""The header of a map file: settings, legend and tracks, the lines above `map:`."""

from __future__ import annotations

from skillfocus.core.world import MAX_STEPS
from skillfocus.worlds.grid import FREE
from skillfocus.worlds.maps.grammar import SourceText, Word, split_words
from skillfocus.worlds.maps.world import PER_CELL_KINDS, Feature, Tracks

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
