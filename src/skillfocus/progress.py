"""Progress: callbacks, parts of a whole, and a bar in the terminal.

Without a terminal (in a log file, say), a line per tenth of the work is printed instead of a bar.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

Progress = Callable[[float, str], None]
"""`progress(fraction, activity)`: the fraction done, and what is being done."""


pending_signals: list[KeyboardInterrupt] = []
"""What signals have raised that are to end the command; Python may have dropped it."""


def raise_pending_signal() -> None:
    """Raise what a signal has raised before, in case Python dropped it."""
    if pending_signals:
        raise pending_signals[-1]


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

        def text(template: str, **column: Any) -> TextColumn:
            return TextColumn(template, markup=False, table_column=Column(no_wrap=True, **column))

        columns = (
            text("{task.description}", ratio=1),
            BarColumn(bar_width=20),
            text("{task.percentage:3.0f} %"),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            text("{task.fields[activity]}", ratio=2),
        )
        self._is_drawn = console.is_terminal or console.is_jupyter
        self.bar = Bar(
            *columns, console=console, transient=True, expand=True, disable=not self._is_drawn
        )
        self._task = self.bar.add_task(title, total=1.0, activity="compiling")

    def __enter__(self) -> ProgressBar:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, fraction: float, activity: str) -> None:
        """Show the fraction done and the current activity; the bar is a `Progress`."""
        raise_pending_signal()
        self.bar.update(self._task, completed=fraction, activity=activity)
        tenths = int(fraction * 10)
        if not self._is_drawn and tenths > self._tenths_printed:
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
    with ProgressBar(make_console(stderr=True), title) as bar:
        yield bar


SECONDS_UNSEEN = 2.0
"""What takes no longer shows no bar."""


@contextmanager
def shown(progress: Progress | None, title: str) -> Iterator[Progress]:
    """Yield a callback that a function of the library reports its progress to.

    Args:
        progress: The user's own callback, or `no_progress` for silence. None shows a bar once
            `SECONDS_UNSEEN` have passed, for people only: in a terminal or a notebook, not in a log
            file.
        title: What is being done, at the left of the bar.
    """
    if progress is not None:
        yield progress
        return
    due, bar = time.monotonic() + SECONDS_UNSEEN, no_progress

    def report(fraction: float, activity: str) -> None:
        nonlocal due, bar
        if time.monotonic() >= due:
            due, console = float("inf"), make_console(stderr=True)
            if console.is_terminal or console.is_jupyter:
                bar = stack.enter_context(ProgressBar(console, title))
        bar(fraction, activity)

    with ExitStack() as stack:
        yield report


# --------------------
#
# Terminals: text that cannot control them, and Ctrl-C while the command imports what it needs

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, except tabs and line feeds
    "\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # changes of the writing direction
)


def drop_controls(text: str) -> str:
    """Return text without control characters except tabs and line feeds.

    Names in files of skills and of runs may come from a stranger. Escape sequences in them could
    move the cursor, rewrite lines that were printed before, or set the clipboard.
    """
    return _CONTROLS.sub("", text)


def make_console(**settings: Any) -> Any:
    """Return a `rich` console that drops control characters from all text."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Terminal(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text = segment.text if segment.control else drop_controls(segment.text)
                yield Segment(text, segment.style, segment.control)

    return Terminal(**settings, emoji=False)
