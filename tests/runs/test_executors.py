from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
from polars.testing import assert_frame_equal

from paths import SUPPORT
from runs_for_tests import Dies, Tiny, runs, wait_until
from skillfocus.errors import UserError
from skillfocus.runs.execution import Finished, perform
from skillfocus.runs.executors import (
    Cluster,
    Processes,
    pool_fractions,
    pool_width,
    restart_pool,
)
from skillfocus.runs.folder_store import Store
from skillfocus.runs.scheduler import run_all

# ------------------------------------------------------------------ what executors may offer


class Bare(Executor):
    """An executor with nothing but `submit`, which executes at once."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Mortal(Bare):
    """An executor of one worker that offers all of `WorkerPool` and dies on every second run."""

    width = 1

    def __init__(self):
        self.submissions, self.restarts, self.alive = 0, 0, True

    def submit(self, fn, /, *args, **kwargs):
        self.submissions += 1
        self.alive = self.alive and self.submissions % 2 == 1
        if not self.alive:
            raise BrokenExecutor("died")
        return super().submit(fn, *args, **kwargs)

    def fractions(self):
        return {self.submissions - 1: 0.25}

    def restart(self):
        self.restarts, self.alive = self.restarts + 1, True


def test_an_executor_without_capabilities_gets_defaults():
    assert pool_width(Bare()) == os.cpu_count()
    assert pool_width(ThreadPoolExecutor(3)) == 3
    assert pool_fractions(Bare()) == {}
    with pytest.raises(UserError, match="the workers died; finished runs are stored: rerun"):
        restart_pool(Bare())


def test_a_bare_executor_will_do(tmp_path):
    assert run_all(runs(3), Store(tmp_path), executor=Bare()).done == 3


def test_any_executor_may_restart_its_workers(tmp_path):
    pool, fractions = Mortal(), []

    def watch(status):
        fractions.extend(status.running.values())

    status = run_all(runs(4), Store(tmp_path), executor=pool, watch=watch)
    assert (status.done, status.failures) == (4, {})
    assert pool.restarts == 3
    assert (pool_width(pool), pool_fractions(pool)) == (1, {pool.submissions - 1: 0.25})


# ------------------------------------------------------------------ processes


def test_processes_are_an_executor():
    with Processes(2) as pool:
        assert pool_width(pool) == 2
        outcomes = [pool.submit(perform, run, number) for number, run in enumerate(runs(3))]
        assert [outcome.result().id for outcome in outcomes] == [run.id for run in runs(3)]
        assert set(pool.fractions()) <= {0, 1, 2}
        assert pool.fractions()


def test_dead_processes_are_replaced():
    with Processes(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(perform, Dies(0)).result()
        pool.restart()
        assert pool.fractions() == {}
        assert isinstance(pool.submit(perform, Tiny(0)).result(), Finished)


def test_processes_that_cannot_start_are_not_restarted():
    with Processes(1) as pool, pytest.raises(UserError, match="die as soon as they start"):
        pool.restart()


def test_processes_given_as_executor_survive_a_death(tmp_path):
    with Processes(1) as pool:
        status = run_all([Dies(0), *runs(2)], Store(tmp_path), executor=pool)
    assert status.failures == {Dies(0).stem: "its worker process died"}
    assert status.done == 2


# ------------------------------------------------------------------ a cluster


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@pytest.fixture
def cluster():
    """A Dask scheduler and three workers, each a process of its own: (address, scheduler, workers)."""
    pytest.importorskip("distributed")
    address, started = f"tcp://127.0.0.1:{free_port()}", []
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])

    def start(module, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        started.append(process)
        return process

    try:
        scheduler = start("dask_scheduler", "--host", address, "--no-dashboard", "--no-show")
        workers = [
            start(
                "dask_worker",
                address,
                "--no-nanny",
                "--nthreads",
                "1",
                "--no-dashboard",
                "--host",
                "127.0.0.1",
            )
            for _ in range(3)
        ]
        wait_until(lambda: listening(address), 30)
        yield address, scheduler, workers
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_results(cluster, tmp_path):
    address, _, workers = cluster
    store = Store(tmp_path / "runs")
    with Cluster(address) as executor:
        wait_until(lambda: executor.width == 3, 30)
        log = tmp_path / "log"
        log.touch()
        killed = []

        def watch(status):
            if status.done >= 4 and not killed:
                killed.append(int(log.read_text().split()[1]))
                os.kill(killed[0], signal.SIGKILL)

        status = run_all(runs(30, seconds=0.3, log=str(log)), store, executor=executor, watch=watch)
        assert killed[0] in {worker.pid for worker in workers}
        assert executor.width == 2
    assert (status.done, status.failures) == (30, {})
    local = Store(tmp_path / "local")
    run_all(runs(30, seconds=0.3), local, executor=ThreadPoolExecutor(16))
    assert_frame_equal(store.frame(), local.frame())


@pytest.mark.slow
def test_a_cluster_that_loses_its_scheduler_says_so(cluster, tmp_path):
    address, scheduler, _ = cluster
    store = Store(tmp_path)

    def watch(status):
        if status.done:
            scheduler.kill()

    with Cluster(address) as executor:
        wait_until(lambda: executor.width == 3, 30)
        with pytest.raises(UserError, match=r"lost its scheduler.*stored"):
            run_all(runs(30, seconds=0.3), store, executor=executor, watch=watch)
    assert 0 < len(set(store.frame()["run"])) < 30


def listening(address):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) == 0


def test_no_cluster_is_one_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(UserError, match="'nonsense' is not a scheduler's address"):
        Cluster("nonsense")
    with pytest.raises(UserError, match="there is no Dask scheduler at tcp"):
        Cluster(f"tcp://127.0.0.1:{free_port()}", timeout=1)
