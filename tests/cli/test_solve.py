from __future__ import annotations

import json

import pytest

from commands import command


@pytest.mark.slow
def test_solve_gives_what_programs_rely_on(discovered):
    folder, document = discovered
    file = document["runs"][0]["file"]
    done = command("solve", file, "--episodes", "500", "--task", "proxy", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    with_skills, alone = json.loads(done.stdout)["runs"]
    assert (with_skills["file"], alone["file"]) == (file, None)
    assert (with_skills["objective"], alone["objective"]) == ("focused-vic", "primitives")
    for record in (with_skills, alone):
        assert record["task"] == "tools"
        assert record["optimum_steps"] == pytest.approx(44.6, abs=0.05)
        assert 44 < record["steps"] <= 320
        assert 0 <= record["true_return"] <= record["proxy_return"] == record["success"] <= 1
        assert len(record["curve"]["steps"]) == 50


@pytest.mark.slow
def test_solve_prints_a_table(discovered):
    folder, document = discovered
    done = command("solve", document["runs"][0]["file"], "--episodes", "100", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Learned from the true reward in 100 episodes" in done.stdout
    assert "primitives" in done.stdout
