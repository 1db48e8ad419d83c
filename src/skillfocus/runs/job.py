"""`Job`: batches of runs with one store, one executor and one overall status."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import ExitStack

from skillfocus.core.progress import Progress, no_progress
from skillfocus.errors import UserError
from skillfocus.runs.executors import Cluster
from skillfocus.runs.run import Run
from skillfocus.runs.scheduler import run_all
from skillfocus.runs.status import Interrupted, JobStatus
from skillfocus.runs.store import RunStore


class Job:
    """A job: execute one or more batches of runs, and keep count over all of them.

        with Job(Store("out"), workers=4) as job:
            job.execute(runs)
        print(job.summary())

    Args:
        store: Where results are looked up and stored.
        executor: Where runs are executed, see `runs.executors`; it is left open at the end.
        workers: Number of worker processes of this machine; by default, one per core.
        cluster: The address of a Dask scheduler to execute the runs instead.
        retry_failed: Whether to execute again what failed before.

    Attributes:
        store: The store.
        status: How the batches so far went, added up.

    Raises:
        UserError: If more than one of `executor`, `workers` and `cluster` is given, or the cluster
            does not answer.
    """

    def __init__(
        self,
        store: RunStore,
        *,
        executor: Executor | None = None,
        workers: int | None = None,
        cluster: str | None = None,
        retry_failed: bool = False,
    ) -> None:
        if cluster is not None and workers is not None:
            raise UserError(
                "workers are processes of this machine, and a cluster has its own: give --workers "
                "or --cluster, not both"
            )
        if executor is not None and (cluster is not None or workers is not None):
            raise UserError("an executor has its own workers: give no workers and no cluster")
        self.store, self.retry_failed, self.status = store, retry_failed, JobStatus(0)
        self._workers = (os.cpu_count() or 1) if workers is None else workers
        self._resources = ExitStack()
        self._executor = executor
        if cluster is not None:
            self._executor = self._resources.enter_context(Cluster(cluster))

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from the cluster, if there is one."""
        self._resources.close()

    def execute(self, runs: Iterable[Run], progress: Progress = no_progress) -> JobStatus:
        """Execute the runs that the store does not have yet.

        Args:
            runs: A batch of runs.
            progress: Callback for the fraction of the batch that is done.

        Returns:
            How this batch went; it is also added to `status`.

        Raises:
            Interrupted: After Ctrl-C, with the status of all batches so far.
            UserError: As `run_all`.
        """

        def watch(status: JobStatus) -> None:
            progress(status.fraction, status.activity)

        try:
            batch = run_all(
                runs, self.store, executor=self._executor, workers=self._workers,
                retry_failed=self.retry_failed, watch=watch,
            )  # fmt: skip
        except Interrupted as interrupt:
            self.status += interrupt.status
            raise Interrupted(self.status, self.store, interrupt.signal_number) from None
        self.status += batch
        return batch

    def summary(self) -> str:
        """Return how the job went, in one line."""
        return self.status.summary(self.store)
