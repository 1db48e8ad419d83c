"""The words of a map file: each knows its line and column, so that a mistake can be told there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

from skillfocus.errors import UserError, unknown


class Word(NamedTuple):
    """A piece of a file and where it begins; lines and columns are counted from 1."""

    text: str
    line: int
    column: int


class Source:
    """A text file as lines, and the errors about it."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        whole = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = [line.rstrip(" ") for line in whole.split("\n")]
        for number, line in enumerate(self.lines, 1):
            for column, character in enumerate(line, 1):
                if character == "\t":
                    self.wrong(number, column, "this is a tab; use spaces")
                if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
                    self.wrong(number, column, f"the character {character!r} cannot be used")

    def wrong(self, line: int, column: int, problem: str) -> NoReturn:
        raise UserError(f"{self.name}, line {line}, column {column}: {problem}")

    def wrong_word(self, word: Word, problem: str) -> NoReturn:
        self.wrong(word.line, word.column, problem)

    def unknown_word(self, word: Word, kind: str, known: Iterable[str]) -> NoReturn:
        known = list(known)
        if not known:
            self.wrong_word(word, f"unknown {kind} {word.text!r}: the legend names none")
        self.wrong_word(word, str(unknown(kind, word.text, known)))

    def phrases(self, text: str, line: int, column: int) -> list[list[Word]]:
        """The words of a piece of a line that begins at `column`, split at commas."""
        found = []
        for part in text.split(","):
            words = words_in(part, line, column)
            if not words:
                self.wrong(line, column, "something is missing here")
            found.append(words)
            column += len(part) + 1
        return found

    def fill(self, form: str, words: list[Word]) -> tuple[list[Word], bool]:
        """The words that stand for NAME and N in a form such as `door needs [no] NAME`, and
        whether `no` is absent."""
        pattern = form.split()
        affirmed = True
        if "[no]" in pattern:
            place = pattern.index("[no]")
            affirmed = len(words) < len(pattern) or words[place].text != "no"
            pattern.pop(place)
            words = words if affirmed else [*words[:place], *words[place + 1 :]]
        for word, wanted in zip(words, pattern, strict=False):
            if wanted.islower() and word.text != wanted:
                self.wrong_word(word, f"{word.text!r} stands for {wanted!r}; write {form!r}")
        if len(words) > len(pattern):
            extra = words[len(pattern)]
            self.wrong_word(extra, f"{extra.text!r} is too much; write {form!r}")
        if len(words) < len(pattern):
            last = words[-1]
            after = last.column + len(last.text)
            self.wrong(last.line, after, f"more must follow; write {form!r}")
        return [w for w, wanted in zip(words, pattern, strict=True) if wanted.isupper()], affirmed

    def count(self, word: Word, most: int) -> int:
        """A whole number from 1 to `most`."""
        number = int(word.text) if re.fullmatch("[0-9]{1,9}", word.text) else 0
        if not 1 <= number <= most:
            self.wrong_word(word, f"{word.text!r} must be a whole number from 1 to {most:,}")
        return number


def words_in(text: str, line: int, column: int) -> list[Word]:
    """The words of a piece of a line that begins at `column`."""
    return [Word(m.group(), line, column + m.start()) for m in re.finditer(r"\S+", text)]
