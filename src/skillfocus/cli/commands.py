"""All commands, and how their options are parsed."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Annotated

import tyro
from tyro.conf import subcommand

from skillfocus.cli.describe import Describe
from skillfocus.cli.discover import Discover
from skillfocus.cli.doctor import Doctor
from skillfocus.cli.evaluate import Evaluate
from skillfocus.cli.listing import List
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


def parse_command() -> Command:
    """Return the command that the arguments ask for.

    Raises:
        SystemExit: After --help, or with status 2 for arguments that cannot be parsed.
        UserError: If a number is infinite or NaN.
    """
    command: Command = tyro.cli(
        Command,  # pyright: ignore[reportArgumentType]
        prog="skillfocus",
        description="Discover focused skills, and measure exactly what else they change. "
        "Exit status: 0 done, 1 a run failed, 2 usage error, 130 interrupted, 143 terminated.",
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    for field in fields(command):
        value = getattr(command, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            option = field.name.replace("_", "-")
            raise UserError(f"--{option} is {value}; it must be a finite number")
    return command
