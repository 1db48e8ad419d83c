from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

import pytest
from polars.testing import assert_frame_equal

from paths import SUPPORT
from runs_for_tests import Dies, Raises, Tiny, runs, wait_until
from skillfocus.errors import UserError
from skillfocus.runs.execution import perform
from skillfocus.runs.folder_store import Store, StoreWarning
from skillfocus.runs.scheduler import run_all
from skillfocus.runs.status import Interrupted

KILLS = int(os.environ.get("SKILLFOCUS_KILLS", "3"))
"""How often the command is killed in the test below, with three runs for each."""


def executions(log):
    """How often each seed was executed."""
    return Counter(int(line.split()[0]) for line in log.read_text().splitlines())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The frame of runs(12), one after the other."""
    store = Store(tmp_path_factory.mktemp("expected"))
    run_all(runs(12), store, executor=ThreadPoolExecutor(1))
    return store.frame()


@pytest.mark.parametrize("how", ["one process", "two processes", "threads"])
def test_results_do_not_depend_on_where_they_were_made(tmp_path, expected, how):
    store = Store(tmp_path)
    options = {
        "one process": {"workers": 1},
        "two processes": {"workers": 2},
        "threads": {"executor": ThreadPoolExecutor(3)},
    }[how]
    status = run_all(runs(12), store, **options)
    assert (status.total, status.done, status.found, status.failures) == (12, 12, 0, {})
    assert status.cpu_seconds > 0
    assert_frame_equal(store.frame(), expected)


def test_nothing_runs_twice(tmp_path):
    log, store = tmp_path / "log", Store(tmp_path / "runs")
    first = run_all(runs(4, log=str(log)), store, executor=ThreadPoolExecutor(1))
    again = run_all(runs(6, log=str(log)) * 2, store, executor=ThreadPoolExecutor(1))
    assert (first.done, again.done, again.found, again.total) == (4, 2, 4, 6)
    assert executions(log) == dict.fromkeys(range(6), 1)


def test_what_is_damaged_runs_again(tmp_path, expected):
    store = Store(tmp_path)
    run_all(runs(12), store, executor=ThreadPoolExecutor(1))
    store.path(Tiny(5)).write_bytes(b"")
    with pytest.warns(StoreWarning, match="damaged"):
        status = run_all(runs(12), store, executor=ThreadPoolExecutor(1))
    assert (status.done, status.found) == (1, 11)
    assert_frame_equal(store.frame(), expected)


def test_a_run_that_raises_stops_no_other_and_is_tried_again_when_asked(tmp_path):
    flag, store = tmp_path / "flag", Store(tmp_path / "runs")
    bad = Raises(5, str(flag))
    both = [bad, *runs(3)]
    status = run_all(both, store, executor=ThreadPoolExecutor(1))
    said = {bad.stem: "ZeroDivisionError: seed 5 cannot be divided"}
    assert (status.done, status.failures) == (3, said)
    record = json.loads((store.folder / "failed" / f"{bad.stem}.json").read_text())
    assert 'raise ZeroDivisionError(f"seed' in record["traceback"]
    flag.touch()
    again = run_all(both, store, executor=ThreadPoolExecutor(1))
    assert (again.done, again.found, again.failures) == (0, 3, said)
    retried = run_all(both, store, executor=ThreadPoolExecutor(1), retry_failed=True)
    assert (retried.done, retried.found, retried.failures) == (1, 3, {})
    assert run_all(both, store, executor=ThreadPoolExecutor(1)).found == 4


def test_a_worker_that_dies_is_replaced_and_the_run_to_blame_is_found(tmp_path):
    store = Store(tmp_path / "runs")
    unlucky = Dies(1, str(tmp_path / "flag"))
    job = [Tiny(0, seconds=0.2), Dies(0), unlucky, *runs(6, seconds=0.05)]
    status = run_all(job, store, workers=2)
    assert status.failures == {Dies(0).stem: "its worker process died"}
    assert status.done == 8
    assert unlucky in store


def test_one_death_alone_is_forgiven(tmp_path):
    unlucky = Dies(1, str(tmp_path / "flag"))
    status = run_all([unlucky], Store(tmp_path / "runs"), workers=1)
    assert (status.done, status.failures) == (1, {})


def test_what_is_all_there_can_be_read_without_writing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    run_all(runs(3), store, executor=ThreadPoolExecutor(1))
    monkeypatch.setattr(Store, "prepare", lambda self: 1 / 0)
    assert run_all(runs(3), store, executor=ThreadPoolExecutor(1)).found == 3


@pytest.mark.slow
def test_many_runs_that_end_their_workers_do_not_stop_the_others(tmp_path):
    job = [*[Dies(seed) for seed in range(5)], *runs(3)]
    status = run_all(job, Store(tmp_path), workers=2)
    assert (status.done, len(status.failures)) == (3, 5)


def test_a_pool_that_is_not_ours_is_not_replaced(tmp_path):
    class Broken(ThreadPoolExecutor):
        def submit(self, *_, **__):
            raise BrokenExecutor("gone")

    with pytest.raises(UserError, match="the workers died; finished runs are stored"):
        run_all(runs(2), Store(tmp_path), executor=Broken(1))


def test_what_cannot_be_sent_is_that_run_s_failure(tmp_path):
    class Local(Tiny):
        pass

    status = run_all([Local(0), Tiny(1)], Store(tmp_path), workers=1)
    assert status.done == 1
    assert "local object" in status.failures[Local(0).stem]


def test_a_worker_of_another_version_is_refused(tmp_path):
    class Old(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            run, number = args
            return super().submit(perform, Tiny(run.seed, scale=2.0), number)

    with pytest.raises(UserError, match="another version"):
        run_all(runs(1), Store(tmp_path), executor=Old(1))


def test_progress_is_told(tmp_path):
    seen = []

    def watch(status):
        seen.append((status.settled, dict(status.running)))

    run_all(runs(2, seconds=1.0), Store(tmp_path), workers=1, watch=watch)
    assert seen[-1] == (2, {})
    fractions = [now[Tiny(0, seconds=1.0).stem] for over, now in seen if over == 0 and now]
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] < 1


@pytest.mark.slow
def test_a_run_that_another_command_is_at_is_waited_for(tmp_path):
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[2])\n"
        "from runs_for_tests import Tiny; from skillfocus.runs.folder_store import Store\n"
        "from skillfocus.runs.execution import perform\n"
        "store = Store(sys.argv[1]); store.prepare(); store.claim(Tiny(0))\n"
        "print('claimed', flush=True); time.sleep(1.5); done = perform(Tiny(0))\n"
        "store.add(Tiny(0), done.table, done.skills)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), str(SUPPORT)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "claimed\n"
    waited = []
    status = run_all(
        runs(2), Store(tmp_path), executor=ThreadPoolExecutor(2),
        watch=lambda status: waited.append(status.waiting_for_others),
    )  # fmt: skip
    other.communicate()
    assert (status.done, status.found) == (1, 1)
    assert any(waited)


def test_no_workers_are_refused(tmp_path):
    with pytest.raises(UserError, match="0 workers"):
        run_all(runs(1), Store(tmp_path), workers=0)


@pytest.fixture
def ctrl_c():
    """Python's own answer to Ctrl-C, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_finishes_what_flies_and_keeps_it(tmp_path):
    store = Store(tmp_path)
    threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Interrupted) as caught:
        run_all(runs(40, seconds=0.5), store, executor=ThreadPoolExecutor(2))
    status = caught.value.status
    assert status.done == 4
    assert len(set(store.frame()["run"])) == 4


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_is_heard_even_if_nothing_was_left_to_hand_out(tmp_path):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Interrupted) as caught:
        run_all(runs(2, seconds=0.6), Store(tmp_path), executor=ThreadPoolExecutor(2))
    assert caught.value.status.done == 2
    assert (
        str(caught.value)
        == f"interrupted. {caught.value.status.summary(tmp_path)}. Rerun to resume"
    )
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_ctrl_c_abandons_what_flies(tmp_path):
    store = Store(tmp_path)

    sent = []

    def watch(status):
        if status.running and len(sent) < 2:
            sent.append(os.kill(os.getpid(), signal.SIGINT))

    began = time.perf_counter()
    with pytest.raises(Interrupted):
        run_all(runs(2, seconds=30.0), store, workers=2, watch=watch)
    assert time.perf_counter() - began < 20
    assert len(store.frame()) == 0
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("ctrl_c")
def test_sigterm_abandons_what_flies_and_keeps_what_finished(tmp_path):
    store, sent = Store(tmp_path), []

    def watch(status):
        if status.done and not sent:
            sent.append(os.kill(os.getpid(), signal.SIGTERM))

    flying = [Tiny(0), *runs(3, seconds=30.0)[1:]]
    with pytest.raises(Interrupted, match="terminated") as caught:
        run_all(flying, store, workers=2, watch=watch)
    assert caught.value.signal_number == signal.SIGTERM
    assert caught.value.status.done == 1
    assert set(store.frame()["run"]) == {Tiny(0).id}
    assert multiprocessing.active_children() == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("ctrl_c")
