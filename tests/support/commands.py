"""The command `skillfocus`, for tests: in this process, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import warnings
from subprocess import CompletedProcess
from unittest import mock

from skillfocus.cli import main

QUICK = ["--rounds", "3", "--skills", "8", "--workers", "1"]
"""Options of a discovery that takes a few seconds."""
# In one process a file is imported once, so each test writes it under a name of its own.
LAMPS = """
class Lamps:
    variables = {"hand": (0, 1, 2), "lamp": ("off", "on")}
    actions = ("left", "right", "press")
    def transition(self, state, action):
        hand, lamp = state["hand"], state["lamp"]
        if action == "press":
            lamp = ("on" if lamp == "off" else "off") if hand == 2 else lamp
        else:
            hand = max(0, min(2, hand + (1 if action == "right" else -1)))
        return [(1.0, {"hand": hand, "lamp": lamp})]
"""
"""A file that defines a world: a hand moves along three places and switches a lamp at the last."""


def command(*arguments: str, cwd) -> CompletedProcess[str]:
    """Run `skillfocus` in this process, where imports and kernels are warm; warnings do not raise."""
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        mock.patch.object(sys, "argv", ["skillfocus", *arguments]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as ended:
            assert not isinstance(ended.code, str), ended.code
            status = ended.code or 0
    return CompletedProcess(sys.argv, status, stdout.getvalue(), stderr.getvalue())


def subprocess_command(*arguments: str, cwd=None) -> CompletedProcess[str]:
    """Run `skillfocus` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "skillfocus.cli", *arguments],
        capture_output=True, text=True, cwd=cwd, timeout=300, check=False,
    )  # fmt: skip
