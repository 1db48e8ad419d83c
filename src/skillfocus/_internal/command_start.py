"""Ctrl-C while the command `skillfocus` imports what it needs, before its `main` can catch it.

`skillfocus/__init__.py` imports this first. In the command, an uncaught Ctrl-C then ends the
process with status 130 and without a traceback; in any other program nothing changes.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import PurePath
from types import TracebackType


def is_command(argv: list[str], orig_argv: list[str]) -> bool:
    """Return whether a process with these arguments is the command."""
    if argv[:1] == ["-m"]:
        return "skillfocus.cli" in orig_argv
    return PurePath(*argv[:1]).stem == "skillfocus"


def _exit_quietly(
    kind: type[BaseException], error: BaseException, place: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os._exit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, place)


if is_command(sys.argv, sys.orig_argv):
    sys.excepthook = _exit_quietly
