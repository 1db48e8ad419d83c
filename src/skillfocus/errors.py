"""The error type for mistakes that the caller can fix.

A `UserError` is one sentence: what is wrong, with the value, and the way out. The command line
prints that sentence and exits with status 2 instead of showing a traceback.
"""

from __future__ import annotations

import difflib
import os
import reprlib
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from types import TracebackType

MAX_LISTED = 30
"""With more known names than this, an error lists only the closest ones."""
RANGES: dict[str, Callable[[float], bool]] = {
    "at least 1": lambda number: number >= 1,
    "between 0 and 1": lambda number: 0 <= number <= 1,
    "0 or more and finite": lambda number: 0 <= number < float("inf"),
    "positive and finite": lambda number: 0 < number < float("inf"),
}
"""What numbers in settings must be."""


class UserError(ValueError):
    """A mistake that the caller can fix; the command line exits with status 2.

    Args:
        message: One sentence. Lines, which foreign text in it may have, are joined.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for a name that is not among the known ones, with the closest match.

    Args:
        kind: What the name stands for, such as `"world"`.
        name: The name that was given.
        known: All valid names.

    Returns:
        An error such as `unknown world 'for-rooms': did you mean 'four-rooms'? (known: …)`, or
        without a close match `unknown world 'mars' (known: …)`.
    """
    options = list(known)
    close = difflib.get_close_matches(name, options, n=5, cutoff=0.5)
    hint = f": did you mean {close[0]!r}?" if close else ""
    listed = options if len(options) <= MAX_LISTED else [*(close or options[:5]), "…"]
    count = "" if len(options) <= MAX_LISTED else f", {len(options)} in all"
    return UserError(f"unknown {kind} {name!r}{hint} (known: {', '.join(listed)}{count})")


def join_values(values: Sequence[object], most: int = 8) -> str:
    """Return values as text for an error message, the first few of them."""
    return ", ".join(map(repr, values[:most])) + (", …" if len(values) > most else "")


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration: `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def short_repr(value: object) -> str:
    """Return a value for an error message; functions and classes by their names."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the {'class' if isinstance(value, type) else 'function'} {value.__name__}"
    return reprlib.repr(value)


def check_ranges(settings: object, ranges: Mapping[str, Sequence[str]]) -> None:
    """Raise a `UserError` unless the numbers in settings are in range.

    Args:
        settings: A dataclass of settings.
        ranges: The names of its fields, by what they must be (see `RANGES`).
    """
    for wanted, names in ranges.items():
        for name in names:
            value = getattr(settings, name)
            if not RANGES[wanted](value):
                raise UserError(f"{name} is {value}; it must be {wanted}")


def exit_quietly_on_interrupt() -> None:
    """In the command, end with status 130 and without a traceback on Ctrl-C before `main` runs.

    `skillfocus/__init__.py` calls this first. In any other program nothing changes.
    """
    module = sys.argv[:1] == ["-m"] and "skillfocus.cli" in sys.orig_argv
    if module or PurePath(*sys.argv[:1]).stem == "skillfocus":
        sys.excepthook = _exit_quietly


def _exit_quietly(
    kind: type[BaseException], error: BaseException, place: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os._exit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, place)
