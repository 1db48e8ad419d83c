from __future__ import annotations

import json

import pytest

from commands import LAMPS, command


@pytest.mark.slow
def test_evaluate_repeats_discover_s_numbers(discovered):
    folder, document = discovered
    files = [record["file"] for record in document["runs"]]
    done = command("evaluate", *files, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    only = {"settings", "unusual"}
    expected = [{k: v for k, v in r.items() if k not in only} for r in document["runs"]]
    assert json.loads(done.stdout)["runs"] == expected


@pytest.mark.slow
def test_tables_are_for_reading(discovered):
    folder, document = discovered
    one = command("evaluate", document["runs"][0]["file"], cwd=folder)
    assert "focused-vic in FourRooms-v0 by planning, seed 0" in one.stdout
    skill = document["runs"][0]["skills"][0]
    row = next(line for line in one.stdout.splitlines() if line.split()[:2] == ["0", "tool_1"])
    assert row.split()[2:4] == [f"{skill['changes_target']:.3f}", f"{skill['side_effects']:.3f}"]
    two = command("evaluate", *[r["file"] for r in document["runs"]], cwd=folder)
    assert "2 seeds" in two.stdout


@pytest.mark.slow
def test_a_world_of_one_s_own_from_file_to_evaluation(tmp_path):
    (tmp_path / "own.py").write_text(LAMPS)
    done = command(
        "discover", "own.py:Lamps", "focused-vic", "--workers", "1", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)["runs"]
    assert record["world"] == "object:Lamps"
    lamp = [s for s in record["skills"] if s["targets"] == ["lamp"]]
    assert max(s["changes_target"] for s in lamp) == 1.0
    assert max(s["side_effects"] for s in lamp) == 0.0
    without = command("evaluate", record["file"], cwd=tmp_path)
    assert without.returncode == 2
    assert "--world" in without.stderr
    again = command("evaluate", record["file"], "--world", "own.py:Lamps", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["runs"][0]["skills"] == record["skills"]


@pytest.mark.slow
def test_coverage_gives_what_programs_rely_on(discovered):
    folder, document = discovered
    file = document["runs"][0]["file"]
    done = command("evaluate", file, "--coverage", "--json", cwd=folder)
    (record,) = json.loads(done.stdout)["runs"]
    assert len(record["coverage"]) == 5
    assert record["coverage_exact"] is True
    curve = record["coverage"]
    assert record["auc"] == pytest.approx(sum(curve) - (curve[0] + curve[-1]) / 2)


@pytest.mark.slow
def test_sampled_values_are_near_the_exact_ones(discovered):
    folder, document = discovered
    record = document["runs"][0]
    done = command("evaluate", record["file"], "--sample", "2000", "--json", cwd=folder)
    (sampled,) = json.loads(done.stdout)["runs"]
    for one, exact in zip(sampled["skills"], record["skills"], strict=True):
        assert one["exact"] is False
        assert one["side_effects"] == pytest.approx(exact["side_effects"], abs=0.1)
