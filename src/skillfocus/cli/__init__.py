"""The command `skillfocus`. Heavy imports happen inside the commands that need them."""

from __future__ import annotations

import os
import re
import sys
import warnings
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

COLOURS = r"\x1b\[[0-9;]*m"
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


def main() -> None:
    """Run the command line: 0 done, 1 a run failed, 2 a user's mistake, 130 interrupted."""
    if sys.argv[1:] == ["--version"]:
        print(f"skillfocus {version('skillfocus')}")
        return
    try:
        command = tyro.cli(
            Command,  # pyright: ignore[reportArgumentType]
            prog="skillfocus",
            description="Discover focused skills, and measure exactly what else they change.",
            config=(tyro.conf.FlagCreatePairsOff,),
        )
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            command.run()
    except UserError as error:
        say(f"skillfocus: {error}")
        raise SystemExit(2) from None
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        say("skillfocus: compiled code cannot be kept: set NUMBA_CACHE_DIR to a folder that can")
        raise SystemExit(2) from None
    except KeyboardInterrupt as interrupt:
        say(f"skillfocus: {str(interrupt) or 'interrupted; files already written are whole'}")
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    del category, filename, lineno, file, line
    say(f"skillfocus: warning: {re.sub(COLOURS, '', str(message))}")
