"""The one error type for a user's mistake: a single sentence that names the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """Something the caller can mend; the command line prints it and exits with status 2."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """`unknown world 'for-rooms': did you mean 'four-rooms'? (known: …)`"""
    options = list(known)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return UserError(f"unknown {kind} {name!r}: {hint}(known: {', '.join(options)})")
