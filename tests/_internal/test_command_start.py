from __future__ import annotations

import pytest

from skillfocus._internal.command_start import is_command


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["/usr/bin/skillfocus", "list"], ["python", "/usr/bin/skillfocus", "list"], True),
        (["skillfocus.exe"], ["skillfocus.exe"], True),
        (["-m", "list"], ["python", "-m", "skillfocus.cli", "list"], True),
        (["-m"], ["python", "-m", "pytest"], False),
        (["my_script.py"], ["python", "my_script.py"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_only_the_command_is_one(argv, orig_argv, expected):
    assert is_command(argv, orig_argv) is expected
