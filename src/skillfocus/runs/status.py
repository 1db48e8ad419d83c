"""Job progress and results: what `run_all` reports while it works, and returns."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass, field


@dataclass
class JobStatus:
    """How far a job is, and in the end how it went. Statuses of consecutive jobs can be added.

    Attributes:
        total: Number of distinct runs in the job.
        done: Runs executed by this job.
        found: Runs that were in the store already, or that another process finished meanwhile.
        failures: Error of every failed run in one line, by `run.stem`.
        running: Fraction done of every run in flight, by `run.stem`; 0 where it is unknown.
        stopping: Whether Ctrl-C was pressed: only the runs in flight are still waited for.
        seconds: Wall time of the job.
        cpu_seconds: CPU time of the executed runs.
        waiting_for_others: Whether all remaining runs are claimed by other processes.
    """

    total: int
    done: int = 0
    found: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    running: dict[str, float] = field(default_factory=dict)
    stopping: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    waiting_for_others: bool = False

    @property
    def settled(self) -> int:
        """Number of runs that are no longer pending: done, found or failed."""
        return self.done + self.found + len(self.failures)

    @property
    def fraction(self) -> float:
        """Fraction of the work that is done.

        Runs found in the store do not count: they took no time, so counting them would make the
        remaining time look too short.
        """
        executed = self.settled - self.found + sum(self.running.values())
        return executed / max(self.total - self.found, 1)

    @property
    def activity(self) -> str:
        """One line about what is going on: `4 of 40 runs, 1 failed, now LABEL and 1 more`."""
        parts = [f"{self.settled} of {self.total} runs"]
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        if self.waiting_for_others:
            parts.append("waiting for the runs of another command")
        if self.running:
            first, *others = self.running
            label = re.sub("_[0-9a-f]{16}$", "", first)
            parts.append(f"now {label}" + (f" and {len(others)} more" if others else ""))
        return ", ".join(parts)

    def summary(self, store: object) -> str:
        """Return how the job went, in one line.

        Args:
            store: The store; its `str` is the name that the line uses.

        Returns:
            A line such as `60 runs: 41 done now (2 min 3 s, CPU 4 min), 18 found in out, 1 failed`.
        """
        parts = []
        if self.done:
            cpu = format_duration(self.cpu_seconds)
            parts.append(f"{self.done} done now ({format_duration(self.seconds)}, CPU {cpu})")
        if self.found:
            parts.append(f"{self.found} found in {store}")
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        if remaining := self.total - self.settled:
            parts.append(f"{remaining} left to do")
        noun = "run" if self.total == 1 else "runs"
        return f"{self.total} {noun}: {', '.join(parts) or 'none'}"

    def __add__(self, other: JobStatus) -> JobStatus:
        """Return the status of two jobs, one after the other."""
        return JobStatus(
            total=self.total + other.total,
            done=self.done + other.done,
            found=self.found + other.found,
            failures=self.failures | other.failures,
            stopping=self.stopping or other.stopping,
            seconds=self.seconds + other.seconds,
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
        )


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM during a job, raised after everything that finished was stored.

    Attributes:
        status: The job's status; rerunning the job resumes it.
        signal_number: The signal.
    """

    def __init__(
        self, status: JobStatus, store: object, signal_number: int = signal.SIGINT
    ) -> None:
        verb = "interrupted" if signal_number == signal.SIGINT else "terminated"
        super().__init__(f"{verb}. {status.summary(store)}. Rerun to resume")
        self.status, self.signal_number = status, signal_number


def format_duration(seconds: float) -> str:
    """Return a duration for people: `3.2 s`, `2 min 3 s`, `2 h 1 min`."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
