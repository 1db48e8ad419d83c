"""Where runs are executed: worker processes of this machine, or a Dask cluster.

`run_all` accepts any `concurrent.futures.Executor`. One that also offers members of `WorkerPool` is
used better: the scheduler keeps as many runs in flight as it has workers, shows how far they are,
and survives the death of a worker.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import forkserver, resource_tracker
from multiprocessing.sharedctypes import Synchronized
from typing import Any, Protocol

from skillfocus._internal.environment_info import code_versions
from skillfocus.errors import UserError
from skillfocus.runs.execution import perform, use_slots
from skillfocus.runs.run import Run


class WorkerPool(Protocol):
    """What an executor may offer the scheduler beyond `submit`; every member is optional.

    Without them, the scheduler keeps `_max_workers` runs in flight (or one per core), shows no
    progress within a run, and stops when the executor breaks.
    """

    @property
    def width(self) -> int:
        """Number of runs that can execute at the same time; it may change during a job."""
        ...

    def fractions(self) -> dict[int, float]:
        """Return the fraction done of the runs in flight, by the number passed to `perform`."""
        ...

    def restart(self) -> None:
        """Replace the workers after one of them died; futures in flight may be lost.

        Raises:
            UserError: If restarting is pointless, because the workers cannot start at all.
        """
        ...


def pool_width(pool: Executor) -> int:
    """Return how many runs to keep in flight on an executor."""
    return (
        getattr(pool, "width", None) or getattr(pool, "_max_workers", None) or os.cpu_count() or 1
    )


def pool_fractions(pool: Executor) -> dict[int, float]:
    """Return the fraction done of the runs on an executor by number; empty if it does not know."""
    fractions = getattr(pool, "fractions", None)
    return {} if fractions is None else fractions()


def restart_pool(pool: Executor) -> None:
    """Replace the dead workers of an executor.

    Raises:
        UserError: If the executor cannot do that.
    """
    restart = getattr(pool, "restart", None)
    if restart is None:
        raise UserError("the workers died; finished runs are stored: rerun to resume")
    restart()


def submit_run(pool: Executor, run: Run, number: int) -> Future:
    """Submit a run to an executor; failing to start a worker for it counts as a broken executor."""
    try:
        return pool.submit(perform, run, number)
    except (BrokenExecutor, EOFError, OSError) as error:
        future = Future()
        future.set_exception(BrokenExecutor(str(error)))
        return future


class Processes(Executor):
    """Worker processes of this machine; on Linux, copies of one with all kernels compiled.

        with Processes(workers=4) as pool:
            run_all(runs, store, executor=pool)

    `run_all(…, workers=4)` does the same. It offers everything in `WorkerPool`.

    Attributes:
        width: Number of worker processes.
    """

    def __init__(self, workers: int) -> None:
        self.width = workers
        self._pool, self._slots = self._start()

    def _start(self) -> tuple[ProcessPoolExecutor, Any]:
        linux = sys.platform.startswith("linux")
        context = multiprocessing.get_context("forkserver" if linux else "spawn")
        if linux:
            context.set_forkserver_preload(["skillfocus.runs.precompile"])
            resource_tracker.ensure_running()  # first, as it unblocks what the next line blocks
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            forkserver.ensure_running()  # it and the workers inherit the blocked Ctrl-C
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        slots = context.RawArray("d", 2 * self.width)
        arguments = (slots, context.Value("i", 0), self.width)
        pool = ProcessPoolExecutor(
            self.width, mp_context=context, initializer=_initialize_worker, initargs=arguments
        )
        return pool, slots

    def submit(self, fn, /, *args, **kwargs) -> Future:
        """Schedule a call, see `concurrent.futures.Executor.submit`."""
        return self._pool.submit(fn, *args, **kwargs)

    def fractions(self) -> dict[int, float]:
        """Return the fraction done of the runs being executed, by their numbers."""
        pairs = zip(self._slots[::2], self._slots[1::2], strict=True)
        return {int(number) - 1: fraction for number, fraction in pairs if number}

    def restart(self) -> None:
        """Kill the worker processes and start new ones.

        Raises:
            UserError: If no worker ever began a run: the new ones would die in the same way.
        """
        if not self.fractions():
            raise UserError(
                "the worker processes die as soon as they start; in a script, call run_all under "
                '`if __name__ == "__main__":`'
            )
        self.kill()
        self._pool, self._slots = self._start()

    def kill(self) -> None:
        """End the worker processes at once, abandoning the runs in flight."""
        for process in list((self._pool._processes or {}).values()):
            process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Release the workers, see `concurrent.futures.Executor.shutdown`."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)


class Cluster(Executor):
    """A Dask cluster, addressed by its scheduler.

        with Cluster("tcp://10.0.0.1:8786") as cluster:
            run_all(runs, store, executor=cluster)

    Dask replaces lost workers and repeats their runs itself. Workers with other code than this
    process are refused. Certificates for `tls://` are those of Dask's configuration.

    Args:
        address: The scheduler's address.
        timeout: Seconds to wait for the scheduler to answer.

    Attributes:
        client: The `distributed.Client`.

    Raises:
        UserError: If Dask is not installed, or no scheduler answers at the address.
    """

    def __init__(self, address: str, timeout: float = 10) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "a cluster needs Dask, which is not installed: pip install 'skillfocus[cluster]'"
            ) from None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are raised here
        if not re.fullmatch(r"[a-z]+://\S+:[0-9]+", address):
            raise UserError(
                f"{address!r} is not a scheduler's address; write one such as tcp://10.0.0.1:8786"
            )
        try:
            with ThreadPoolExecutor(1) as thread:  # in a notebook, this one has an event loop
                answer = asyncio.wait_for(_require_scheduler(address), timeout)
                thread.submit(asyncio.run, answer).result()
            self.client = Client(address, timeout=timeout, set_as_default=False)
        except Exception as error:  # Dask raises all kinds at an address of something else
            problem = " ".join(str(error).split()) or f"no answer in {timeout:g} s"
            way_out = (
                "docs/runs.md says how to set certificates"
                if address.startswith("tls:")
                else "give the address that `dask scheduler` prints"
            )
            raise UserError(
                f"there is no Dask scheduler at {address} ({problem}); {way_out}"
            ) from None
        self._executor = self.client.get_executor(pure=False)
        self._width = 1
        if not self.client.nthreads():
            logging.getLogger(__name__).warning(
                "the cluster has no workers yet; runs begin when there are some"
            )

    @property
    def width(self) -> int:
        """Number of worker threads in the cluster now, at least 1."""
        try:
            threads: dict[str, int] = self.client.nthreads()  # pyright: ignore[reportAssignmentType]
            self._width = max(1, sum(threads.values()))
        except OSError:
            pass  # the scheduler is lost: futures in flight will raise
        return self._width

    def submit(self, fn, /, *args, **kwargs) -> Future:
        """Schedule a call, see `concurrent.futures.Executor.submit`."""
        return self._executor.submit(_call_with_same_code, code_versions(), fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect from the cluster, see `concurrent.futures.Executor.shutdown`."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self.client.close()


async def _require_scheduler(address: str) -> None:
    """Wait until a scheduler answers at an address.

    `distributed.Client` alone would wait for ever, whatever its timeout, for what does not speak
    Dask's protocol.

    Raises:
        ValueError: If another server of Dask answers, such as a worker.
    """
    from distributed import Security
    from distributed.comm.addressing import parse_address
    from distributed.comm.registry import get_backend

    scheme, location = parse_address(address)
    connector: Any = get_backend(scheme).get_connector()
    arguments = Security().get_connection_args("client")
    while True:
        try:
            comm = await connector.connect(location, deserialize=False, **arguments)
            break
        except OSError:  # it may be starting
            await asyncio.sleep(0.1)
    try:
        await comm.read()
        await comm.write(comm.handshake_info())
        await comm.write({"op": "identity", "reply": True})
        kind = (await comm.read())["type"]
    finally:
        comm.abort()
    if kind != "Scheduler":
        raise ValueError(f"a {kind} answers there")


def _call_with_same_code(expected: dict[str, str], fn, /, *args, **kwargs) -> Any:
    """Call a function on a worker of a cluster, unless its code is not that of the client.

    Raises:
        UserError: If versions or source code differ.
    """
    for name, own in code_versions().items():
        if own != expected.get(name):
            raise UserError(
                f"a worker runs other code than this command ({name} {own}, here "
                f"{expected.get(name)}); install the same on both"
            )
    return fn(*args, **kwargs)


def _initialize_worker(slots, counter: Synchronized, workers: int) -> None:
    """Set up a new worker process: ignore Ctrl-C, find its slot, end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    with counter.get_lock():
        use_slots(slots, counter.value % workers)
        counter.value += 1
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
