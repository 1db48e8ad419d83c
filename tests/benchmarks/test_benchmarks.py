"""Everything in `benchmarks/` runs, at a small size: one was broken unseen once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmark_scripts import run
from paths import ROOT


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
    grown = [line.split("|")[1].strip() for line in table.splitlines()]
    assert grown == ["states", "variables", "skills"]
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_combinations_of_readings_are_ranked(tmp_path):
    ranked = run("readings.py", "--quick", "--out", str(tmp_path / "runs"), cwd=tmp_path)
    assert ranked.startswith("1 runs\n")
    names = [line.split("  ")[-1] for line in ranked.splitlines()[1:]]
    assert len(names) == 8  # two choices, four ways to learn a task
    assert {"paper's", "ties=random", "memory=none updates=intra-option"} <= set(names)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="children are forked and read /proc")
def test_damaged_input_is_refused_with_one_sentence(tmp_path):
    report = run("fuzz.py", "--inputs", "1500", "--seed", "0", "--out", "fuzz.md", cwd=tmp_path)
    assert report.startswith("# 1500 inputs, seed 0\n")
    assert "## Findings: 0\n" in report
    assert (tmp_path / "fuzz.md").read_text() == report.removesuffix("\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_killed_sweep_is_resumed_and_leaves_nothing(tmp_path):
    assert "no findings" in run("kills.py", "--kind", "sweep", "--kills", "1", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="children are forked and read /proc")
def test_the_fuzzer_finds_crashes_hangs_memory_and_tracebacks(tmp_path):
    code = """
import ctypes, time
import fuzz, fuzz_inputs
from skillfocus.errors import UserError

def trouble(rng, _):
    number = next(numbers)
    if number == 0: raise KeyError("lost")
    if number == 1: ctypes.string_at(0)
    if number == 2: time.sleep(60)
    if number == 3: bytearray(3 * 1024**3)
    if number == 4: raise UserError("one line")

numbers = iter(range(6))
fuzz.SECONDS, fuzz.KINDS["map"] = 2, trouble
report = fuzz.Report(0)
for number in range(6):
    part = fuzz.fuzz(range(number, number + 1), 0, "map", None)
    next(numbers)
    report.outcomes += part.outcomes
    report.findings |= part.findings
print(report.text())
"""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "benchmarks"), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert dict(zip(rows[0], rows[2], strict=True)) == {
        "| kind": "| map", "accepted": "1", "crash": "1", "hang": "1", "memory": "1",
        "refused": "1", "traceback |": "1 |",
    }  # fmt: skip
    for line in (
        "crash: SIGSEGV",
        "hang: more than N s",
        "KeyError: 'lost'",
        "--seed 0 --kind 'map' --only 3",
    ):
        assert line in done.stdout


def test_every_benchmark_is_tested():
    tested = {
        "bench.py",
        "scaling.py",
        "page.py",
        "readings.py",
        "rooms_planner.py",
        "fuzz.py",
        "fuzz_inputs.py",
        "large_worlds.py",
        "neural.py",
        "continuous.py",
        "kills.py",
    }
    assert {file.name for file in (ROOT / "benchmarks").glob("*.py")} == tested


@pytest.mark.slow
def test_the_planner_is_measured_in_rooms_with_many_tools(tmp_path):
    rows = run("rooms_planner.py", "tool-rooms", "--quick", cwd=tmp_path).splitlines()[2:]
    assert [row.split("|")[2].strip() for row in rows] == ["no tool picked up", "random"]
    assert all(row.split("|")[3].strip().startswith("1.000") for row in rows)


@pytest.mark.slow
def test_large_worlds_are_measured(tmp_path):
    (row,) = run("large_worlds.py", "--quick", cwd=tmp_path).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:4] == ["museum", "832", "16", "2 M"]
    assert len(cells) == 12
    assert cells[8].endswith(" GB")
    assert float(cells[-1]) > 0.5, "how often the best skill of any target changes it"


def test_the_maze_is_as_large_as_it_says():
    text = (ROOT / "benchmarks" / "gem-maze.txt").read_text()
    cells = text.partition("map:")[2]
    assert (cells.count(".") + cells.count("G")) * 2 ** cells.count("G") == 56_128
    assert "56,128 states" in text


@pytest.mark.slow
def test_networks_are_timed(tmp_path):
    file = tmp_path / "speed.json"
    run("neural.py", "--quick", "--json", str(file), cwd=tmp_path)
    speed = json.loads(file.read_text())
    assert speed["skill samples/s"] == pytest.approx(2 * 34 * speed["environment steps/s"])


@pytest.mark.slow
def test_actors_are_timed(tmp_path):
    file = tmp_path / "speed.json"
    arguments = ("--quick", "--settings", "two-rooms", "--seeds", "1", "2")
    run("continuous.py", *arguments, "--json", str(file), cwd=tmp_path)
    speed = json.loads(file.read_text())
    assert [(row["setting"], row["seeds"]) for row in speed] == [("two-rooms", 1), ("two-rooms", 2)]
    assert all(row["steps_per_s"] > 0 for row in speed)
