from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from runs_for_tests import Raises, runs
from skillfocus.core.progress import part_of
from skillfocus.errors import UserError
from skillfocus.runs.folder_store import Store
from skillfocus.runs.job import Job
from skillfocus.runs.status import Interrupted


def job(tmp_path, **options):
    return Job(Store(tmp_path / "out"), executor=ThreadPoolExecutor(1), **options)


def test_batches_add_up(tmp_path):
    with job(tmp_path) as both:
        first = both.execute(runs(2))
        second = both.execute([*runs(3), Raises(0)])
    assert (first.total, first.done) == (2, 2)
    assert (second.total, second.done, second.found, len(second.failures)) == (4, 1, 2, 1)
    status = both.status
    assert (status.total, status.done, status.found, len(status.failures)) == (6, 3, 2, 1)
    assert both.summary().startswith("6 runs: 3 done now (")
    assert both.summary().endswith(f"2 found in {tmp_path / 'out'}, 1 failed")


def test_progress_of_a_batch_may_be_part_of_a_larger_one(tmp_path):
    reported = []
    with job(tmp_path) as both:
        both.execute(runs(2), part_of(lambda *now: reported.append(now), 0.25, 0.5))
        assert reported[-1] == (0.5, "2 of 2 runs")


def test_what_failed_is_retried_only_when_asked(tmp_path):
    bad = Raises(0, str(tmp_path / "flag"))
    with job(tmp_path) as first:
        assert first.execute([bad]).failures
    (tmp_path / "flag").touch()
    with job(tmp_path) as second:
        assert second.execute([bad]).failures
    with job(tmp_path, retry_failed=True) as third:
        assert third.execute([bad]).done == 1


@pytest.fixture
def ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_counts_all_batches(tmp_path, caplog):
    with job(tmp_path) as both:
        both.execute(runs(2))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(Interrupted) as caught:
            both.execute(runs(9, seconds=0.6))
    assert (caught.value.status.done, caught.value.status.total) == (3, 11)
    assert str(caught.value) == f"interrupted. {both.summary()}. Rerun to resume"
    assert caplog.messages == ["interrupted: finishing 1 run in flight; Ctrl-C again abandons it"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 2, "cluster": "tcp://10.0.0.1:8786"}, "--workers or --cluster, not both"),
        ({"workers": 2, "executor": ThreadPoolExecutor(1)}, "an executor has its own workers"),
    ],
)
def test_there_is_one_place_to_execute_runs(tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        Job(Store(tmp_path), **options)


def test_no_workers_are_refused(tmp_path):
    with Job(Store(tmp_path), workers=0) as none, pytest.raises(UserError, match="0 workers"):
        none.execute(runs(1))
