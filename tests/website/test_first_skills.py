"""The page "First skills in five minutes": its commands print what it says."""

from __future__ import annotations

import re

import pytest

from commands import command
from paths import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "first-skills.md").read_text()
TEXTS = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    (folder / "flat.txt").write_text(TEXTS[0])
    return folder


def output(folder, *arguments: str) -> str:
    done = command(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("number", [1, 3], ids=["focused", "dusdi"])
def test_tables_are_what_discover_prints(folder, number, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (_, *arguments), table = TEXTS[number].split(), TEXTS[number + 1]
    printed = output(folder, *arguments, "--workers", "1")
    rows = [line.split() for line in printed.splitlines() if re.match(r"\s+\d+ ", line)]
    # skill, target, changes, alone, best possible, effects, steps, starts, most disturbed, two more
    shown = [[*row[:4], *row[5:7], *row[8:-2]] for row in rows]
    assert shown == [line.split() for line in table.splitlines()[1:]]


def test_the_example_prints_what_it_says(folder, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    monkeypatch.chdir(folder)
    exec(code, {})
    assert f"`{capsys.readouterr().out.strip()}`" in PAGE
    assert output(folder, "describe", "flat.txt").startswith("map:flat: 112 states, 4 actions")
