from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from commands import command
from skillfocus.cli import main
from skillfocus.learners.tabular.planning import Planning
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store

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
def test_evaluate_repeats_discover_s_numbers(found):
    folder, document = found
    files = [record["file"] for record in document["runs"]]
    done = command("evaluate", *files, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    only = {"settings", "unusual"}
    expected = [{k: v for k, v in r.items() if k not in only} for r in document["runs"]]
    assert json.loads(done.stdout)["runs"] == expected


@pytest.mark.slow
def test_tables_are_for_reading(found):
    folder, document = found
    one = command("evaluate", document["runs"][0]["file"], cwd=folder)
    assert "focused-vic in FourRooms-v0 by planning, seed 0" in one.stdout
    skill = document["runs"][0]["skills"][0]
    row = next(line for line in one.stdout.splitlines() if line.split()[:2] == ["0", "tool_1"])
    assert row.split()[2:4] == [f"{skill['changes_target']:.3f}", f"{skill['side_effects']:.3f}"]
    two = command("evaluate", *[r["file"] for r in document["runs"]], cwd=folder)
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
        (["sweep", "four-rooms", "focused-vic"], "name what to sweep over"),
        (
            ["sweep", "four-rooms", "focused-vic", "--over", "gamma=0.9", "--seed", "5"],
            "reporting seed",
        ),
        (
            ["sweep", "four-rooms", "focused-vic", "--over", "gamma=0.9", "--report", "2000"],
            "tuning seed",
        ),
        (["sweep", "four-rooms", "vic", "--over", "gamma=0.9"], "vic skills have no targets"),
        (["sweep", "four-rooms", "focused-vic", "--over", "gama=0.9"], "did you mean 'gamma'"),
        (["sweep", "four-rooms", "focused-vic", "--over", "gamma=0.9..0.99"], "--trials"),
        (
            ["sweep", "four-rooms", "focused-vic", "--paper", "sgd"],
            "has no meaning for focused-vic",
        ),
    ],
)
def test_a_user_s_mistake_is_one_sentence_and_status_2(
    arguments, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skillfocus", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    stdout, stderr = capsys.readouterr()
    assert "Traceback" not in stderr
    assert stdout == ""
    said = [line for line in stderr.splitlines() if line.startswith("skillfocus: ")]
    assert len(said) == 1
    assert re.search(message, said[0])
    assert not [f for f in tmp_path.rglob("*") if f.is_file()]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.5, 4.0], ids=["at once", "starting", "at work"])
