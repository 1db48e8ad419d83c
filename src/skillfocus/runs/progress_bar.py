"""Progress in the terminal: one bar with the remaining time and the current activity.

Without a terminal (in a log file, say), a line per tenth of the work is printed instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from skillfocus._internal.terminal import Terminal

if TYPE_CHECKING:
    from skillfocus.runs.status import JobStatus


class ProgressBar:
    """A progress bar; its methods are the callbacks that long-running functions take.

        with ProgressBar(Console(stderr=True), "sweep") as bar:
            sweep(…, progress=bar.report)

    Args:
        console: Where the bar is drawn.
        title: What is being done, at the left of the bar.
    """

    def __init__(self, console: Console, title: str) -> None:
        self.console, self.title = console, title
        self._tenths_printed = 0
        columns = (
            TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1)),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:3.0f} %", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            TextColumn(
                "{task.fields[activity]}", markup=False, table_column=Column(no_wrap=True, ratio=2)
            ),
        )
        self.bar = Progress(
            *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
        )
        self._task = self.bar.add_task(title, total=1.0, activity="compiling")

    def __enter__(self) -> ProgressBar:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def report(self, fraction: float, activity: str) -> None:
        """Show the fraction done and the current activity; a `core.progress.Progress` callback."""
        self.bar.update(self._task, completed=fraction, activity=activity)
        tenths = int(fraction * 10)
        if not self.console.is_terminal and tenths > self._tenths_printed:
            self._tenths_printed = tenths
            self.console.print(
                f"{self.title}: {fraction:.0%}, {activity}",
                highlight=False, markup=False, soft_wrap=True,
            )  # fmt: skip

    def watch(self, status: JobStatus) -> None:
        """Show a job's status; the `watch` callback of `run_all`."""
        self.report(status.fraction, status.activity)

    def __call__(self, status: JobStatus) -> None:
        """Same as `watch`."""
        self.watch(status)


@contextmanager
def progress_bar(title: str = "runs") -> Iterator[ProgressBar]:
    """Show a progress bar on standard error while the block runs.

        with progress_bar() as bar:
            run_all(runs, store, watch=bar.watch)

    Args:
        title: What is being done, at the left of the bar.
    """
    with ProgressBar(Terminal(stderr=True), title) as bar:
        yield bar
