from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

QUICK = ["--rounds", "3", "--skills", "8", "--workers", "1"]


def run(*arguments, cwd=None, **options):
    return subprocess.run(
        [sys.executable, "-m", "skillfocus.cli", *arguments],
        capture_output=True, text=True, cwd=cwd, timeout=300, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    done = run(
        "discover", "four-rooms", "focused-vic", *QUICK, "--seeds", "2", "--json",
        "--draw", "four-rooms.png", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.mark.slow
def test_discover_gives_what_programs_rely_on(found):
    folder, document = found
    assert [r["seed"] for r in document["runs"]] == [0, 1]
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
def test_evaluate_repeats_discover_s_numbers(found):
    folder, document = found
    files = [record["file"] for record in document["runs"]]
    done = run("evaluate", *files, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == document


@pytest.mark.slow
def test_tables_are_for_reading(found):
    folder, document = found
    one = run("evaluate", document["runs"][0]["file"], cwd=folder)
    assert "focused-vic in FourRooms-v0 by planning, seed 0" in one.stdout
    skill = document["runs"][0]["skills"][0]
    row = next(line for line in one.stdout.splitlines() if line.split()[:2] == ["0", "tool_1"])
    assert row.split()[2:4] == [f"{skill['changes_target']:.3f}", f"{skill['side_effects']:.3f}"]
    two = run("evaluate", *[r["file"] for r in document["runs"]], cwd=folder)
    assert "2 seeds" in two.stdout


def test_list_and_help_answer_quickly_and_without_heavy_imports():
    for arguments in (["--help"], ["list"], ["list", "--json"]):
        code = (
            f"import sys; sys.argv = ['skillfocus', *{arguments!r}]\n"
            "from skillfocus.cli import main\n"
            "try:\n    main()\nexcept SystemExit:\n    pass\n"
            "heavy = {'numba', 'scipy', 'matplotlib'} & set(sys.modules)\n"
            "sys.exit(f'imported {heavy}' if heavy else 0)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "four-rooms" in run("list").stdout
    names = [world["name"] for world in json.loads(run("list", "--json").stdout)["worlds"]]
    assert names == ["four-rooms", "forage-world", "mud-world"]


def test_doctor_is_well():
    done = run("doctor", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["healthy"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discover", "for-rooms", "vic"], "did you mean 'four-rooms'"),
        (["discover", "four-rooms", "vick"], "did you mean 'vic'"),
        (["discover", "four-rooms", "dusdi-lsd"], "has no meaning"),
        (["discover", "four-rooms", "focused-vic", "--skills", "5"], "too few"),
        (["discover", "four-rooms", "focused-vic", "--strength", "-1"], "strength is -1.0"),
        (["discover", "four-rooms", "focused-vic", "--gamma", "1.5"], "gamma is 1.5"),
        (["discover", "four-rooms", "focused-vic", "--targets", "tol_1=2"], "'tool_1'"),
        (["discover", "four-rooms", "focused-vic", "--targets", "tool_1"], "NAME=COUNT"),
        (["discover", "four-rooms", "vic", "--targets", "tool_1=2"], "have no targets"),
        (["discover", "four-rooms", "focused-vic", "--seeds", "0"], "--seeds"),
        (["discover", "four-rooms", "focused-vic", "--workers", "0"], "0 workers"),
        (["discover", "four-rooms", "focused-vic", "--skills", "9"], "only one skill"),
        (["discover", "four-rooms", "focused-vic", "--episodes", "5"], "--learner q-learning"),
        (["discover", "four-rooms", "focused-vic", "--out", "/proc/nothing"], "folder"),
        (["discover", "four-rooms", "focused-vic", "--draw", "a.gif", "--rounds", "1"], ".png"),
        (["evaluate", "missing.skills"], "no file missing.skills"),
        (["evaluate", "pyproject.toml"], "no file|not a readable"),
    ],
)
def test_a_user_s_mistake_is_one_sentence_and_status_2(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    said = [line for line in done.stderr.splitlines() if line.startswith("skillfocus: ")]
    assert len(said) == 1
    assert re.search(message, said[0])
    assert not [f for f in tmp_path.rglob("*") if f.is_file()]


@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_nothing_half_written(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "skillfocus.cli", "discover", "four-rooms", "focused-vic",
         "--rounds", "100000", "--out", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A test run in the background hands down an ignored SIGINT; a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []
