"""The command `skillfocus`.

A command parses its options, calls the library function of the same name and prints the result;
it does nothing that Python code could not do. Heavy imports happen inside the commands, so that
`--help` and `list` answer at once.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated

import tyro
from tyro.conf import subcommand

from skillfocus.cli.describe import Describe
from skillfocus.cli.discover import Discover
from skillfocus.cli.doctor import Doctor
from skillfocus.cli.evaluate import Evaluate
from skillfocus.cli.listing import List
from skillfocus.cli.output import say
from skillfocus.cli.reproduce import Reproduce
from skillfocus.cli.solve import Solve
from skillfocus.cli.sweep import Sweep
from skillfocus.cli.view import View
from skillfocus.errors import UserError

Command = (
    Annotated[List, subcommand("list")]
    | Annotated[Describe, subcommand("describe")]
    | Annotated[Discover, subcommand("discover")]
    | Annotated[Evaluate, subcommand("evaluate")]
    | Annotated[Solve, subcommand("solve")]
    | Annotated[View, subcommand("view")]
    | Annotated[Sweep, subcommand("sweep")]
    | Annotated[Reproduce, subcommand("reproduce")]
    | Annotated[Doctor, subcommand("doctor")]
)
"""All commands: each is a dataclass of options with a method `run`."""
_ANSI_COLOURS = r"\x1b\[[0-9;]*m"


def main() -> None:
    """Run the command line.

    Raises:
        SystemExit: With status 1 if a run failed, 2 for a usage error, 130 if interrupted.
    """
    if sys.argv[1:] == ["--version"]:
        print(f"skillfocus {version('skillfocus')}")
        return
    try:
        command = tyro.cli(
            Command,  # pyright: ignore[reportArgumentType]
            prog="skillfocus",
            description="Discover focused skills, and measure exactly what else they change. "
            "Exit status: 0 done, 1 a run failed, 2 usage error, 130 interrupted.",
            config=(tyro.conf.FlagCreatePairsOff,),
        )
        with _messages_on_stderr():
            command.run()
    except UserError as error:
        say(f"skillfocus: {error}")
        raise SystemExit(2) from None
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        say("skillfocus: cannot cache compiled code; set NUMBA_CACHE_DIR to a writable folder")
        raise SystemExit(2) from None
    except KeyboardInterrupt as interrupt:
        say(f"skillfocus: {str(interrupt) or 'interrupted; files already written are complete'}")
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


@contextmanager
def _messages_on_stderr() -> Iterator[None]:
    """Print what the library logs or warns about as plain lines on standard error."""
    logger = logging.getLogger("skillfocus")
    handler, level = _LineHandler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _LineHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    del category, filename, lineno, file, line
    say(f"skillfocus: warning: {re.sub(_ANSI_COLOURS, '', str(message))}")
