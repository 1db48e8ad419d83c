"""`run_all`: execute the runs that are not in the store yet, on any executor, losing none.

Results are written here, by the process that hands out the work, as soon as they come back. A run
that raises is recorded and does not stop the others. A worker process that dies takes its pool
with it: the pool is started again, and the runs it had are tried again one at a time, so that the
one to blame is found.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager
from pickle import PicklingError

from skillfocus.errors import UserError
from skillfocus.runs.executors import Failed, Finished, Processes, perform
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import Run
from skillfocus.runs.status import Interrupted, Status

POLL = 0.2
"""Seconds between looks at Ctrl-C, progress, and the runs of other commands."""


def run_all(
    runs: Iterable[Run],
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int = 1,
    retry_failed: bool = False,
    watch: Callable[[Status], None] | None = None,
) -> Status:
    """Execute what is missing of these runs, on `executor` (default: so many worker processes of
    this machine). Runs that failed before are left out unless `retry_failed`. `watch` is called a
    few times a second. The first Ctrl-C lets the runs in flight finish, a second one abandons
    them; either way `Interrupted` is raised at the end."""
    if workers < 1:
        raise UserError(f"{workers} workers were asked for; at least 1 is needed")
    distinct = list({run.id: run for run in runs}.values())
    try:
        with _interrupts() as interrupts:
            job = _Job(len(distinct), store, interrupts, retry_failed, watch)
            job.look_up(distinct)
            job.work(executor, workers)
    finally:
        store.close()
    job.tell()
    if job.status.stopping:
        raise Interrupted(job.status)
    return job.status


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that grows with every Ctrl-C; the third is Python's own again."""
    heard: list[int] = []

    def hear(number: int, frame: object) -> None:
        del frame
        heard.append(number)
        if len(heard) > 2:
            raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield heard
        return
    before = signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


