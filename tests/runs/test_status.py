from __future__ import annotations

import signal

from skillfocus.runs.status import Interrupted, JobStatus, format_duration


def test_runs_that_were_found_do_not_count_as_work():
    assert JobStatus(10, done=3, found=2, failures={"a": "b"}).fraction == 0.5
    assert JobStatus(4, found=4).fraction == 0.0
    assert JobStatus(4, done=1, running={"x": 0.5, "y": 0.5}).fraction == 0.5


def test_the_activity_names_what_runs_and_what_failed():
    status = JobStatus(
        10, done=3, found=2, failures={"a": "b"}, running={f"x_{'0' * 16}": 0.5, "y": 0.5}
    )
    assert status.activity == "6 of 10 runs, 1 failed, now x and 1 more"
    waiting = JobStatus(10, done=5, waiting_for_others=True)
    assert waiting.activity == "5 of 10 runs, waiting for the runs of another command"


def test_statuses_add_up():
    both = JobStatus(3, 1, 1, {"a": "b"}, seconds=1, cpu_seconds=2) + JobStatus(
        2, 1, 1, seconds=3, cpu_seconds=4
    )
    assert (both.total, both.done, both.found, both.failures) == (5, 2, 2, {"a": "b"})
    assert (both.seconds, both.cpu_seconds, both.settled) == (4, 6, 5)


def test_summaries():
    status = JobStatus(60, done=41, found=17, failures={"a": "b"}, seconds=123, cpu_seconds=7260)
    assert status.summary("out") == (
        "60 runs: 41 done now (2 min 3 s, CPU 2 h 1 min), 17 found in out, 1 failed, 1 left to do"
    )
    assert JobStatus(0).summary("out") == "0 runs: none"


def test_an_interruption_says_how_to_go_on():
    interrupt = Interrupted(JobStatus(3, found=2), "out")
    assert str(interrupt) == "interrupted. 3 runs: 2 found in out, 1 left to do. Rerun to resume"
    assert isinstance(interrupt, KeyboardInterrupt)
    assert interrupt.status.settled == 2
    assert interrupt.signal_number == signal.SIGINT
    assert str(Interrupted(JobStatus(1), "out", signal.SIGTERM)).startswith("terminated. ")


def test_durations():
    assert format_duration(3.21) == "3.2 s"
    assert format_duration(59.97) == "1 min 0 s"
    assert format_duration(7260) == "2 h 1 min"
