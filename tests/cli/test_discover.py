from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from commands import LAMPS, QUICK, command
from runs_for_tests import wait_until
from skillfocus.cli import main
from skillfocus.cli.commands import Discover
from skillfocus.discovery import Discovery
from skillfocus.errors import UserError
from skillfocus.learners.planning.learner import Planning
from skillfocus.learners.planning.problem import require_cells
from skillfocus.runs import Store


@pytest.mark.slow
def test_discover_gives_what_programs_rely_on(discovered):
    folder, document = discovered
    assert [r["seed"] for r in document["runs"]] == [0, 1]
    assert document["runs"][0]["unusual"] == {"skills": 8, "rounds": 3}
    assert document["runs"][0]["settings"]["gamma"] == 0.99
    for record in document["runs"]:
        assert (record["world"], record["objective"]) == ("FourRooms-v0", "focused-vic")
        assert record["learner"] == "planning"
        assert (folder / record["file"]).is_file()
        assert [s["skill"] for s in record["skills"]] == list(range(8))
        for skill in record["skills"]:
            assert len(skill["targets"]) == 1
            assert set(skill["side_effects_by_variable"]) == (
                {"position", "tool_1", "tool_2", "tool_3", "tool_4"} - set(skill["targets"])
            )
            total = sum(skill["side_effects_by_variable"].values())
            assert skill["side_effects"] == pytest.approx(total)
            assert 0 <= skill["changes_target"] <= 1
            assert 0 <= skill["steps"] <= 40
            assert skill["exact"] is True
            assert skill["all_starts"]["starts"] == 832
    assert (folder / "four-rooms.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("number", "said", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143),
     (signal.SIGHUP, "terminated", 129)],
)  # fmt: skip
def test_a_stopped_command_says_so_and_leaves_nothing_behind(tmp_path, workers, number, said, code):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "skillfocus.cli", "discover", "four-rooms", "focused-vic",
         "--rounds", "100000", "--seeds", "2", "--workers", str(workers), "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,  # a terminal's Ctrl-C reaches the whole group
        # A test run in the background hands down ignored signals; a terminal does not.
        preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGHUP)],
    )  # fmt: skip
    try:
        wait_until(out.exists, 120)
        time.sleep(3.0)  # it compiles, or is learning
        os.killpg(process.pid, number)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    last = stderr.splitlines()[-1]
    assert last == f"skillfocus: {said}. 2 runs: 2 left to do. Rerun to resume"
    assert "Traceback" not in stderr
    assert process.returncode == code
    assert not list(out.iterdir())


@pytest.mark.slow
def test_failures_are_listed_with_status_1_and_tried_again_when_asked(discovered):
    folder, _ = discovered
    run_0 = Discovery("four-rooms", "focused-vic", 0, Planning(rounds=3), skills=8)
    bad = Discovery("four-rooms", "focused-vic", 7, Planning(rounds=3), skills=8)
    store = Store(folder / "out")
    assert run_0 in store
    store.fail(bad, "MemoryError: too big", "Traceback: somewhere")
    seven = ["discover", "four-rooms", "focused-vic", *QUICK, "--seed", "7", "--json"]
    done = command(*seven, cwd=folder)
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"runs": []}
    assert f"failed: {bad.stem}: MemoryError: too big" in done.stderr
    assert "--retry-failed tries again" in done.stderr
    again = command(*seven, "--retry-failed", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["runs"][0]["seed"] == 7


@pytest.mark.slow
def test_what_is_there_is_read_not_done_again(discovered):
    folder, document = discovered
    done = command(
        "discover", "four-rooms", "focused-vic", *QUICK, "--seeds", "2", "--json", cwd=folder
    )
    assert json.loads(done.stdout) == document
    assert "2 runs: 2 found in out" in done.stderr


@pytest.mark.slow
def test_a_damaged_file_is_said_and_done_again(discovered):
    folder, document = discovered
    file = folder / document["runs"][1]["file"]
    whole = file.read_bytes()
    file.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    done = command(
        "discover", "four-rooms", "focused-vic", *QUICK, "--seed", "1", "--json", cwd=folder
    )
    assert done.returncode == 0
    assert "warning" in done.stderr
    assert "its skills do not match their digest" in done.stderr
    assert json.loads(done.stdout)["runs"] == document["runs"][1:]
    assert file.read_bytes() == whole


def test_what_is_too_large_is_told_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skillfocus.learners.planning.problem.MAX_CELLS", 1000)
    monkeypatch.setattr("skillfocus.learners.planning.problem.PACKED_CELLS", 1)
    monkeypatch.setattr("skillfocus.learners.planning.problem.CELL_LIMIT", 1000)
    monkeypatch.setattr(sys, "argv", ["skillfocus", "discover", "four-rooms", "focused-vic"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "more than 1,000: use fewer variables" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "failed").exists()


def test_fewer_skills_are_advised_only_if_one_alone_fits():
    require_cells([40, 60], 100)
    for cells, helps in (([100, 300], True), ([101, 300], False)):
        with pytest.raises(UserError) as refused:
            require_cells(cells, 100)
        assert ("use fewer skills" in str(refused.value)) == helps
        assert "fewer variables that can change back" in str(refused.value)


@pytest.mark.parametrize("settings", [{}, {"baseline": "stepwise"}])
def test_what_is_avoidable_is_told_only_if_the_start_is_compared_with(settings, capsys):
    skill = {"skill": 1, "targets": ["parcel"], "starts": 0, "avoidable": 0.5}
    record = {
        "skills": [skill],
        "settings": {"rate": 0.1, "baseline": "start", **settings},
        "objective": "focused-vic",
    }
    Discover(world="train", objective="focused-vic")._advise([record])
    assert ("1 of 1 skills have side effects" in capsys.readouterr().err) == (not settings)


def test_networks_are_told_to_learn_longer(capsys):
    """Neither walls nor another seed is why they miss."""
    skill = {
        "skill": 1, "targets": ["tool_1"], "starts": 9, "avoidable": 0.5, "changes_target": 0.1,
        "best_possible": 0.9,
    }  # fmt: skip
    record = {
        "skills": [skill], "settings": {"rate": 0.1, "baseline": "start"}, "objective": "focused-vic", "seed": 0
    }  # fmt: skip
    for learner, advised in (("neural", True), ("planning", False)):
        options = Discover(world="four-rooms", objective="focused-vic", learner=learner)
        options._advise([record])
        notes = " ".join(capsys.readouterr().err.split())
        assert notes.count("networks become more precise with more --steps") == 2 * advised
        assert ("path-norm knows walls" in notes) != advised
        assert ("another seed" in notes) != advised


@pytest.mark.slow
def test_side_effects_that_can_be_helped_are_told(tmp_path):
    (tmp_path / "leaping_lamps.py").write_text(
        LAMPS.replace(
            "        return [",
            """
        hand = 0 if action == "press" and state["hand"] == 2 else hand
        return [""",
        )
    )
    done = command(
        "discover", "leaping_lamps.py:Lamps", "focused-vic", "--workers", "1", "--targets", "lamp=2",
        "--strength", "0", cwd=tmp_path,
    )  # fmt: skip
    assert "skills have side effects that can be avoided (skill" in done.stderr
    assert "--strength auto" in done.stderr
    assert "strength=0," in done.stdout
