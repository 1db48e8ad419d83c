"""Everything in `benchmarks/` runs, at a small size: one was broken unseen once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import skillfocus as sf
from paths import ROOT
from probes import corridor


def run(script: str, *arguments: str, cwd) -> str:
    command = [sys.executable, "-W", "ignore", str(ROOT / "benchmarks" / script), *arguments]
    wide = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(command, cwd=cwd, env=wide, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_speed_is_measured(tmp_path):
    table = run("bench.py", "--quick", cwd=tmp_path)
    for part in ("Q-learning steps/s", "planning, cell updates/s", "two threads over one",
                 "two worker processes over one", "tiny runs", "one FourRooms seed",
                 "first, next run", "skillfocus --help"):  # fmt: skip
        assert part in table


@pytest.mark.slow
def test_scaling_is_measured_and_drawn(tmp_path):
    figure = tmp_path / "scaling.png"
    table = run("scaling.py", str(figure), "--quick", cwd=tmp_path)
    assert [line.split("|")[1].strip() for line in table.splitlines()] == [
        "states", "states", "variables", "variables", "skills", "skills",
    ]  # fmt: skip
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_pages_are_timed(tmp_path, browser):
    page = tmp_path / "corridor.html"
    learner = sf.Planning(rounds=1)
    sf.discover(corridor(), sf.focused(sf.vic()), seed=0, n_skills=4, learner=learner).view(page)
    assert "corridor.html" in run("page.py", str(page), "--quick", cwd=tmp_path)


@pytest.mark.slow
def test_combinations_of_readings_are_ranked(tmp_path):
    ranked = run("readings.py", "--quick", "--out", str(tmp_path / "runs"), cwd=tmp_path)
    assert ranked.startswith("1 runs\n")
    names = [line.split("  ")[-1] for line in ranked.splitlines()[1:]]
    assert len(names) == 8  # two choices, four ways to learn a task
    assert {"paper's", "ties=random", "memory=none updates=intra-option"} <= set(names)


def test_every_benchmark_is_tested():
    tested = {"bench.py", "scaling.py", "page.py", "readings.py"}
    assert {file.name for file in (ROOT / "benchmarks").glob("*.py")} == tested
