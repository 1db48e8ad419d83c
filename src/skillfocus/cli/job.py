"""What `discover` and `sweep` share: doing many runs, kept in a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from skillfocus.cli.output import err, say
from skillfocus.errors import UserError

if TYPE_CHECKING:
    from skillfocus.discovery import Learner
    from skillfocus.jobs import Status
    from skillfocus.runs import Run
    from skillfocus.store import Store


@dataclass(frozen=True, kw_only=True)
class Job:
    out: Path = Path("out")
    """The folder for the files. Runs that are there are read, not done again."""
    workers: int | None = None
    """Runs done at a time, each in a process of its own (default: one per core)."""
    cluster: str | None = None
    """The address of a Dask scheduler to do the runs instead, such as tcp://10.0.0.1:8786."""
    retry_failed: bool = False
    """Do runs again that failed before."""
    json: bool = False
    """Print one JSON document; everything else goes to standard error."""

    def do(self, runs: Sequence[Run], store: Store, what: str) -> Status:
        """Do what is missing of these runs, with a bar, and say how it went."""
        from skillfocus.executors import Cluster
        from skillfocus.jobs import Interrupted, run_all
        from skillfocus.progress import Progress, summary

        workers = (os.cpu_count() or 1) if self.workers is None else self.workers
        if workers < 1:
            raise UserError(f"{workers} workers were asked for; at least 1 is needed")
        if self.cluster is not None and self.workers is not None:
            raise UserError("--workers counts processes of this machine; a --cluster has its own")
        try:
            with ExitStack() as stack:
                executor = self.cluster and stack.enter_context(Cluster(self.cluster))
                progress = stack.enter_context(Progress(err, what))
                status = run_all(
                    runs, store, executor=executor or None, workers=workers,
                    retry_failed=self.retry_failed, watch=progress.watch,
                )  # fmt: skip
        except Interrupted as interrupt:
            done = summary(interrupt.status, store.folder)
            raise KeyboardInterrupt(
                f"interrupted. {done}. The same command goes on from here"
            ) from None
        say(summary(status, store.folder))
        for run, error in status.failures.items():
            say(f"failed: {run}: {error}")
        if status.failures:
            say(f"tracebacks are in {store.folder / 'failed'}; --retry-failed tries again")
        return status


@dataclass(frozen=True, kw_only=True)
class LearnerOptions:
    learner: Literal["planning", "q-learning"] = "planning"
    """How skills are learned: exact planning, or the paper's Q-learning."""
    gamma: float = 0.99
    """The discount."""
    rounds: int | None = None
    """Rounds of planning (default 40)."""
    episodes: int | None = None
    """Episodes of Q-learning (default 1,000,000)."""
    preset: Literal["default", "paper"] = "default"
    """Q-learning's settings: what learns best, or as near to the paper's as learns at all."""

    def make_learner(self) -> Learner:
        from skillfocus.learners.planning import Planning
        from skillfocus.learners.q_learning import QLearning, paper_q_learning

        if self.learner == "planning":
            if self.episodes is not None or self.preset != "default":
                raise UserError("--episodes and --preset belong to --learner q-learning")
            return Planning(gamma=self.gamma, **_given(rounds=self.rounds))
        if self.rounds is not None:
            raise UserError("--rounds belongs to --learner planning; use --episodes")
        make = paper_q_learning if self.preset == "paper" else QLearning
        return make(gamma=self.gamma, **_given(episodes=self.episodes))


def _given(**settings: object) -> dict:
    return {name: value for name, value in settings.items() if value is not None}