class _Job:
    def __init__(
        self,
        total: int,
        store: Store,
        interrupts: list[int],
        retry_failed: bool,
        watch: Callable[[Status], None] | None,
    ) -> None:
        self.store, self.interrupts = store, interrupts
        self.retry_failed, self.watch = retry_failed, watch
        self.status = Status(total)
        self.began = self.told = time.perf_counter()
        self.waiting: deque[Run] = deque()
        self.suspects: deque[Run] = deque()
        """Runs whose pool died; they run one at a time."""
        self.strikes: Counter[str] = Counter()
        """How often a run's pool died with that run alone in it."""

    def look_up(self, runs: list[Run]) -> None:
        """Which of these runs are to be done."""
        for run in runs:
            if self.interrupts:
                return
            if not self._settled(run):
                self.waiting.append(run)
            self.tell(now=False)

    def work(self, executor: Executor | None, workers: int) -> None:
        if self.waiting and not self.interrupts:
            self.store.prepare()
        while (self.waiting or self.suspects) and not self.interrupts:
            if executor is not None:
                self._hand_out(executor)
                continue
            pool = Processes(workers)
            try:
                self._hand_out(pool)
            finally:
                pool.abandon()
        self.status.stopping = bool(self.interrupts)

    def _settled(self, run: Run) -> bool:
        """Whether a run is there, or failed before and is not to be tried again."""
        if run in self.store:
            self.status.found += 1
        elif not self.retry_failed and (error := self.store.failure(run)) is not None:
            self.status.failures[run.stem] = error
        else:
            return False
        return True

    def _hand_out(self, pool: Executor) -> None:
        """Hand out runs and keep what comes back, until nothing is left or the pool has died."""
        flying: dict[Future, tuple[int, Run]] = {}
        number = 0
        try:
            while flying or ((self.waiting or self.suspects) and not self.interrupts):
                if len(self.interrupts) > 1:
                    return
                while len(flying) < _width(pool) and (run := self._next(bool(flying))):
                    flying[_submit(pool, run, number)] = number, run
                    number += 1
                self.status.others = not flying
                if not flying:
                    time.sleep(POLL)
                lost = []
                for future in wait(flying, timeout=POLL, return_when=FIRST_COMPLETED).done:
                    run = flying.pop(future)[1]
                    if not self._keep(run, future):
                        lost.append(run)
                if lost:
                    self._pool_died(pool, lost + [run for _, run in flying.values()])
                    return
                self._show(pool, flying)
        finally:
            for future in flying:
                future.cancel()

    def _next(self, busy: bool) -> Run | None:
        """The next run that no other command is at, claimed; None if there is none now."""
        if self.interrupts or (self.suspects and busy):
            return None
        queue = self.suspects or self.waiting
        for _ in range(len(queue)):
            run = queue.popleft()
            if not self.store.claim(run):
                queue.append(run)
            elif self._settled(run):
                self.store.release(run)
            else:
                return run
        return None

    def _keep(self, run: Run, future: Future) -> bool:
        """Write down what came back; False if nothing did because the pool died."""
        try:
            outcome: Finished | Failed = future.result()
        except BrokenExecutor:
            return False
        except (Exception, CancelledError) as error:  # not the run's, which `perform` sends back
            outcome = _blame(run, error)
        if outcome.id != run.id:
            raise UserError(
                "a worker has another version of skillfocus than this command; install the same "
                "one on both"
            )
        try:
            if isinstance(outcome, Failed):
                self._fail(run, outcome.error, outcome.traceback)
            else:
                self.store.add(run, outcome.table, outcome.skills)
                self.status.done += 1
                self.status.cpu_seconds += outcome.cpu_seconds
        except UserError as error:  # the disk is full, or gone
            raise UserError(
                f"{error}; finished runs are kept, and the same command goes on from there"
            ) from None
        self.store.release(run)
        return True

    def _fail(self, run: Run, error: str, traceback: str) -> None:
        self.store.fail(run, error, traceback)
        self.status.failures[run.stem] = error

    def _pool_died(self, pool: Executor, runs: list[Run]) -> None:
        """Of several runs in a pool nobody knows which to blame; one alone is, the second time."""
        if not isinstance(pool, Processes):
            raise UserError(
                "the workers died; finished runs are kept, and the same command goes on from there"
            )
        if not pool.fractions():
            raise UserError(
                "the worker processes die as soon as they start; if this is a script, call run_all "
                'under `if __name__ == "__main__":`'
            )
        if len(runs) == 1:
            self.strikes[runs[0].id] += 1
        if len(runs) == 1 and self.strikes[runs[0].id] > 1:
            self._fail(runs[0], "its worker process died", "no traceback: the process was ended")
            self.store.release(runs[0])
        else:
            self.suspects.extendleft(runs)

    def _show(self, pool: Executor, flying: dict[Future, tuple[int, Run]]) -> None:
        fractions = pool.fractions() if isinstance(pool, Processes) else {}
        self.status.running = {
            run.stem: fractions.get(number, 0.0) for number, run in flying.values()
        }
        self.status.stopping = bool(self.interrupts)
        self.tell(now=False)

    def tell(self, now: bool = True) -> None:
        clock = time.perf_counter()
        if now or clock - self.told >= POLL:
            self.told, self.status.seconds = clock, clock - self.began
            if self.watch is not None:
                self.watch(self.status)


def _blame(run: Run, error: BaseException) -> Failed:
    """An executor's own error is one run's failure if it could not be sent, or if it ended worker
    after worker of a cluster; anything else is the executor's, and ends the job."""
    said = (
        f"{type(error).__name__}: {str(error).strip() or 'a cluster may have lost its scheduler'}"
    )
    unsendable = isinstance(error, PicklingError | AttributeError | TypeError)
    if not unsendable and type(error).__name__ != "KilledWorker":
        raise UserError(f"the executor gave up ({' '.join(said.split())}); finished runs are kept")
    return Failed(run.id, said, "".join(traceback.format_exception(error)))


def _width(pool: Executor) -> int:
    """How many runs to have in flight: as many as can be at work."""
    return (
        getattr(pool, "width", None) or getattr(pool, "_max_workers", None) or os.cpu_count() or 1
    )


def _submit(pool: Executor, run: Run, number: int) -> Future:
    """Hand out a run; a pool that cannot start a process for it has died."""
    try:
        return pool.submit(perform, run, number)
    except (BrokenExecutor, EOFError, OSError) as error:
        future = Future()
        future.set_exception(BrokenExecutor(str(error)))
        return future
