"""Progress: callbacks, parts of a whole, and a bar in the terminal.

Without a terminal (in a log file, say), a line per tenth of the work is printed instead of a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[float, str], None]
"""`progress(fraction, activity)`: the fraction done, and what is being done."""


def no_progress(fraction: float, activity: str) -> None:
    """Report nothing."""
    del fraction, activity


def part_of(progress: Progress, first: float, last: float, label: str = "") -> Progress:
    """Return a callback for one part of some work: its 0 to 1 is `first` to `last` of the whole,
    and its activities follow the label."""
    prefix = f"{label}: " if label else ""

    def report(fraction: float, activity: str) -> None:
        progress(first + fraction * (last - first), prefix + activity)

    return report


class ProgressBar:
    """A progress bar with the remaining time and the current activity.

    Args:
        console: The `rich` console to draw on.
        title: What is being done, at the left of the bar.
    """

    def __init__(self, console: Any, title: str) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        self.console, self.title = console, title
        self._tenths_printed = 0
        columns = (
            TextColumn(
                "{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)
            ),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:3.0f} %", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            TextColumn(
                "{task.fields[activity]}", markup=False, table_column=Column(no_wrap=True, ratio=2)
            ),
        )
        self.bar = Bar(
            *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
        )
        self._task = self.bar.add_task(title, total=1.0, activity="compiling")

    def __enter__(self) -> ProgressBar:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, fraction: float, activity: str) -> None:
        """Show the fraction done and the current activity; the bar is a `Progress`."""
        self.bar.update(self._task, completed=fraction, activity=activity)
        tenths = int(fraction * 10)
        if not self.console.is_terminal and tenths > self._tenths_printed:
            self._tenths_printed = tenths
            self.console.print(
                f"{self.title}: {fraction:.0%}, {activity}",
                highlight=False, markup=False, emoji=False, soft_wrap=True,
            )  # fmt: skip


@contextmanager
def progress_bar(title: str = "runs") -> Iterator[ProgressBar]:
    """Show a progress bar on standard error while the block runs.

        with progress_bar() as bar:
            run_all(runs, store, progress=bar)

    Args:
        title: What is being done, at the left of the bar.
    """
    from skillfocus.terminal import make_console

    with ProgressBar(make_console(stderr=True), title) as bar:
        yield bar
