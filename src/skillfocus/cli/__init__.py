"""The command `skillfocus`.

A command parses its options, calls the library function of the same name and prints the result;
it does nothing that Python code could not do. Heavy imports happen inside the commands, so that
`--help` and `list` answer at once, and all others inside `main`, which is ready for Ctrl-C.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillfocus.errors import UserError
from skillfocus.progress import drop_controls, pending_signals

MIN_WIDTH, MAX_WIDTH = 40, 1000
"""Columns that are printed at least and at most, however wide the terminal says that it is."""
_ANSI_COLORS = r"\x1b\[[0-9;]*m"


class _Stopped(KeyboardInterrupt):
    """Ctrl-C, SIGTERM, which batch systems send, or SIGHUP, when the terminal closes."""

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.signal_number = signal_number


def main() -> None:
    """Run the command line.

    Raises:
        SystemExit: With status 1 if a run failed, 2 for a usage error, 130 if interrupted, 143 if
            terminated.
    """
    with guarded():
        _run()


@contextmanager
def guarded() -> Iterator[None]:
    """Turn what a command raises into one line on standard error and an exit status."""
    try:
        with _raise_on_signals():
            _prepare_output()
            try:
                yield
            finally:
                sys.stdout.flush()
    except UserError as error:
        _complain(str(error))
        raise SystemExit(2) from None
    except (KeyboardInterrupt, SystemError) as error:
        # In compiled code Ctrl-C is a SystemError, whose cause it is.
        interrupt = error.__cause__ if isinstance(error, SystemError) else error
        if not isinstance(interrupt, KeyboardInterrupt):
            raise
        number = getattr(interrupt, "signal_number", signal.SIGINT)
        verb = "interrupted" if number == signal.SIGINT else "terminated"
        _complain(str(interrupt) or f"{verb}; files already written are complete")
        raise SystemExit(128 + number) from None
    except BrokenPipeError:
        _drop_output()
        raise SystemExit(1) from None
    except OSError as error:
        where = error.filename or "the output"
        _complain(f"cannot read or write {where}: {error.strerror or error}")
        _drop_output()
        raise SystemExit(2) from None


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        from importlib.metadata import version

        print(f"skillfocus {version('skillfocus')}")
        return
    from skillfocus.cli.commands import parse_command

    command = parse_command()
    with _messages_on_stderr():
        command.run()


@contextmanager
def _raise_on_signals() -> Iterator[None]:
    """Raise `_Stopped` on Ctrl-C, and on the first SIGTERM or SIGHUP, so that all is closed.

    Python drops what a signal raises inside a destructor or a callback from compiled code. It is
    kept in `pending_signals` for the next report of progress to raise again.
    """

    def handle(number: int, frame: object) -> None:
        del frame
        if number != signal.SIGINT:
            signal.signal(number, signal.SIG_IGN)
        pending_signals.append(_Stopped(number))
        raise pending_signals[-1]

    def show_dropped(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            show_before(dropped)

    numbers = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.getsignal(number) for number in numbers}
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    handled = [number for number in numbers if before[number] in defaults]
    show_before, sys.unraisablehook = sys.unraisablehook, show_dropped
    for number in handled:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
        sys.unraisablehook = show_before
        pending_signals.clear()


def _prepare_output() -> None:
    """Print what the output's encoding lacks as `?`, and limit the width, which memory grows with
    in narrow terminals. Without an output, as after `>&-`, print nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  for the rest of the process
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    width = shutil.get_terminal_size().columns
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        os.environ["COLUMNS"] = str(min(max(width, MIN_WIDTH), MAX_WIDTH))


def _drop_output() -> None:
    """Throw away what could not be printed; Python would try again as it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str) -> None:
    """Print one line on standard error, without control characters."""
    line = drop_controls(" ".join(sentence.splitlines()))
    with contextlib.suppress(OSError):
        print(f"skillfocus: {line}", file=sys.stderr, flush=True)


@contextmanager
def _messages_on_stderr() -> Iterator[None]:
    """Print what the library logs or warns about as plain lines on standard error."""
    from skillfocus.cli.printing import say

    def show_warning(message: Warning | str, *_: object) -> None:
        say(f"skillfocus: warning: {re.sub(_ANSI_COLORS, '', str(message))}")

    logger = logging.getLogger("skillfocus")
    handler, level = logging.Handler(), logger.level
    handler.emit = lambda record: say(record.getMessage())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
