"""Runs: computations whose settings identify them, executed once and stored in a folder.

    store = Store("out")
    run_all([Discovery("four-rooms", "focused-vic", seed) for seed in range(5)], store, workers=2)
    store.frame()  # kind, version, every setting, run, metric, step, value

A finished run is `LABEL_ID.jsonl`: a line of JSON with its header, a line per number, and a line
with the digest of everything before; its skills are `LABEL_ID.skills` beside it. What raised is in
`failed/`, what does not match its digest in `damaged/`. The id is a digest of the settings, so the
same run is found again, and executing one twice is harmless.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import re
import signal
import socket
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import polars as pl

from skillfocus.errors import UserError
from skillfocus.files import (
    Damaged,
    digest,
    file_name,
    make_folder,
    read_bytes,
    remove_leftovers,
    require_writable_folder,
    set_aside,
    write_atomically,
)
from skillfocus.machine import accelerator, code_version, package_versions, peak_bytes
from skillfocus.progress import Progress, no_progress, part_of, raise_pending_signal
from skillfocus.spaces import Row

Setting = str | int | float | bool | None
"""The type of one setting: what both JSON and a column of a data frame can hold."""
_sink: ContextVar[Callable[[bytes], None] | None] = ContextVar("sink", default=None)
"""Where the run that is executed now keeps its skills."""
RESERVED = ("kind", "version", "run", "metric", "step", "value")
"""Column names of a frame that no setting may have."""
MAX_WORKERS = 1000
_logger = logging.getLogger(__name__)


# -------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Result:
    """What a run yields.

    Attributes:
        rows: The result table: metric, step and value of each number.
        skills: The contents of a skills file (`Skills.to_bytes`), or None if there are no skills.
        document: Anything else, as JSON can hold it.
    """

    rows: list[Row]
    skills: bytes | None = None
    document: Any = None


@dataclass(frozen=True)
class Run:
    """A computation with a stored result; subclass it as a frozen dataclass.

    The fields of the subclass decide the result and `execute` computes it:

        @dataclass(frozen=True)
        class Walks(Run):
            length: int
            seed: int

            def execute(self, progress):
                rng = np.random.default_rng(self.seed)
                return Result([("end", None, rng.choice([-1, 1], self.length).sum())])

    The class name is part of the run's identity, and so is `version`: raise it with every change of
    the code that can change a result, so that old results are not taken for new ones.
    """

    version: ClassVar[int] = 1

    def execute(self, progress: Progress) -> Result:
        """Compute the result.

        Args:
            progress: Callback to report the fraction done to.
        """
        raise NotImplementedError

    def settings(self) -> dict[str, Setting]:
        """Return everything that decides the result, by name; these become columns of a frame."""
        return flatten(self)

    @property
    def label(self) -> str:
        """A short readable name, shown in progress lines and at the start of file names."""
        return "_".join([type(self).__name__, *map(str, self.settings().values())])

    @cached_property
    def id(self) -> str:
        """The run's identity: 16 hexadecimal digits of a digest of its settings."""
        settings = self.settings()
        for name, value in settings.items():
            if name in RESERVED or not isinstance(value, Setting):
                raise TypeError(f"a run cannot have a setting {name} = {value!r}")
        key = {"kind": type(self).__name__, "version": self.version, "settings": settings}
        return digest(json.dumps(key, sort_keys=True, allow_nan=False).encode())[:16]

    @cached_property
    def stem(self) -> str:
        """File name without suffix: the label, made safe for file systems, and the id."""
        return file_name(self.label, f"_{self.id}")


def keep_skills(content: bytes) -> None:
    """Store the skills of the run that is executed now, before they are measured.

    Nothing happens in worker processes, whose results travel back when the run is done.
    """
    sink = _sink.get()
    if sink is not None:
        sink(content)


def flatten(instance: Any) -> dict[str, Setting]:
    """Return a dataclass's fields by name, with those of nested dataclasses at the same level.

    An int in a field declared as float becomes a float, so that 4 and 4.0 are the same setting. A
    field whose metadata say `volatile` is left out. Of nested dataclasses, one with a `name` is
    stored under it, and its fields as they are; the fields of others follow their field's name.
    """
    flat: dict[str, Setting] = {}
    for each in fields(instance):
        value = getattr(instance, each.name)
        if each.metadata.get("volatile"):
            continue
        value = value.item() if isinstance(value, np.generic) else value
        inner = {
            each.name: float(value) if type(value) is int and "float" in str(each.type) else value
        }
        if is_dataclass(value):
            parts = flatten(value)
            inner = {f"{each.name}_{name}": part for name, part in parts.items()}
            if "name" in parts:
                inner = {each.name: parts.pop("name"), **parts}
        if twice := flat.keys() & inner.keys():
            raise TypeError(f"{type(instance).__name__} has two settings named {min(twice)}")
        flat |= inner
    return flat


