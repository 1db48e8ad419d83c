"""How a job stands: what `run_all` tells while it works, and returns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Status:
    """How a job stands."""

    total: int
    done: int = 0
    """Executed now."""
    found: int = 0
    """There already, or finished by another command meanwhile."""
    failures: dict[str, str] = field(default_factory=dict)
    """Label and id of a failed run -> what it raised."""
    running: dict[str, float] = field(default_factory=dict)
    """Label and id of a run in flight -> the fraction of it that is done, where known."""
    stopping: bool = False
    """After Ctrl-C: only the runs in flight are waited for."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    others: bool = False
    """Other commands are at all that is left."""

    @property
    def over(self) -> int:
        return self.done + self.found + len(self.failures)

    def __add__(self, other: Status) -> Status:
        """Two jobs, one after the other."""
        return Status(
            self.total + other.total, self.done + other.done, self.found + other.found,
            self.failures | other.failures, {}, self.stopping or other.stopping,
            self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds,
        )  # fmt: skip


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `run_all`, after everything finished was kept."""

    def __init__(self, status: Status) -> None:
        left = status.total - status.over
        super().__init__(f"{status.over} of {status.total} runs are done, {left} are left")
        self.status = status
