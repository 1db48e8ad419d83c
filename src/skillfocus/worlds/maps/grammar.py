"""The text of a map file: lines, words with their places, and errors that name the place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

from skillfocus.errors import UserError, unknown


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
