"""Terminals: text that cannot control them, and Ctrl-C while the command imports what it needs."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable
from pathlib import PurePath
from types import TracebackType
from typing import Any

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, except tabs and line feeds
    "\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # changes of the writing direction
)


def drop_controls(text: str) -> str:
    """Return text without control characters except tabs and line feeds.

    Names in files of skills and of runs may come from a stranger. Escape sequences in them could
    move the cursor, rewrite lines that were printed before, or set the clipboard.
    """
    return _CONTROLS.sub("", text)


def make_console(**settings: Any) -> Any:
    """Return a `rich` console that drops control characters from all text."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Terminal(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text = segment.text if segment.control else drop_controls(segment.text)
                yield Segment(text, segment.style, segment.control)

    return Terminal(**settings, emoji=False)


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
