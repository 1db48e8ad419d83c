"""What `discover` and `sweep` share: doing many runs, kept in a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus.cli.options import OptionalInt, OptionalStr
from skillfocus.cli.output import err, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Job:
    out: Path = Path("out")
    """The folder for the files. Runs that are there are read, not done again."""
    workers: OptionalInt = None
    """Runs done at a time, each in a process of its own (default: one per core)."""
    cluster: OptionalStr = None
    """The address of a Dask scheduler to do the runs instead, such as tcp://10.0.0.1:8786."""
    retry_failed: bool = False
    """Do runs again that failed before."""
    json: bool = False
    """Print one JSON document; everything else goes to standard error."""


class Work:
    """Doing runs as a `Job` says, once or several times, with one bar over all of it."""

    def __init__(self, job: Job, what: str) -> None:
        from skillfocus.runs.executors import Cluster
        from skillfocus.runs.folder_store import Store
        from skillfocus.runs.progress_bar import Progress
        from skillfocus.runs.status import Status

        self.workers = (os.cpu_count() or 1) if job.workers is None else job.workers
        if job.cluster is not None and job.workers is not None:
            raise UserError("--workers counts processes of this machine; a --cluster has its own")
        self.store, self.retry_failed, self.total = Store(job.out), job.retry_failed, Status(0)
        self.stack = ExitStack()
        self.executor = self.stack.enter_context(Cluster(job.cluster)) if job.cluster else None
        self.progress = self.stack.enter_context(Progress(err, what))

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stack.close()

    def do(self, runs: Sequence[Run], first: float = 0.0, last: float = 1.0) -> None:
        """Do what is missing of these runs: all the work, or its part from `first` to `last`."""
        from skillfocus.runs.progress_bar import summary
        from skillfocus.runs.scheduler import run_all
        from skillfocus.runs.status import Interrupted

        self.progress.span = first, last
        try:
            status = run_all(
                runs, self.store, executor=self.executor, workers=self.workers,
                retry_failed=self.retry_failed, watch=self.progress.watch,
            )  # fmt: skip
        except Interrupted as interrupt:
            self.total += interrupt.status
            done = summary(self.total, self.store.folder)
            raise KeyboardInterrupt(
                f"interrupted. {done}. The same command goes on from here"
            ) from None
        self.total += status

    def sum_up(self) -> None:
        """Say how it went, once the bar is gone."""
        from skillfocus.runs.progress_bar import summary

        say(summary(self.total, self.store.folder))
        for run, error in self.total.failures.items():
            say(f"failed: {run}: {error}")
        if self.total.failures:
            say(f"tracebacks are in {self.store.folder / 'failed'}; --retry-failed tries again")
