"""Printing: results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillfocus._internal.terminal import Terminal

if TYPE_CHECKING:
    from skillfocus.runs.progress_bar import ProgressBar

err = Terminal(stderr=True)
LONG = 10**12
"""Counts from here on are shown as powers of ten."""
FILE_WIDTH = 160
"""Columns of a table that is written to a file or a pipe."""


def _stdout() -> Terminal:
    console = Terminal()
    return console if console.is_terminal else Terminal(width=FILE_WIDTH)


def say(line: str) -> None:
    """Print a line on standard error."""
    err.print(line, highlight=False, markup=False, soft_wrap=True)


def print_text(text: str) -> None:
    """Print text on standard output."""
    _stdout().print(text, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show_count(n: int) -> str:
    """Return a count as text: 1,664 or, of many digits, 3.1e+28."""
    return f"{n:,}" if n < LONG else f"{n:.1e}"


def progress_on_stderr(title: str) -> ProgressBar:
    """Return a progress bar on standard error, to be used in a `with` statement."""
    from skillfocus.runs.progress_bar import ProgressBar

    return ProgressBar(err, title)


def print_json(document: dict) -> None:
    """Print a JSON document on standard output."""
    print(json.dumps(document, indent=2))


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table with a title on standard output."""
    from skillfocus.figures.tables import table

    out = _stdout()
    out.print(title, style="italic", highlight=False, markup=False)
    out.print(table(None, columns, rows))


def show_runs(runs: list[dict], as_json: bool, strengths: dict[str, Any] | None = None) -> None:
    """Print what skills do: the records of `discover` and `evaluate`, as tables or as JSON.

    Args:
        runs: The records.
        as_json: Whether to print one JSON document.
        strengths: What `discover --strength auto` tried (`StrengthCurve.as_json`).
    """
    if as_json:
        print_json({"runs": runs, **({"strength_search": strengths} if strengths else {})})
        return
    if strengths:
        _show_strengths(strengths)
    from skillfocus.figures.tables import effects_tables

    out = _stdout()
    for table in effects_tables(runs):
        out.print(table)
    with_coverage = [run for run in runs if "coverage" in run]
    if with_coverage:
        rows = [
            [*(str(r[name]) for name in ("world", "objective", "seed")),
             *(f"{c:.3f}" for c in r["coverage"]),
             f"{r['auc']:.3f}", "exact" if r["coverage_exact"] else "10 trees"]
            for r in with_coverage
        ]  # fmt: skip
        columns = ["world", "objective", "seed", "1", "2", "3", "4", "5", "AUC", ""]
        print_table("Coverage of chains of 1 to 5 skills", columns, rows)


def _show_strengths(strengths: dict[str, Any]) -> None:
    rows = [
        [f"{p['strength']:g}{' *' if p['strength'] == strengths['strength'] else ''}",
         *(f"{p[name]:.3f}" for name in ("changes_alone", "side_effects", "avoidable"))]
        for p in strengths["points"]
    ]  # fmt: skip
    columns = ["strength", "best skills change targets alone", "side effects", "avoidable"]
    print_table("Strengths tried; * is taken", columns, rows)
