"""Progress callbacks: the type, a no-op, and parts of a whole."""

from __future__ import annotations

from collections.abc import Callable

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
