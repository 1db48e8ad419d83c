"""The one error type for a user's mistake: a single sentence that names the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_SHOWN = 24
"""Of more names that could have been meant, only the nearest are listed."""


class UserError(ValueError):
    """Something the caller can mend; the command line prints it and exits with status 2."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """`unknown world 'for-rooms': did you mean 'four-rooms'? (known: …)`, and without anything
    near it `unknown world 'mars' (known: …)`"""
    options = list(known)
    close = difflib.get_close_matches(name, options, n=5, cutoff=0.5)
    hint = f": did you mean {close[0]!r}?" if close else ""
    shown = options if len(options) <= MOST_SHOWN else [*(close or options[:5]), "…"]
    count = "" if len(options) <= MOST_SHOWN else f", {len(options)} in all"
    return UserError(f"unknown {kind} {name!r}{hint} (known: {', '.join(shown)}{count})")
