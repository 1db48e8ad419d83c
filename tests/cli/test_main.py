from __future__ import annotations

import logging
import re
import subprocess
import sys
import warnings

import pytest

from commands import command
from skillfocus.cli import main


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


def test_version_and_only_that(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skillfocus", "--version"])
    main()
    assert re.fullmatch(r"skillfocus \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_what_the_library_logs_is_printed_as_a_line(tmp_path, monkeypatch):
    def run(self):
        logging.getLogger("skillfocus.sweeps").info("study s: 3 trials drawn so far")
        warnings.warn("a file is damaged", UserWarning, stacklevel=2)

    monkeypatch.setattr("skillfocus.cli.doctor.Doctor.run", run)
    done = command("doctor", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        "study s: 3 trials drawn so far", "skillfocus: warning: a file is damaged",
    ]  # fmt: skip
    assert not logging.getLogger("skillfocus").handlers


def test_kernels_that_cannot_be_cached_are_one_sentence(tmp_path, monkeypatch):
    def run(self):
        raise RuntimeError("cannot cache function 'sweep': no locator available")

    monkeypatch.setattr("skillfocus.cli.doctor.Doctor.run", run)
    done = command("doctor", cwd=tmp_path)
    assert done.returncode == 2
    assert "set NUMBA_CACHE_DIR to a writable folder" in done.stderr


@pytest.mark.parametrize("name", ["list", "describe", "discover", "evaluate", "solve", "view", "sweep", "reproduce", "doctor"])  # fmt: skip
def test_every_command_has_help(name, tmp_path):
    done = command(name, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert f"usage: skillfocus {name}" in done.stdout
    assert "--json" in done.stdout


def test_help_says_what_exit_statuses_mean(tmp_path):
    text = " ".join(command("--help", cwd=tmp_path).stdout.split())
    assert "2 usage error" in text
    assert "130 interrupted" in text
