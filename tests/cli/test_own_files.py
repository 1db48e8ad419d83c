"""Worlds, objectives and tasks of the user's own on the command line."""

from __future__ import annotations

import json

import pytest

from commands import command

MAP = "T = pick-up tool\n\nslip = 0\n\nmap:\n#######\n#@..T.#\n#######\n"
MINE = """
import skillfocus as sf


def at_its_value(component, start, value):
    return 1.0 if value == component else 0.0


def reach():
    return sf.Objective("reach", sf.Reward("reach", at_its_value, uses_start=False))


def fetched(state):
    return state["tool"] == 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "map.txt").write_text(MAP)
    (folder / "my.py").write_text(MINE)
    return folder


@pytest.mark.slow
def test_an_objective_and_a_task_of_your_own(folder):
    done = command(
        "discover", "map.txt", "focused-my.py:reach", "--targets", "tool=2", "--rounds", "2",
        "--workers", "1", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["objective"] == "focused-my.py:reach"
    assert [skill["changes_target"] for skill in run["skills"]] == [0.0, 1.0]
    assert [skill["side_effects"] for skill in run["skills"]] == [0.0, 0.0]
    for task in ("tool=1", "my.py:fetched"):
        done = command(
            "solve", run["file"], "--task", task, "--episodes", "200", "--max-steps", "30",
            "--json", cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        with_skills, alone = json.loads(done.stdout)["runs"]
        assert (with_skills["task"], with_skills["max_episode_steps"]) == (task, 30)
        assert with_skills["optimum_steps"] == alone["optimum_steps"] == 3.0
        assert with_skills["success"] == 1.0
    done = command("solve", run["file"], "--task", "tool=0", cwd=folder)
    assert done.returncode == 2
    assert "the task tool=0 cannot be accomplished" in done.stderr
    done = command("solve", run["file"], "--task", "tol=1", cwd=folder)
    assert "unknown variable 'tol': did you mean 'tool'" in done.stderr


@pytest.mark.slow
def test_a_sweep_of_an_objective_of_your_own(folder):
    done = command(
        "sweep", "map.txt", "focused-my.py:reach", "--targets", "tool=2", "--rounds", "1",
        "--over", "strength=0,4", "--seeds", "1", "--workers", "1", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["best"]["strength"] == 4.0
