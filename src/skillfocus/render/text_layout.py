"""Fitting text into pictures: estimated widths, line breaks and truncation.

Widths are estimates that hold for any sans-serif font, because an SVG is set in a font that only
the reader's browser knows.
"""

from __future__ import annotations

import unicodedata

MAX_LABEL = 24
"""Characters of a name or a value on a card; longer ones are truncated."""
MAX_LINES = 3
"""Lines of a wrapped paragraph; the rest is truncated."""
CHARACTER, WIDE_CHARACTER = 0.62, 0.5
"""Estimated width of a character in font sizes, and the extra width of an East Asian one."""


def wrap(text: str, size: float, width: float) -> list[str]:
    """Break a text into lines.

    Args:
        text: The text; runs of white space count as one space.
        size: The font size.
        width: The room for a line, in the same unit.

    Returns:
        At most `MAX_LINES` lines; what does not fit is truncated.
    """
    most = int(width / (CHARACTER * size))
    lines = [""]
    for word in (truncate(word, most) for word in text.split()):
        longer = f"{lines[-1]} {word}".lstrip()
        if not lines[-1] or text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [truncate(" ".join(lines[MAX_LINES - 1 :]), most)]
    return lines


def truncate(text: object, most: int = MAX_LABEL) -> str:
    """Return a text on one line of at most `most` characters, ending in "…" if it was cut."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in a font size."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return (CHARACTER * len(text) + WIDE_CHARACTER * wide) * size
