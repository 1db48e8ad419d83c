"""Skills that the tests of several commands share."""

from __future__ import annotations

import json

import pytest

from commands import QUICK, subprocess_command


@pytest.fixture(scope="session")
def discovered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("discovered")
    done = subprocess_command(
        "discover", "four-rooms", "focused-vic", *QUICK, "--seeds", "2", "--json",
        "--draw", "four-rooms.png", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)
