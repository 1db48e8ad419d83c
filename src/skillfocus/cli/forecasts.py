"""Lines on standard error that say, before or early on, that something will take long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from skillfocus._internal.memory import peak_bytes
from skillfocus.cli.output import say

if TYPE_CHECKING:
    from skillfocus.core.progress import Progress
    from skillfocus.learners.forecast import Forecast

WATCHED_SECONDS = 3.0
"""How long a job is watched before its end is extrapolated."""


def announce(forecast: Forecast | None, n_runs: int = 1) -> None:
    """Print what learning will cost, if it takes long.

    Args:
        forecast: Of one run; None if it is not known.
        n_runs: How many such runs there are.
    """
    if forecast is None or not forecast.notable:
        return
    per = f" for each of {n_runs} seeds" if n_runs > 1 else ""
    say(f"forecast: {forecast}{per}")


class Forecaster:
    """A progress callback that prints, once, how long a job will take if that is long, and the
    memory it takes: its peak when the first of many like parts (skills, episodes) are done.

    Args:
        report: The callback that shows the progress.
        clock: Returns seconds.
        memory: Returns the peak of memory so far, in bytes; None if that is not known.
    """

    def __init__(
        self,
        report: Progress,
        clock: Callable[[], float] = time.monotonic,
        memory: Callable[[], int | None] = peak_bytes,
    ) -> None:
        self._report, self._clock, self._memory = report, clock, memory
        self._began = clock()
        self._first: tuple[float, float] | None = None
        self._told = False

    def __call__(self, fraction: float, activity: str) -> None:
        """Show progress, and extrapolate it once there is enough.

        What is extrapolated is the progress since its first report: before that, the job has loaded
        files and compiled kernels, which it does once.
        """
        from skillfocus.learners.forecast import NOTABLE_SECONDS, extrapolate, show_duration

        self._report(fraction, activity)
        if self._told or fraction <= 0:
            return
        now = self._clock()
        if self._first is None:
            self._first = now, fraction
        since, done = self._first
        if now - since < WATCHED_SECONDS or fraction <= done:
            return
        self._told = True
        total = since - self._began + extrapolate(now - since, fraction - done) * (1 - done)
        if total > NOTABLE_SECONDS:
            peak = self._memory()
            memory = "" if peak is None else f", about {peak / 1e9:.1f} GB of memory"
            say(f"forecast: about {show_duration(total)} in all{memory}")
