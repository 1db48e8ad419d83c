from __future__ import annotations

import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
from polars.testing import assert_frame_equal

from paths import ROOT, SUPPORT
from runs_for_tests import Dies, Tiny, runs, wait_until
from skillfocus._internal.environment_info import code_versions
from skillfocus.errors import UserError
from skillfocus.runs.execution import Finished, perform
from skillfocus.runs.executors import (
    Cluster,
    Processes,
    _call_with_same_code,
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
    for address in ("nonsense", ""):
        with pytest.raises(UserError, match=f"'{address}' is not a scheduler's address"):
            Cluster(address)
    with pytest.raises(UserError, match=r"there is no Dask scheduler at tcp.*give the address"):
        Cluster(f"tcp://127.0.0.1:{free_port()}", timeout=1)


@pytest.fixture
def web_server():
    """The port of a web server, such as a Dask dashboard."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def silent_server():
    """The port of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("server", ["web_server", "silent_server"])
@pytest.mark.parametrize("scheme", ["tcp", "tls", "ucx", "http"])
def test_what_answers_but_is_no_scheduler_is_one_sentence(server, scheme, request):
    pytest.importorskip("distributed")
    address = f"{scheme}://127.0.0.1:{request.getfixturevalue(server)}"
    with pytest.raises(UserError, match=f"there is no Dask scheduler at {address} ") as raised:
        Cluster(address, timeout=0.5)
    assert "\n" not in str(raised.value)
    assert ("certificates" in str(raised.value)) == (scheme == "tls")


def test_a_worker_is_no_scheduler():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, protocol="tcp", dashboard_address=None
        ) as local,
        pytest.raises(UserError, match="a Worker answers there"),
    ):
        Cluster(local.workers[0].address)


@pytest.mark.slow
def test_a_cluster_may_be_encrypted(tmp_path):
    """With what docs/runs.md says: certificates in Dask's configuration, for both sides."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=skillfocus",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    tls = {"distributed.comm.tls.ca-file": certificate}
    for side in ("scheduler", "worker", "client"):
        tls[f"distributed.comm.tls.{side}.cert"] = certificate
        tls[f"distributed.comm.tls.{side}.key"] = key
    with (
        dask.config.set({**tls, "distributed.comm.require-encryption": True}),
        distributed.LocalCluster(
            n_workers=1, processes=False, protocol="tls", dashboard_address=None,
            security=distributed.Security(),
        ) as local,
        Cluster(local.scheduler_address) as executor,
    ):  # fmt: skip
        assert local.scheduler_address.startswith("tls://")
        assert run_all(runs(2), Store(tmp_path / "runs"), executor=executor).done == 2


@pytest.mark.slow
def test_a_worker_with_other_code_is_refused(tmp_path):
    distributed = pytest.importorskip("distributed")
    package = tmp_path / "other" / "skillfocus"
    shutil.copytree(
        ROOT / "src" / "skillfocus", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    with (package / "core" / "rollout.py").open("a") as file:
        file.write("# another rule\n")
    path = os.pathsep.join([str(package.parent), str(SUPPORT)])
    store = Store(tmp_path / "runs")
    with distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address=None
    ) as local:
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address,
             "--no-nanny", "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            with (
                Cluster(local.scheduler_address) as executor,
                pytest.raises(
                    UserError,
                    match=r"^a worker runs other code .*source code [0-9a-f]{12}, here .*stored$",
                ),
            ):
                run_all(runs(3), store, executor=executor)
        finally:
            worker.kill()
            worker.wait()
    assert not list(store.folder.glob("*.parquet"))


@pytest.mark.parametrize("name", ["skillfocus", "numpy", "numba", "source code"])
def test_every_difference_of_a_worker_is_named(name):
    expected = {**code_versions(), name: "another"}
    with pytest.raises(UserError, match=rf"runs other code .*\({name} .*, here another\)"):
        _call_with_same_code(expected, max, 1, 2)
    assert _call_with_same_code(code_versions(), max, 1, 2) == 2
