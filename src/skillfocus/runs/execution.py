"""Execution of one run, in whichever process or thread an executor calls `perform`.

Nothing is written here: the encoded result travels back to the process that hands out the runs.
"""

from __future__ import annotations

import socket
import sys
import time
import traceback
from collections.abc import MutableSequence
from dataclasses import dataclass
from hashlib import sha256

from skillfocus._internal.environment_info import accelerator, package_versions
from skillfocus.core.progress import Progress
from skillfocus.runs.run import Run, identify, settings_of
from skillfocus.runs.run_file import Header, encode


@dataclass(frozen=True)
class Finished:
    """The outcome of a run that succeeded.

    Attributes:
        id: The run's id as the worker computed it.
        table: The contents of its file, see `run_file.encode`.
        skills: The contents of its skills file, or None.
        cpu_seconds: CPU time of the run.
    """

    id: str
    table: bytes
    skills: bytes | None
    cpu_seconds: float


@dataclass(frozen=True)
class Failed:
    """The outcome of a run that raised.

    Attributes:
        id: The run's id as the worker computed it.
        error: The exception in one line.
        traceback: The whole traceback.
    """

    id: str
    error: str
    traceback: str


def perform(run: Run, number: int = 0) -> Finished | Failed:
    """Execute one run and return its outcome; exceptions of the run are outcomes too.

    Args:
        run: The run.
        number: The scheduler's number of the run, under which its progress is reported.
    """
    own_id = run.id
    started, cpu_start, wall_start = time.time(), time.thread_time(), time.perf_counter()
    _reset_peak_memory()
    try:
        # run.id was cached where the run was made, perhaps by another version of the code.
        own_id = identify(run)
        result = run.execute(_slot_progress(number))
        record = {
            **package_versions(),
            **accelerator(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
            "host": socket.gethostname(),
            "wall_seconds": time.perf_counter() - wall_start,
            "cpu_seconds": time.thread_time() - cpu_start,
            "peak_memory_mb": _peak_memory_mb(),
        }
        digest = None if result.skills is None else sha256(result.skills).hexdigest()
        kind, version = type(run).__name__, run.version
        table = encode(Header(own_id, kind, version, settings_of(run), record, digest), result.rows)
    except (Exception, SystemExit) as error:
        line = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
        return Failed(own_id, line, "".join(traceback.format_exception(error)))
    return Finished(own_id, table, result.skills, time.thread_time() - cpu_start)


# ------------------------------------------------------------------ progress of worker processes

_slots: MutableSequence[float] | None = None
"""In a worker process, the shared array `[2 * n_workers]`: per worker, 1 + the number of the run
that it executes (0 before the first one) and the fraction done."""
_worker = 0
"""In a worker process, its place in the array."""


def use_slots(slots: MutableSequence[float], worker: int) -> None:
    """Report the progress of runs in this process to a shared array, see `_slots`."""
    global _slots, _worker
    _slots, _worker = slots, worker


def _slot_progress(number: int) -> Progress:
    slots, worker = _slots, _worker

    def progress(fraction: float, activity: str) -> None:
        del activity
        if slots is not None:
            slots[2 * worker], slots[2 * worker + 1] = number + 1, fraction

    progress(0.0, "")
    return progress


# ------------------------------------------------------------------ memory


def _reset_peak_memory() -> None:
    """Restart the peak counter on Linux; elsewhere the peak is that of the whole process."""
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
