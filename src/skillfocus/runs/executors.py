"""Where runs are executed: processes of this machine, or a Dask cluster.

Anything with the interface of `concurrent.futures.Executor` will do; these two also say how many
runs they can have at a time, how far those are, and how to be abandoned.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import forkserver, resource_tracker
from multiprocessing.sharedctypes import Synchronized

from skillfocus._internal.environment_info import package_versions
from skillfocus.core.progress import Progress
from skillfocus.errors import UserError
from skillfocus.runs.run import Header, Run, encode, identify, settings_of


@dataclass(frozen=True)
class Finished:
    id: str
    table: bytes
    skills: bytes | None
    cpu_seconds: float


@dataclass(frozen=True)
class Failed:
    id: str
    error: str
    """The error in one line."""
    traceback: str


def perform(run: Run, number: int = 0) -> Finished | Failed:
    """Execute one run, wherever this is called. Nothing is written: what it yields travels back."""
    own_id = identify(run)  # not run.id, which may have been computed by another version
    began, cpu, since = time.time(), time.thread_time(), time.perf_counter()
    _reset_peak_memory()
    try:
        result = run.execute(_reporter(number))
        record = {
            **package_versions(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "host": socket.gethostname(),
            "wall_seconds": time.perf_counter() - since,
            "cpu_seconds": time.thread_time() - cpu,
            "peak_memory_mb": _peak_memory_mb(),
        }
        digest = None if result.skills is None else sha256(result.skills).hexdigest()
        kind, version = type(run).__name__, run.version
        header = Header(own_id, kind, version, settings_of(run), record, digest)
        table = encode(header, result.rows)
    except (Exception, SystemExit) as error:
        sentence = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
        return Failed(own_id, sentence, "".join(traceback.format_exception(error)))
    return Finished(own_id, table, result.skills, time.thread_time() - cpu)


def _reset_peak_memory() -> None:
    """Linux counts the peak anew after this; elsewhere it is the process's since it began."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _peak_memory_mb() -> float | None:
    try:
        with open("/proc/self/status") as file:
            kilobytes = next(line.split()[1] for line in file if line.startswith("VmHWM:"))
        return int(kilobytes) / 1024
    except (OSError, StopIteration):
        pass
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    return getrusage(RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


class Processes(ProcessPoolExecutor):
    """Worker processes of this machine, started from one that has everything compiled."""

    def __init__(self, workers: int) -> None:
        linux = sys.platform.startswith("linux")
        context = multiprocessing.get_context("forkserver" if linux else "spawn")
        if linux:
            context.set_forkserver_preload(["skillfocus.runs.precompile"])
            resource_tracker.ensure_running()  # first: it unblocks what the next line blocks
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            forkserver.ensure_running()  # it and all its copies are deaf to Ctrl-C
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.width = workers
        self._slots = context.RawArray("d", 2 * workers)
        arguments = (self._slots, context.Value("i", 0), workers)
        super().__init__(workers, mp_context=context, initializer=_begin, initargs=arguments)

    def fractions(self) -> dict[int, float]:
        """How far the runs at work are, by their numbers."""
        pairs = zip(self._slots[::2], self._slots[1::2], strict=True)
        return {int(number) - 1: fraction for number, fraction in pairs if number}

    def abandon(self) -> None:
        """End the workers, whatever they are at."""
        for process in list((self._processes or {}).values()):
            process.kill()
        self.shutdown(wait=True, cancel_futures=True)


class Cluster(Executor):
    """A Dask cluster, by the address of its scheduler."""

    def __init__(self, address: str, timeout: float = 10) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "a cluster needs Dask, which is not installed: pip install 'skillfocus[cluster]'"
            ) from None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are raised here
        if not re.fullmatch(r"[a-z]+://\S+:[0-9]+", address):
            raise UserError(f"{address!r} is no scheduler's address, such as tcp://10.0.0.1:8786")
        try:
            self.client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UserError(f"there is no Dask scheduler at {address}: {error}") from None
        self._executor = self.client.get_executor(pure=False)
        self._width = 1
        if not self.client.nthreads():
            logging.getLogger(__name__).warning(
                "the cluster has no workers yet; runs begin when there are some"
            )

    @property
    def width(self) -> int:
        try:
            threads: dict[str, int] = self.client.nthreads()  # pyright: ignore[reportAssignmentType]
            self._width = max(1, sum(threads.values()))
        except OSError:
            pass  # the scheduler is lost: futures in flight will say so
        return self._width

    def submit(self, fn, /, *args, **kwargs) -> Future:
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait and not cancel_futures)
        self.client.close()


_slots, _place = None, 0
"""In a worker process: the array to report to, and this worker's place in it."""


def _begin(slots, counter: Synchronized, workers: int) -> None:
    """What a worker process does first."""
    global _slots, _place
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who hands out the work
    with counter.get_lock():
        _slots, _place = slots, counter.value % workers
        counter.value += 1
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reporter(number: int) -> Progress:
    slots, place = _slots, _place

    def report(fraction: float, what: str) -> None:
        del what
        if slots is not None:
            slots[2 * place], slots[2 * place + 1] = number + 1, fraction

    report(0.0, "")
    return report