def test_sigterm_that_also_reaches_the_workers_is_no_failure_of_theirs(tmp_path):
    sent = []

    def watch(status):
        if status.running and not sent:
            for child in multiprocessing.active_children():
                child.terminate()
            sent.append(os.kill(os.getpid(), signal.SIGTERM))

    with pytest.raises(Interrupted, match="terminated") as caught:
        run_all(runs(2, seconds=30.0), Store(tmp_path), workers=2, watch=watch)
    assert caught.value.status.failures == {}
    assert not (tmp_path / "failed").exists()


def command(folder, count, seconds, workers, log):
    return subprocess.Popen(
        [sys.executable, str(SUPPORT / "runs_for_tests.py"), str(folder), str(count), str(seconds),
         str(workers), str(log)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_killed_at_any_moment_a_job_goes_on_and_repeats_nothing(tmp_path):
    """SKILLFOCUS_KILLS=20 kills a job of 60 runs 20 times."""
    count = 3 * KILLS
    log, store = tmp_path / "log", Store(tmp_path / "runs")
    log.touch()
    moments = random.Random(0)
    finished: set[int] = set()
    for kill in range(KILLS):
        before = log.read_text().splitlines()
        process = command(store.folder, count, 0.1, 2, log)
        if kill % 2:
            time.sleep(moments.uniform(0, 2))
        else:
            wait_until(
                lambda p=process, b=before: (
                    p.poll() is not None or log.read_text().splitlines() != b
                )
            )
            time.sleep(moments.uniform(0, 0.15))
        process.kill()
        process.communicate()
        lines = [line.split() for line in log.read_text().splitlines()[len(before) :]]
        wait_until(lambda of=lines: not any(alive(int(pid)) for _, pid in of))
        assert not finished & {int(seed) for seed, _ in lines}
        finished = {run.seed for run in runs(count, seconds=0.1) if run in store}
    log.write_text("")
    last = command(store.folder, count, 0.1, 2, log)
    stdout, stderr = last.communicate(timeout=60)
    status = json.loads(stdout)
    assert (status["done"], status["found"]) == (count - len(finished), len(finished)), stderr
    assert executions(log) == dict.fromkeys(set(range(count)) - finished, 1)
    whole = Store(tmp_path / "whole")
    run_all(runs(count, seconds=0.1), whole, executor=ThreadPoolExecutor(8))
    assert_frame_equal(store.frame(), whole.frame())
    assert not list(store.folder.glob(".*~*"))


@pytest.mark.slow
def test_two_commands_on_one_folder_share_the_work(tmp_path, expected):
    log, store = tmp_path / "log", Store(tmp_path / "runs")
    log.touch()
    both = [command(store.folder, 12, 0.2, 1, log) for _ in range(2)]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in both]
    assert [status["done"] + status["found"] for status in said] == [12, 12]
    assert sum(executions(log).values()) <= 13
    assert_frame_equal(store.frame().drop("seconds", "run"), expected.drop("seconds", "run"))
