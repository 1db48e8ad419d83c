from __future__ import annotations

import ctypes
import json
import logging
import os
import re
import signal
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest

from commands import command
from skillfocus.cli import main
from skillfocus.cli.printing import progress_on_stderr
from skillfocus.runs import Result, Run, Store, run_all


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


def test_version_and_only_that(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skillfocus", "--version"])
    main()
    assert re.fullmatch(r"skillfocus \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_what_the_library_logs_is_printed_as_a_line(tmp_path, monkeypatch):
    def run(self):
        logging.getLogger("skillfocus.sweeps").info("study s: 3 trials drawn so far")
        warnings.warn("a file is damaged", UserWarning, stacklevel=2)

    monkeypatch.setattr("skillfocus.cli.commands.Doctor.run", run)
    done = command("doctor", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        "study s: 3 trials drawn so far", "skillfocus: warning: a file is damaged",
    ]  # fmt: skip
    assert not logging.getLogger("skillfocus").handlers


@pytest.mark.parametrize("name", ["list", "describe", "discover", "evaluate", "solve", "view", "sweep", "doctor"])  # fmt: skip
def test_every_command_has_help(name, tmp_path):
    done = command(name, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert f"usage: skillfocus {name}" in done.stdout
    assert "--json" in done.stdout


def run_python(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "skillfocus.cli", *arguments],
        stderr=subprocess.PIPE, text=True, check=False, timeout=300, **options,
    )  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux only")
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_one_sentence(arguments):
    with open("/dev/full", "w") as full:
        done = run_python(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr == ("skillfocus: cannot read or write the output: No space left on device\n")


def test_an_encoding_without_a_character_shows_a_question_mark():
    done = run_python(
        "list", stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr
    assert "focused-? and dusdi-? also as" in done.stdout


@pytest.mark.parametrize("columns", ["1", "5", "1000000000"])
def test_the_width_of_the_terminal_is_limited(columns, tmp_path, monkeypatch):
    """tyro's help grows without bound in a terminal of five columns."""
    monkeypatch.setenv("COLUMNS", columns)
    done = command("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert 10 < len(done.stdout.splitlines()) < 1000
    assert max(map(len, done.stdout.splitlines())) <= 1000


@pytest.mark.parametrize(
    ("number", "status", "line"),
    [
        (signal.SIGINT, 130, "skillfocus: interrupted; files already written are complete\n"),
        (signal.SIGHUP, 129, "skillfocus: terminated; files already written are complete\n"),
        (signal.SIGTERM, 143, "skillfocus: terminated; files already written are complete\n"),
    ],
)
def test_signals_are_one_line_and_a_status(number, status, line, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "skillfocus.cli.commands.Doctor.run", lambda self: os.kill(os.getpid(), number)
    )
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)  # nohup, for one, ignores SIGHUP
    try:
        done = command("doctor", cwd=tmp_path)
    finally:
        signal.signal(number, before)
    assert (done.returncode, done.stderr) == (status, line)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


class Interrupts:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "interrupt", [Interrupts, ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))],
    ids=["destructor", "callback"],
)  # fmt: skip
@pytest.mark.parametrize("raises", [False, True])
def test_ctrl_c_that_python_drops_ends_the_command_all_the_same(
    interrupt, raises, tmp_path, monkeypatch
):
    """Python drops what is raised in destructors and in callbacks from compiled code."""

    @dataclass(frozen=True)
    class Dropping(Run):
        def execute(self, progress):
            interrupt()
            if raises:
                raise RuntimeError("for want of what the callback should have returned")
            progress(0.5, "learning")
            return Result([])

    def run(self):
        with progress_on_stderr("doctor") as bar:
            run_all([Dropping()], Store(tmp_path / "out"), progress=bar)

    monkeypatch.setattr("skillfocus.cli.commands.Doctor.run", run)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = command("doctor", cwd=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    line = "skillfocus: interrupted. 1 run: 1 left to do. Rerun to resume\n"
    assert (done.returncode, done.stderr) == (130, line)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("module", ["gymnasium", "tyro"])
def test_ctrl_c_during_imports_is_quiet(module, tmp_path):
    (tmp_path / f"{module}.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run_python(
        "list", stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_help_says_what_exit_statuses_mean(tmp_path):
    text = " ".join(command("--help", cwd=tmp_path).stdout.split())
    assert "2 usage error" in text
    assert "130 interrupted, 143 terminated" in text


def test_without_an_output_it_prints_nowhere():
    """As the shell's `>&-` has it."""
    line = [sys.executable, "-c", "from skillfocus.cli import main; main()", "list"]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *line]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_doctor_works_without_a_home_folder(tmp_path, monkeypatch):
    """As for a user of a container whom its system does not know."""

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", no_home)
    for name in ("HOME", "XDG_CACHE_HOME", "SKILLFOCUS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("skillfocus.cli.commands._check_kernels", lambda: "work")
    done = command("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["world cache"].startswith("off")
