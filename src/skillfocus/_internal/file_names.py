"""File names made from ids, labels and settings."""

from __future__ import annotations

import re

MAX_LENGTH = 100
"""Characters that a name takes from a text."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.+=-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])(\..*)?", re.IGNORECASE)


def file_name(text: str, ending: str = "") -> str:
    """Return a name that every file system accepts, Windows' too.

    Stored runs are found by such names, so they must not change.

    Args:
        text: What the name says; it is cut, and whatever is not a letter, a digit or one of
            `.+=-` becomes `_`.
        ending: What distinguishes the file, such as `_0123456789abcdef.png`; it is kept as it is.
    """
    name = f"{_UNSAFE.sub('_', text)[:MAX_LENGTH]}{ending}".rstrip(".") or "_"
    return f"_{name}" if _RESERVED.fullmatch(name) else name
