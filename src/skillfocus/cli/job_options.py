"""Options of the commands that execute runs, and how they report the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillfocus.cli.options import OptionalInt, OptionalStr
from skillfocus.cli.output import say

if TYPE_CHECKING:
    from skillfocus.runs.status import JobStatus


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """The arguments of a `runs.job.Job`, and the folder of its store."""

    out: Path = Path("out")
    """Folder for the results. Runs that are already there are not executed again."""
    workers: OptionalInt = None
    """Number of worker processes (default: one per core)."""
    cluster: OptionalStr = None
    """Address of a Dask scheduler to execute the runs instead, such as tcp://10.0.0.1:8786."""
    retry_failed: bool = False
    """Execute runs again that failed before."""
    json: bool = False
    """Print one JSON document; everything else goes to standard error."""

    def job_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of a `Job`."""
        return {
            "workers": self.workers, "cluster": self.cluster, "retry_failed": self.retry_failed,
        }  # fmt: skip


def report_job(status: JobStatus, out: Path) -> None:
    """Print how a job went: a summary, failed runs, and where their tracebacks are."""
    say(status.summary(out))
    for run, error in status.failures.items():
        say(f"failed: {run}: {error}")
    if status.failures:
        say(f"tracebacks are in {out / 'failed'}; --retry-failed tries again")


def exit_if_failed(status: JobStatus) -> None:
    """End the command with status 1 if a run failed."""
    if status.failures:
        raise SystemExit(1)
