from __future__ import annotations

import io

from rich.console import Console

from skillfocus.runs.progress_bar import Progress, duration, summary
from skillfocus.runs.status import Status


def lines(*statuses):
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=False, width=200), "job") as progress:
        for status in statuses:
            progress.watch(status)
    return out.getvalue().splitlines()


def test_without_a_terminal_there_is_a_line_per_tenth():
    statuses = [Status(40, done=done) for done in range(41)]
    said = lines(*statuses)
    assert len(said) == 10
    assert said[0] == "job: 10%, 4 of 40 runs"
    assert said[-1] == "job: 100%, 40 of 40 runs"


def test_what_runs_and_what_failed_is_told():
    status = Status(
        10, done=3, found=2, failures={"a": "b"}, running={f"x_{'0' * 16}": 0.5, "y": 0.5}
    )
    assert lines(status) == [
        "job: 62%, 6 of 10 runs, 1 failed, now x and 1 more"
    ]  # 5 of the 8 not found


def test_a_part_of_the_work_moves_its_part_of_the_bar():
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=False, width=200), "job") as progress:
        progress.span = 0.5, 0.75
        progress.watch(Status(2, done=1))
    assert out.getvalue() == "job: 62%, 1 of 2 runs\n"


def test_jobs_add_up():
    both = Status(3, 1, 1, {"a": "b"}, seconds=1, cpu_seconds=2) + Status(
        2, 1, 1, seconds=3, cpu_seconds=4
    )
    assert (both.total, both.done, both.found, both.failures) == (5, 2, 2, {"a": "b"})
    assert (both.seconds, both.cpu_seconds, both.over) == (4, 6, 5)


def test_waiting_for_others_is_told():
    assert lines(Status(10, done=5, others=True)) == [
        "job: 50%, 5 of 10 runs, waiting for the runs of another command"
    ]


def test_an_interruption_is_told_once():
    status = Status(10, stopping=True, running={"x": 0.0})
    assert lines(status, status) == [
        "interrupted: finishing 1 run in flight; Ctrl-C again abandons it"
    ]


def test_on_a_terminal_there_is_a_bar():
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=True, width=100), "job") as progress:
        progress.watch(Status(4, done=1, running={"[red]x": 0.5}))
        progress.bar.refresh()
    assert "38 %" in out.getvalue()
    assert "1 of 4 runs, now [red]x" in out.getvalue()


def test_summaries():
    status = Status(60, done=41, found=17, failures={"a": "b"}, seconds=123, cpu_seconds=7260)
    assert summary(status, "out") == (
        "60 runs: 41 done now (2 min 3 s, CPU 2 h 1 min), 17 found in out, 1 failed, 1 left to do"
    )
    assert summary(Status(0), "out") == "0 runs: none"
    assert duration(3.21) == "3.2 s"
    assert duration(59.97) == "1 min 0 s"