def test_ctrl_c_twice_ends_with_130_and_nothing_half_written(tmp_path, seconds):
    process = subprocess.Popen(
        [sys.executable, "-m", "skillfocus.cli", "discover", "four-rooms", "focused-vic",
         "--rounds", "100000", "--out", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,  # a terminal's Ctrl-C reaches the whole group
        # A test run in the background hands down an ignored SIGINT; a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        while not (tmp_path / ".lock").exists():
            time.sleep(0.01)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        first = process.stderr.readline()
        if first.startswith("interrupted: finishing 1 run in flight; Ctrl-C again abandons it"):
            os.killpg(process.pid, signal.SIGINT)
            first = process.stderr.readline()
        _, rest = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert first.startswith(
        "skillfocus: interrupted. 1 run: 1 left to do. The same command goes on"
    )
    assert rest == ""
    assert process.returncode == 130
    assert [file.name for file in tmp_path.iterdir()] == [".lock"]


@pytest.mark.slow
def test_failures_are_listed_with_status_1_and_tried_again_when_asked(found):
    folder, _ = found
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
def test_what_is_there_is_read_not_done_again(found):
    folder, document = found
    done = command(
        "discover", "four-rooms", "focused-vic", *QUICK, "--seeds", "2", "--json", cwd=folder
    )
    assert json.loads(done.stdout) == document
    assert "2 runs: 2 found in out" in done.stderr


@pytest.mark.slow
def test_a_damaged_file_is_said_and_done_again(found):
    folder, document = found
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


@pytest.mark.slow
def test_sweep_over_a_grid_and_by_search(tmp_path):
    options = [
        "sweep", "four-rooms", "focused-vic", "--rounds", "1", "--skills", "8", "--seeds", "1",
        "--workers", "1", "--over",
    ]  # fmt: skip
    done = command(*options, "strength=1,4", "--report", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [point["strength"] for point in document["points"]] == [1, 4]
    assert document["tuning_seeds"] == [1000]
    assert document["reporting_seeds"] == [0]
    best = max(document["points"], key=lambda point: point["mean"])
    assert document["best"] == best
    assert document["report"]["strength"] == best["strength"]
    assert (tmp_path / document["plot"]).read_bytes().startswith(b"\x89PNG")
    mdp = command(*options, "strength=1,4", cwd=tmp_path)
    assert "2 runs: 2 found in out" in mdp.stderr
    assert f"{best['mean']:.3f}" in mdp.stdout
    searched = command(
        *options, "strength=1..4", "--trials", "2", "--plot", "s.svg", "--json", cwd=tmp_path
    )
    assert searched.returncode == 0, searched.stderr
    assert len(json.loads(searched.stdout)["points"]) == 2
    assert (tmp_path / "out" / "search.db").is_file()
    assert (tmp_path / "s.svg").is_file()


def test_version_and_only_that(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skillfocus", "--version"])
    main()
    assert re.fullmatch(r"skillfocus \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.slow
def test_solve_and_coverage_give_what_programs_rely_on(found):
    folder, document = found
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
    done = command("evaluate", file, "--coverage", "--json", cwd=folder)
    (record,) = json.loads(done.stdout)["runs"]
    assert len(record["coverage"]) == 5
    assert record["coverage_exact"] is True
    curve = record["coverage"]
    assert record["auc"] == pytest.approx(sum(curve) - (curve[0] + curve[-1]) / 2)


def test_describe(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "gymnasium:Taxi-v4", "--check"])
    main()
    shown = capsys.readouterr().out
    assert "404 states, 6 actions" in shown
    assert "no action changes destination" in shown
    assert "Every check passed." in shown
    monkeypatch.setattr(sys, "argv", [
        "skillfocus", "describe", "four-rooms", "--world-settings", '{"step_limit": 7}', "--json",
    ])  # fmt: skip
    main()
    document = json.loads(capsys.readouterr().out)
    assert (document["states"], document["step_limit"]) == (1664, 7)
    tool = document["variables"][1]
    assert 0.05 < tool.pop("alone") < 0.2  # with seven steps from few cells; 0.106 of them all
    assert tool == {
        "name": "tool_1", "values": 2, "listed": "0, 1", "changes": "for good", "skills": 2,
    }  # fmt: skip


# Each test has a file name of its own: in one process, a file is imported once.
OWN = """
class Lamps:
    variables = {"hand": (0, 1, 2), "lamp": ("off", "on")}
    actions = ("left", "right", "press")
    def transition(self, state, action):
        hand, lamp = state["hand"], state["lamp"]
        if action == "press":
            lamp = ("on" if lamp == "off" else "off") if hand == 2 else lamp
        else:
            hand = max(0, min(2, hand + (1 if action == "right" else -1)))
        return [(1.0, {"hand": hand, "lamp": lamp})]
"""


@pytest.mark.slow
def test_a_world_of_one_s_own_from_file_to_evaluation(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
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
def test_exploring_long_shows_how_it_goes_on(tmp_path):
    slow = OWN.replace(
        "        hand, lamp =",
        "        import time\n        time.sleep(0.08)\n        hand, lamp =",
    )
    (tmp_path / "slow_lamps.py").write_text(slow.replace("(0, 1, 2)", "tuple(range(3))"))
    done = command("describe", "slow_lamps.py:Lamps", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "exploring object:Lamps: 6 states found" in done.stderr


def test_what_is_too_large_is_told_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skillfocus.learners.tabular.problem.MAX_CELLS", 1000)
    monkeypatch.setattr("skillfocus.learners.tabular.problem.CELL_LIMIT", 1000)
    monkeypatch.setattr(sys, "argv", ["skillfocus", "discover", "four-rooms", "focused-vic"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "more than 1,000: use fewer skills" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "failed").exists()


@pytest.mark.slow
def test_side_effects_that_can_be_helped_are_told(tmp_path):
    (tmp_path / "leaping_lamps.py").write_text(
        OWN.replace(
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
    assert "a higher --strength helps" in done.stderr
    assert "strength=0," in done.stdout
