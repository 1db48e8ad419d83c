"""Text without what could control a terminal.

Names in files of skills and of runs may come from a stranger. Escape sequences in them could move
the cursor, rewrite lines that were printed before, or set the clipboard.
"""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, except tabs and line feeds
    "\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # changes of the writing direction
)


def drop_controls(text: str) -> str:
    """Return text without control characters except tabs and line feeds."""
    return _CONTROLS.sub("", text)
