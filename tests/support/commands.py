"""The command, run in this process: what it needs is imported and compiled already."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from subprocess import CompletedProcess
from unittest import mock

from skillfocus.cli import main


def command(*arguments: str, cwd) -> CompletedProcess[str]:
    """`skillfocus` with these arguments in this folder; warnings are said, as outside the tests."""
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
            status = ended.code or 0
    return CompletedProcess(sys.argv, status, stdout.getvalue(), stderr.getvalue())
