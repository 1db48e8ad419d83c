"""Progress on the terminal: one bar over all runs, or a line per tenth where there is none."""

from __future__ import annotations

from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars


class Progress:
    def __init__(self, console: Console, what: str, total: int) -> None:
        self.console, self.what, self.total, self.tenth = console, what, total, 0
        self.lock = Lock()
        self.done: dict[int, float] = {}
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[what]}"),
        )
        self.bar = Bars(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task(what, total=1.0, what="compiling")

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def report(self, run: int, fraction: float, what: str) -> None:
        """Run number `run` is so far done; any thread may say so."""
        with self.lock:
            self.done[run] = fraction
            overall = sum(self.done.values()) / self.total
            self.bar.update(self.task, completed=overall, what=what)
            if not self.console.is_terminal and int(overall * 10) > self.tenth:
                self.tenth = int(overall * 10)
                self.console.print(f"{self.what}: {overall:.0%}, {what}", highlight=False)
