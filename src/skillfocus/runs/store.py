"""`RunStore`: what `run_all` and `Job` need of a store of runs.

`folder_store.Store` implements it with a folder of files. Another backend (a database, an object
store) implements these methods and is passed to them; `run_file.build_frame` and
`run_file.build_records` make its frames. `sweep`, `reproduce` and the commands take a folder, and
use the folder store.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import polars as pl

from skillfocus.runs.run import Run
from skillfocus.skills.skills import Skills


@runtime_checkable
class RunStore(Protocol):
    """A store of finished and failed runs, addressed by `run.id`.

    `str(store)` names the store in messages to people, such as "18 found in out".

    The scheduler calls `prepare` once before it executes anything, then for every run `claim`,
    `add` or `fail`, `release`, and finally `close`. All of it happens in one thread of the process
    that hands out the runs; workers never see the store.
    """

    def prepare(self) -> None:
        """Get ready for writing: create what is missing.

        Raises:
            UserError: If the store cannot be written to.
        """
        ...

    def close(self) -> None:
        """Release all claims and resources. The store can still be read, or prepared again."""
        ...

    def __contains__(self, run: Run) -> bool:
        """Return whether a run's complete and undamaged result is stored, with its skills."""
        ...

    def add(self, run: Run, table: bytes, skills: bytes | None) -> None:
        """Store a finished run, atomically, and forget an earlier failure of it.

        Args:
            run: The run.
            table: Its encoded results, see `run_file.decode`.
            skills: The contents of its skills file, or None.

        Raises:
            UserError: If it cannot be written. The scheduler then stops.
        """
        ...

    def fail(self, run: Run, error: str, traceback: str) -> object:
        """Record that a run raised, with the error in one line and the traceback."""
        ...

    def failure(self, run: Run) -> str | None:
        """Return the error of a run that failed before, in one line; None if it did not."""
        ...

    def claim(self, run: Run) -> bool:
        """Try to reserve a run for this process; return False while another process has it.

        A store that only one process uses may always return True.
        """
        ...

    def release(self, run: Run) -> None:
        """Give up the claim on a run."""
        ...

    def skills(self, run: Run) -> Skills:
        """Load the skills of a finished run."""
        ...

    def has_skills(self, run: Run) -> bool:
        """Return whether a finished run is stored together with skills."""
        ...

    def frame(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return the results of the finished ones among these runs (default: of all), as one long
        table with the columns that `run_file.build_frame` describes."""
        ...

    def records(self, runs: Iterable[Run] | None = None) -> pl.DataFrame:
        """Return one row per finished run: settings, versions, host, start, time, memory."""
        ...