# -------------------------------------------------------------------- the store


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """The first line of a run's file."""

    id: str
    kind: str
    version: int
    settings: dict[str, Setting]
    record: dict[str, Setting]
    """What varies between two executions of the same run: versions, host, time, memory."""
    skills_sha256: str | None = None
    document: Any = None


_ROW = msgspec.json.Decoder(tuple[str, int | None, float | None])
_RUN_FILE = re.compile(r".*_[0-9a-f]{16}\.jsonl")


class StoreWarning(UserWarning):
    """A file in a folder of runs is damaged or foreign; no finished run was lost."""


class Store:
    """A folder of finished runs. Files are written atomically and verified when read.

    Several processes may use one folder at the same time; a run that two of them execute is stored
    once, as both have the same result.

    Attributes:
        folder: The folder. It is created when the first run is executed.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.is_file():
            raise UserError(f"{self.folder} is a file; name a folder for the runs (--out)")

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def path(self, run: Run) -> Path:
        """Return the path of a run's table."""
        return self.folder / f"{run.stem}.jsonl"

    def skills_path(self, run: Run) -> Path:
        """Return the path of a run's skills file."""
        return self.folder / f"{run.stem}.skills"

    def _failure_path(self, run: Run) -> Path:
        return self.folder / "failed" / f"{run.stem}.json"

    def prepare(self) -> None:
        """Create the folder, and delete leftovers of processes that died while writing."""
        require_writable_folder(self.folder)
        for folder in (self.folder, self.folder / "failed"):
            remove_leftovers(folder)

    def __contains__(self, run: Run) -> bool:
        """Return whether a run is stored with its skills, verified; damaged files are set aside."""
        return self._read(run) is not None

    def add(self, run: Run, table: bytes, skills: bytes | None) -> None:
        """Store a finished run. The table is written last: if it exists, the run is complete."""
        if skills is not None:
            write_atomically(self.skills_path(run), skills)
        write_atomically(self.path(run), table)
        self._failure_path(run).unlink(missing_ok=True)

    def document(self, run: Run) -> Any:
        """Return the document of a finished run; None if it has none."""
        found = self._read(run)
        return None if found is None else found[0].document

    def fail(self, run: Run, error: str, trace: str) -> None:
        """Record that a run raised."""
        path = self._failure_path(run)
        make_folder(path.parent)
        record = {"id": run.id, "settings": run.settings(), "error": error, "traceback": trace}
        write_atomically(path, json.dumps(record, indent=2).encode())

    def failure(self, run: Run) -> str | None:
        """Return the recorded error of a failed run in one line; None if it did not fail."""
        try:
            return str(json.loads(self._failure_path(run).read_bytes())["error"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def frame(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return the results of the finished ones among these runs as one long table.

        Args:
            runs: The runs; by default, all that the folder holds.

        Returns:
            Columns kind, version, every setting, run, metric, step, value. The frame does not
            depend on when, where or in which order the runs were executed.
        """
        found = list(self._read_all(runs))
        settings = _frame_of([_identity(header) for header, _ in found])
        rows = [(header.id, *row) for header, rows in found for row in rows]
        table = pl.DataFrame(rows, {"run": pl.String, **_ROW_TYPES}, orient="row")
        names = [name for name in settings.columns if name != "run"]
        joined = table.join(settings, on="run", how="left", maintain_order="left")
        return joined.select(*names, "run", *_ROW_TYPES).sort(*names, "run", maintain_order=True)

    def records(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return one row per finished run: settings, versions, host, start, time, memory."""
        headers = [header for header, _ in self._read_all(runs)]
        # Settings come first, and go before what a record has under the same name.
        return _frame_of([_identity(each) | each.record | _identity(each) for each in headers])

    def _read(self, run: Run) -> tuple[Header, list[Row]] | None:
        """Return a run's verified contents; None if it is missing, or damaged and set aside."""
        path, skills = self.path(run), self.skills_path(run)
        try:
            header, rows = decode(path.read_bytes())
            if header.id != run.id:
                raise Damaged("it is another run's")
            expected = header.skills_sha256
            if expected is not None and digest(read_bytes(skills, "skills")) != expected:
                raise Damaged("its skills do not match their digest")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None
        except UserError as error:
            folder = self.folder / "damaged"
            make_folder(folder)
            for file in (path, skills):
                if file.exists():
                    set_aside(file, folder)
            _warn(
                f"{path.name} is damaged ({error}); it was set aside in {folder}, and the run "
                f"counts as not done"
            )
            return None
        return header, rows

    def _read_all(self, runs: Iterable[Run] | None) -> Iterator[tuple[Header, list[Row]]]:
        """Yield the verified contents of these runs, or of the whole folder; each run once."""
        if not self.folder.is_dir():
            raise UserError(f"there is no folder {self.folder}")
        if runs is not None:
            found = (self._read(run) for run in {run.id: run for run in runs}.values())
            yield from (each for each in found if each is not None)
            return
        seen: set[str] = set()
        for path in sorted(self.folder.glob("*.jsonl")):
            if not _RUN_FILE.fullmatch(path.name):
                continue
            try:
                header, rows = decode(read_bytes(path, "a run"))
            except UserError as error:
                _warn(f"{path} is damaged, or not a run ({error}); it is left out")
                continue
            if header.id not in seen:
                seen.add(header.id)
                yield header, rows


def encode(header: Header, rows: Iterable[Row]) -> bytes:
    """Return the contents of a run's file."""
    lines = [msgspec.json.encode(header, enc_hook=lambda number: number.item())]
    for metric, step, value in rows:
        number = None if value is None else float(value)
        lines.append(msgspec.json.encode((metric, None if step is None else int(step), number)))
    body = b"\n".join(lines) + b"\n"
    return body + json.dumps({"sha256": digest(body)}).encode() + b"\n"


def decode(content: bytes) -> tuple[Header, list[Row]]:
    """Return the header and the rows of a run's file.

    Raises:
        Damaged: If the contents are not what `encode` returned.
    """
    body, newline, last = content.rstrip(b"\n").rpartition(b"\n")
    if last != json.dumps({"sha256": digest(body + newline)}).encode():
        raise Damaged("its contents do not match its digest")
    first, *lines = body.split(b"\n")
    try:
        header = msgspec.json.decode(first, type=Header)
        if header.settings.keys() & set(RESERVED):
            raise Damaged("its header is not that of a run")
        return header, [_ROW.decode(line) for line in lines]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Damaged(f"its contents are not those of a run: {error}") from None


_ROW_TYPES = {"metric": pl.String, "step": pl.Int64, "value": pl.Float64}


def _identity(header: Header) -> dict[str, Setting]:
    return {"run": header.id, "kind": header.kind, "version": header.version, **header.settings}


def _frame_of(rows: Sequence[Mapping[str, Setting]]) -> pl.DataFrame:
    """Return rows as a frame. What a row lacks is null; columns of several types are text."""
    known = {"kind": pl.String, "version": pl.Int64, "run": pl.String}
    return pl.DataFrame(rows, None if rows else known, strict=False, infer_schema_length=None)


def _warn(message: str) -> None:
    warnings.warn(message, StoreWarning, stacklevel=2)


# -------------------------------------------------------------------- execution


@dataclass
class JobStatus:
    """How a job went. Statuses of consecutive jobs can be added.

    Attributes:
        total: Number of distinct runs in the job.
        done: Runs executed by this job.
        found: Runs that were in the store already.
        failures: Error of every failed run in one line, by `run.stem`.
        seconds: Wall time of the job.
        cpu_seconds: CPU time of the executed runs.
    """

    total: int
    done: int = 0
    found: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def summary(self, folder: object) -> str:
        """Return how the job went in one line.

        Returns:
            A line such as `60 runs: 41 done now (2 min 3 s, CPU 4 min), 18 found in out, 1 failed`.
        """
        parts = []
        if self.done:
            cpu = format_duration(self.cpu_seconds)
            parts.append(f"{self.done} done now ({format_duration(self.seconds)}, CPU {cpu})")
        if self.found:
            parts.append(f"{self.found} found in {folder}")
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        if remaining := self.total - self.done - self.found - len(self.failures):
            parts.append(f"{remaining} left to do")
        noun = "run" if self.total == 1 else "runs"
        return f"{self.total} {noun}: {', '.join(parts) or 'none'}"

    def __add__(self, other: JobStatus) -> JobStatus:
        """Return the status of two jobs, one after the other."""
        return JobStatus(
            self.total + other.total, self.done + other.done, self.found + other.found,
            self.failures | other.failures, self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
        )  # fmt: skip


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP during a job; everything that finished is stored.

    Attributes:
        status: The job's status; rerunning the job resumes it.
        signal_number: The signal.
    """

    def __init__(self, status: JobStatus, folder: object, signal_number: int) -> None:
        verb = "interrupted" if signal_number == signal.SIGINT else "terminated"
        super().__init__(f"{verb}. {status.summary(folder)}. Rerun to resume")
        self.status, self.signal_number = status, signal_number


def format_duration(seconds: float) -> str:
    """Return a duration for people: `3.2 s`, `2 min 3 s`, `2 h 1 min`."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def run_all(
    runs: Iterable[Run],
    store: Store,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    cluster: str | None = None,
    retry_failed: bool = False,
    progress: Progress = no_progress,
) -> JobStatus:
    """Execute the runs that the store does not have yet, and store their results.

    A single run, and all with `workers=1`, are executed in this process, the others in processes of
    their own. A run that raises is recorded and does not stop the others; one that kills its
    process twice, the second time alone, is recorded as failed.

    Args:
        runs: The runs; duplicates are executed once.
        store: Where results are looked up and stored.
        workers: Number of worker processes.
        executor: Where to execute runs instead: any `concurrent.futures.Executor`.
        cluster: The address of a Dask scheduler to use instead, such as "tcp://10.0.0.1:8786".
        retry_failed: Whether to execute again what failed before.
        progress: Callback for the fraction done.

    Returns:
        How the job went. Failed runs are listed in its `failures`; they do not raise.

    Raises:
        Interrupted: After Ctrl-C, SIGTERM or SIGHUP; finished runs are stored.
        UserError: If the store cannot be written to, or a job's only run has invalid settings.
    """
    if not 1 <= workers <= MAX_WORKERS:
        raise UserError(f"workers is {workers}; it must be 1 to {MAX_WORKERS:,}")
    distinct = {run.id: run for run in runs}.values()
    job = _Job(store, JobStatus(len(distinct)), progress)
    for run in distinct:
        error = None if retry_failed else store.failure(run)
        if run in store:
            job.status.found += 1
        elif error is not None:
            job.status.failures[run.stem] = error
        else:
            job.waiting.append(run)
    if not job.waiting:
        return job.status
    store.prepare()
    job.n_waiting = len(job.waiting)
    try:
        if executor is not None:
            job.execute_on(executor)
        elif cluster is not None:
            with _connected(cluster) as client:
                job.execute_on(client.get_executor(pure=False))
        elif workers == 1 or job.n_waiting == 1:
            job.execute_here()
        else:
            job.execute_in_processes(workers)
    except KeyboardInterrupt as interrupt:
        number = getattr(interrupt, "signal_number", signal.SIGINT)
        raise Interrupted(job.status, store.folder, number) from None
    return job.status


class _Job:
    """The state of one `run_all`."""

    def __init__(self, store: Store, status: JobStatus, progress: Progress) -> None:
        self.store, self.status, self.progress = store, status, progress
        self.waiting: deque[Run] = deque()
        self.n_waiting = 0
        self.started = time.perf_counter()

    def execute_here(self) -> None:
        """Execute all runs in this process, one after another."""
        for number, run in enumerate(self.waiting):
            part = part_of(self.progress, number / self.n_waiting, (number + 1) / self.n_waiting)
            token = _sink.set(partial(write_atomically, self.store.skills_path(run)))
            try:
                outcome = perform(run, part, raise_mistakes=self.n_waiting == 1)
            finally:
                _sink.reset(token)
            self.finish(run, outcome)

    def execute_in_processes(self, workers: int) -> None:
        """Execute all runs in worker processes; runs that were lost with theirs are tried alone."""
        while self.waiting:
            with _processes(min(workers, len(self.waiting))) as pool:
                lost = self.submit(pool, self.waiting, workers)
            for run in lost:
                with _processes(1) as pool:
                    lost_again = self.submit(pool, deque([run]), 1)
                if lost_again:
                    advice = 'a script must call run_all under `if __name__ == "__main__":`'
                    message = f"its worker process died, out of memory perhaps; {advice}"
                    trace = "no traceback: the process was ended"
                    self.finish(run, Outcome(error=message, traceback=trace))

    def execute_on(self, pool: Executor) -> None:
        """Execute all runs on an executor of the caller's, which must not break."""
        for error in self.submit(pool, self.waiting, self.n_waiting).values():
            raise UserError(f"the executor gave up ({error}); finished runs are stored")

    def submit(self, pool: Executor, waiting: deque[Run], most: int) -> dict[Run, BrokenExecutor]:
        """Execute runs on an executor, until it breaks.

        Args:
            pool: The executor.
            waiting: The runs; those that were submitted are taken out.
            most: How many are submitted at once, as only those can be lost.

        Returns:
            The runs that were submitted and not finished when the executor broke, with its error.
        """
        submitted: dict[Future, Run] = {}
        lost: dict[Run, BrokenExecutor] = {}
        try:
            while (waiting and not lost) or submitted:
                while waiting and not lost and len(submitted) < most:
                    run = waiting.popleft()
                    try:
                        with _signals_blocked():  # a pool starts processes as it needs them
                            submitted[pool.submit(_perform_there, run, code_version())] = run
                    except BrokenExecutor as error:
                        lost[run] = error
                self.report(submitted.values())
                for future in wait(submitted, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    run = submitted.pop(future)
                    try:
                        self.finish(run, future.result())
                    except BrokenExecutor as error:
                        lost[run] = error
        finally:
            for future in submitted:
                future.cancel()
        return lost

    def finish(self, run: Run, outcome: Outcome) -> None:
        """Store what came of a run."""
        if outcome.error:
            self.store.fail(run, outcome.error, outcome.traceback)
            self.status.failures[run.stem] = outcome.error
        else:
            self.store.add(run, outcome.table, outcome.skills)
            self.status.done += 1
            self.status.cpu_seconds += outcome.cpu_seconds
        self.status.seconds = time.perf_counter() - self.started
        self.report([])

    def report(self, running: Iterable[Run]) -> None:
        """Report progress: `4 of 40 runs, 1 failed, now LABEL`."""
        settled = self.status.done + self.status.found + len(self.status.failures)
        parts = [f"{settled} of {self.status.total} runs"]
        if self.status.failures:
            parts.append(f"{len(self.status.failures)} failed")
        parts += [f"now {run.label}" for run in list(running)[:1]]
        self.progress((settled - self.status.found) / max(1, self.n_waiting), ", ".join(parts))


@dataclass(frozen=True)
class Outcome:
    """What came of a run: the contents of its files or, if it raised, the exception in one line
    and the traceback."""

    table: bytes = b""
    skills: bytes | None = None
    cpu_seconds: float = 0.0
    error: str = ""
    traceback: str = ""


def perform(run: Run, progress: Progress, raise_mistakes: bool = False) -> Outcome:
    """Execute one run and return its outcome; exceptions of the run are outcomes too.

    Args:
        run: The run.
        progress: Progress callback.
        raise_mistakes: Whether a `UserError` is raised instead.
    """
    started, cpu, wall = time.time(), time.thread_time(), time.perf_counter()
    try:
        result, peak = run.execute(progress), peak_bytes()
        record: dict[str, Setting] = {
            **package_versions(), **accelerator(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
            "host": socket.gethostname(), "wall_seconds": time.perf_counter() - wall,
            "cpu_seconds": time.thread_time() - cpu, "peak_memory_mb": peak and peak / 2**20,
        }  # fmt: skip
        sha256 = None if result.skills is None else digest(result.skills)
        kind = type(run).__name__
        header = Header(run.id, kind, run.version, run.settings(), record, sha256, result.document)
        table = encode(header, result.rows)
    except (Exception, SystemExit) as error:
        raise_pending_signal()
        if raise_mistakes and isinstance(error, UserError):
            raise
        if isinstance(error.__cause__, KeyboardInterrupt):  # in a kernel, it is a SystemError
            raise error.__cause__ from None
        line = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
        return Outcome(error=line, traceback="".join(traceback.format_exception(error)))
    return Outcome(table, result.skills, time.thread_time() - cpu)


def _perform_there(run: Run, expected: str) -> Outcome:
    """Execute a run in a worker, if its code is that of the process that hands out the runs."""
    if code_version() != expected:
        message = "the worker has other source code or packages; install the same on both"
        return Outcome(error=message, traceback=message)
    return perform(run, no_progress)


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Open a pool of worker processes that Ctrl-C does not reach, and end them with the block."""
    context = multiprocessing.get_context("spawn")
    with _signals_blocked():
        pool = ProcessPoolExecutor(workers, context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals that a terminal sends to all its processes; those started here inherit that.

    Only this process is to act on them. One that Python starts for each pool, which frees
    semaphores, would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process as soon as its parent is gone, however that ended."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler for the length of the block."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "a cluster needs Dask, which is not installed: pip install 'skillfocus[cluster]'"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are raised here
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except Exception as error:  # Dask raises all kinds at an address of something else
        problem = " ".join(str(error).split())
        raise UserError(
            f"there is no Dask scheduler at {address} ({problem}); give the address that "
            f"`dask scheduler` prints, such as tcp://10.0.0.1:8786"
        ) from None
    if not client.nthreads():
        _logger.warning("the cluster has no workers yet; runs begin when there are some")
    try:
        yield client
    finally:
        client.close()
