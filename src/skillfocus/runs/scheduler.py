"""`run_all`: execute the runs that a store does not have yet, on any executor.

Results are stored by the process that hands out the runs, as soon as they come back. A run that
raises is recorded and does not stop the others. A worker process that dies breaks its whole pool:
the pool is restarted and the runs that were in flight are tried again one at a time, which finds
the one that kills its worker.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from pickle import PicklingError

from skillfocus._internal.checks import shown, whole
from skillfocus.errors import UserError
from skillfocus.runs.execution import Failed, Finished
from skillfocus.runs.executors import (
    Processes,
    pool_fractions,
    pool_width,
    restart_pool,
    submit_run,
)
from skillfocus.runs.interrupts import count_interrupts
from skillfocus.runs.run import Run
from skillfocus.runs.status import Interrupted, JobStatus
from skillfocus.runs.store import RunStore

POLL_SECONDS = 0.2
"""Time between two checks for Ctrl-C, progress, and runs that other processes finished."""
MAX_WORKERS = 1000
"""The most worker processes."""
_logger = logging.getLogger(__name__)


def run_all(
    runs: Iterable[Run],
    store: RunStore,
    *,
    executor: Executor | None = None,
    workers: int = 1,
    retry_failed: bool = False,
    watch: Callable[[JobStatus], None] | None = None,
) -> JobStatus:
    """Execute the runs that the store does not have yet, and store their results.

    The first Ctrl-C lets the runs in flight finish; a second one, or SIGTERM, abandons them.

    Args:
        runs: The runs; duplicates are executed once.
        store: Where results are looked up and stored.
        executor: Where runs are executed, see `executors`; by default, processes of this machine.
        workers: Number of those processes; unused with an executor.
        retry_failed: Whether to execute again what failed before.
        watch: Called with the job's status a few times a second, and at the end.

    Returns:
        How the job went. Failed runs are listed in its `failures`; they do not raise.

    Raises:
        Interrupted: After Ctrl-C or SIGTERM, once everything that finished is stored.
        UserError: If the store cannot be written to, or the executor gave up.
    """
    if not 1 <= whole("workers", workers) <= MAX_WORKERS:
        raise UserError(f"{workers} workers were asked for; there may be 1 to {MAX_WORKERS:,}")
    if not isinstance(store, RunStore):
        raise UserError(f"the store must be a RunStore, such as Store('out'), got {shown(store)}")
    if not isinstance(runs, Iterable):
        raise UserError(f"run_all takes a list of runs, got {shown(runs)}; try [run]")
    runs = list(runs)
    for run in runs:
        if not isinstance(run, Run):
            raise UserError(
                f"a run is a Run, such as Discovery('four-rooms', 'vic', 0), got {shown(run)}"
            )
    distinct = list({run.id: run for run in runs}.values())
    try:
        with count_interrupts() as interrupts:
            schedule = _Schedule(len(distinct), store, interrupts, retry_failed, watch)
            schedule.look_up(distinct)
            schedule.execute(executor, workers)
    finally:
        store.close()
    schedule.notify()
    if schedule.status.stopping:
        raise Interrupted(schedule.status, store, interrupts[-1])
    return schedule.status


class _Schedule:
    """The state of one `run_all`: which runs wait, which are suspected, and the status."""

    def __init__(
        self,
        total: int,
        store: RunStore,
        interrupts: list[int],
        retry_failed: bool,
        watch: Callable[[JobStatus], None] | None,
    ) -> None:
        self.store, self.interrupts = store, interrupts
        self.retry_failed, self.watch = retry_failed, watch
        self.status = JobStatus(total)
        self.start_time = self.last_notification = time.perf_counter()
        self.waiting: deque[Run] = deque()
        self.suspects: deque[Run] = deque()
        """Runs that were in flight when a pool died; they are executed one at a time."""
        self.deaths: Counter[str] = Counter()
        """How often a pool died with that run alone in it, by run id."""

    def look_up(self, runs: list[Run]) -> None:
        """Queue the runs that are to be executed."""
        for run in runs:
            if self.interrupts:
                return
            if not self._settle(run):
                self.waiting.append(run)
            self.notify_sometimes()

    def execute(self, executor: Executor | None, workers: int) -> None:
        """Execute everything that is queued, on the executor or on processes started for it."""
        if self.waiting and not self.interrupts:
            self.store.prepare()
            if executor is not None:
                self._execute_on(executor)
            else:
                pool = Processes(workers)
                try:
                    self._execute_on(pool)
                finally:
                    pool.kill()
        self.status.stopping = bool(self.interrupts)

    def _execute_on(self, pool: Executor) -> None:
        while (self.waiting or self.suspects) and not self.interrupts:
            self._hand_out(pool)

    def _settle(self, run: Run) -> bool:
        """Return whether a run needs no execution: it is stored, or failed before."""
        if run in self.store:
            self.status.found += 1
        elif not self.retry_failed and (error := self.store.failure(run)) is not None:
            self.status.failures[run.stem] = error
        else:
            return False
        return True

    def _hand_out(self, pool: Executor) -> None:
        """Hand out runs and store what comes back, until nothing is left or the pool died."""
        in_flight: dict[Future, tuple[int, Run]] = {}
        number = 0
        try:
            while in_flight or ((self.waiting or self.suspects) and not self.interrupts):
                if len(self.interrupts) > 1:
                    return
                while len(in_flight) < pool_width(pool) and (run := self._next(bool(in_flight))):
                    in_flight[submit_run(pool, run, number)] = number, run
                    number += 1
                self.status.waiting_for_others = not in_flight
                if not in_flight:
                    time.sleep(POLL_SECONDS)
                lost = []
                ready = wait(in_flight, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
                for future in ready:
                    run = in_flight.pop(future)[1]
                    if not self._collect(run, future):
                        lost.append(run)
                if lost:
                    time.sleep(POLL_SECONDS)  # SIGTERM to all processes may reach workers first
                    if self.interrupts:
                        return
                    restart_pool(pool)
                    self._suspect(lost + [run for _, run in in_flight.values()])
                    return
                self._update_status(pool, in_flight)
        finally:
            for future in in_flight:
                future.cancel()

    def _next(self, busy: bool) -> Run | None:
        """Claim and return the next run that no other process has; None if there is none now.

        Args:
            busy: Whether runs are in flight; a suspect has to wait until there are none.
        """
        if self.interrupts or (self.suspects and busy):
            return None
        queue = self.suspects or self.waiting
        for _ in range(len(queue)):
            run = queue.popleft()
            if not self.store.claim(run):
                queue.append(run)
            elif self._settle(run):
                self.store.release(run)
            else:
                return run
        return None

    def _collect(self, run: Run, future: Future) -> bool:
        """Store the outcome of a run; return False if it has none because the pool died."""
        try:
            outcome: Finished | Failed = future.result()
        except BrokenExecutor:
            return False
        except UserError as error:
            raise UserError(f"{error}; finished runs are stored") from None
        except (Exception, CancelledError) as error:  # not the run's own, which `perform` returns
            outcome = _attribute(run, error)
        if outcome.id != run.id:
            raise UserError(
                "a worker runs another version of skillfocus than this command; install the same "
                "version on both"
            )
        try:
            if isinstance(outcome, Failed):
                self._fail(run, outcome.error, outcome.traceback)
            else:
                self.store.add(run, outcome.table, outcome.skills)
                self.status.done += 1
                self.status.cpu_seconds += outcome.cpu_seconds
        except UserError as error:  # such as a full disk
            raise UserError(f"{error}; finished runs are stored: rerun to resume") from None
        self.store.release(run)
        return True

    def _fail(self, run: Run, error: str, traceback: str) -> None:
        self.store.fail(run, error, traceback)
        self.status.failures[run.stem] = error

    def _suspect(self, runs: list[Run]) -> None:
        """Queue the runs of a dead pool to be tried alone. A run that was alone when its pool died
        is to blame; it gets one more chance, as the machine may have been short of memory."""
        if len(runs) == 1:
            self.deaths[runs[0].id] += 1
        if len(runs) == 1 and self.deaths[runs[0].id] > 1:
            self._fail(runs[0], "its worker process died", "no traceback: the process was ended")
            self.store.release(runs[0])
        else:
            self.suspects.extendleft(runs)

    def _update_status(self, pool: Executor, in_flight: dict[Future, tuple[int, Run]]) -> None:
        fractions = pool_fractions(pool)
        self.status.running = {
            run.stem: fractions.get(number, 0.0) for number, run in in_flight.values()
        }
        if len(self.interrupts) == 1 and in_flight and not self.status.stopping:
            count = len(in_flight)
            _logger.warning(
                "interrupted: finishing %d %s in flight; Ctrl-C again abandons %s",
                count, *(("run", "it") if count == 1 else ("runs", "them")),
            )  # fmt: skip
        self.status.stopping = bool(self.interrupts)
        self.notify_sometimes()

    def notify_sometimes(self) -> None:
        """Notify the watcher if that was not done a moment ago."""
        if time.perf_counter() - self.last_notification >= POLL_SECONDS:
            self.notify()

    def notify(self) -> None:
        """Pass the current status to the watcher."""
        now = time.perf_counter()
        self.last_notification, self.status.seconds = now, now - self.start_time
        if self.watch is not None:
            self.watch(self.status)


def _attribute(run: Run, error: BaseException) -> Failed:
    """Turn an executor's own error into a run's failure, where the run is to blame.

    That is so if the run cannot be pickled, or if it killed worker after worker of a cluster.

    Raises:
        UserError: For any other error: the executor is broken, and the job ends.
    """
    line = (
        f"{type(error).__name__}: {str(error).strip() or 'a cluster may have lost its scheduler'}"
    )
    cannot_pickle = isinstance(error, PicklingError | AttributeError | TypeError)
    if not cannot_pickle and type(error).__name__ != "KilledWorker":
        raise UserError(
            f"the executor gave up ({' '.join(line.split())}); finished runs are stored"
        )
    return Failed(run.id, line, "".join(traceback.format_exception(error)))
