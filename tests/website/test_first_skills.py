"""The page "First skills in five minutes": its commands print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from paths import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "first-skills.md").read_text()
TEXTS = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)
COMMAND = "import sys; sys.argv[0] = 'skillfocus'; from skillfocus.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    (folder / "flat.txt").write_text(TEXTS[0])
    return folder


def output(folder, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "COLUMNS": "120"},
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("number", [1, 3], ids=["focused", "dusdi"])
def test_tables_are_what_discover_prints(folder, number):
    command, table = TEXTS[number].split(), TEXTS[number + 1]
    printed = output(folder, "-c", COMMAND, *command[1:])
    rows = [line.split() for line in printed.splitlines() if re.match(r"\s+\d+ ", line)]
    # skill, target, changes, alone, best possible, effects, steps, starts, most disturbed, two more
    shown = [[*row[:4], *row[5:7], *row[8:-2]] for row in rows]
    assert shown == [line.split() for line in table.splitlines()[1:]]


def test_the_example_prints_what_it_says(folder):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    assert f"`{output(folder, '-c', code).strip()}`" in PAGE
    described = output(folder, "-c", COMMAND, "describe", "flat.txt")
    assert described.startswith("map:flat: 112 states, 4 actions")
