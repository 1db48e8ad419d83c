"""Progress on the terminal: one bar with the time left and what is being done; where there is no
terminal, a line per tenth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Column

if TYPE_CHECKING:
    from skillfocus.runs.status import Status


class Progress:
    def __init__(self, console: Console, what: str) -> None:
        self.console, self.what, self.tenth, self.told_stop = console, what, 0, False
        self.span = 0.0, 1.0
        """The part of the work that the job being watched is."""
        columns = (
            TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1)),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:3.0f} %", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            TextColumn(
                "{task.fields[what]}", markup=False, table_column=Column(no_wrap=True, ratio=2)
            ),
        )
        self.bar = Bars(
            *columns, console=console, transient=True, expand=True, disable=not console.is_terminal
        )
        self.task = self.bar.add_task(what, total=1.0, what="compiling")

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def report(self, fraction: float, what: str) -> None:
        self.bar.update(self.task, completed=fraction, what=what)
        if not self.console.is_terminal and int(fraction * 10) > self.tenth:
            self.tenth = int(fraction * 10)
            self._say(f"{self.what}: {fraction:.0%}, {what}")

    def watch(self, status: Status) -> None:
        """Show how a job stands (see `jobs.run_all`)."""
        if status.stopping and status.running and not self.told_stop:
            self.told_stop = True
            count = len(status.running)
            self._say(
                f"interrupted: finishing {count} {'run' if count == 1 else 'runs'} in flight; "
                f"Ctrl-C again abandons {'it' if count == 1 else 'them'}"
            )
        # Runs that were found took no time: they would make what is left look quick.
        fresh = status.over - status.found + sum(status.running.values())
        fraction = fresh / max(status.total - status.found, 1)
        parts = [f"{status.over} of {status.total} runs"]
        if status.failures:
            parts.append(f"{len(status.failures)} failed")
        if status.others:
            parts.append("waiting for the runs of another command")
        if status.running:
            first, *others = status.running
            now = re.sub("_[0-9a-f]{16}$", "", first)
            parts.append(f"now {now}" + (f" and {len(others)} more" if others else ""))
        first, last = self.span
        self.report(first + fraction * (last - first), ", ".join(parts))

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(what: str = "runs") -> Iterator[Callable[[Status], None]]:
    """A bar on standard error: `with progress_bar() as watch: run_all(…, watch=watch)`."""
    with Progress(Console(stderr=True), what) as progress:
        yield progress.watch


def summary(status: Status, folder: object) -> str:
    """`60 runs: 41 done now (2 min 3 s, CPU 4 min), 18 found in out, 1 failed`"""
    parts = []
    if status.done:
        cpu = duration(status.cpu_seconds)
        parts.append(f"{status.done} done now ({duration(status.seconds)}, CPU {cpu})")
    if status.found:
        parts.append(f"{status.found} found in {folder}")
    if status.failures:
        parts.append(f"{len(status.failures)} failed")
    if left := status.total - status.over:
        parts.append(f"{left} left to do")
    return f"{status.total} {'run' if status.total == 1 else 'runs'}: {', '.join(parts) or 'none'}"


def duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
