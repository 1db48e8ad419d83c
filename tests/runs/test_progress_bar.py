from __future__ import annotations

import io

from rich.console import Console

import skillfocus as sf
from skillfocus.runs.progress_bar import ProgressBar
from skillfocus.runs.status import JobStatus


def lines(*statuses):
    out = io.StringIO()
    with ProgressBar(Console(file=out, force_terminal=False, width=200), "job") as bar:
        for status in statuses:
            bar.watch(status)
    return out.getvalue().splitlines()


def test_without_a_terminal_there_is_a_line_per_tenth():
    printed = lines(*[JobStatus(40, done=done) for done in range(41)])
    assert len(printed) == 10
    assert printed[0] == "job: 10%, 4 of 40 runs"
    assert printed[-1] == "job: 100%, 40 of 40 runs"


def test_what_runs_and_what_failed_is_shown():
    status = JobStatus(
        10, done=3, found=2, failures={"a": "b"}, running={f"x_{'0' * 16}": 0.5, "y": 0.5}
    )
    assert lines(status) == [
        "job: 62%, 6 of 10 runs, 1 failed, now x and 1 more"
    ]  # 5 of the 8 not found


def test_on_a_terminal_there_is_a_bar():
    out = io.StringIO()
    with ProgressBar(Console(file=out, force_terminal=True, width=100), "job") as bar:
        bar.watch(JobStatus(4, done=1, running={"[red]x": 0.5}))
        bar.bar.refresh()
    assert "38 %" in out.getvalue()
    assert "1 of 4 runs, now [red]x" in out.getvalue()


def test_the_public_bar_takes_both_kinds_of_progress(capsys):
    with sf.progress_bar("job") as bar:
        bar.report(0.25, "exploring")
        bar(JobStatus(2, done=1))
    assert capsys.readouterr().err == "job: 25%, exploring\njob: 50%, 1 of 2 runs\n"
