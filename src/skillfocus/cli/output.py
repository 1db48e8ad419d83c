"""What the commands share for printing: results on standard output, everything else beside it."""

from __future__ import annotations

import json

from rich.console import Console

err = Console(stderr=True)
WIDE = 160
"""Columns of a table that goes to a file or another program."""


def _out() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)


def say(line: str) -> None:
    err.print(line, highlight=False, markup=False, soft_wrap=True)


def print_json(document: dict) -> None:
    print(json.dumps(document, indent=2))


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from skillfocus.figures.tables import table

    out = _out()
    out.print(title, style="italic", highlight=False, markup=False)
    out.print(table(None, columns, rows))


def show_runs(runs: list[dict], as_json: bool) -> None:
    """What skills do, as tables or as one document."""
    if as_json:
        print_json({"runs": runs})
        return
    from skillfocus.figures.tables import effects_tables

    out = _out()
    for table in effects_tables(runs):
        out.print(table)
    covered = [run for run in runs if "coverage" in run]
    if covered:
        rows = [
            [*(str(r[name]) for name in ("world", "objective", "seed")),
             *(f"{c:.3f}" for c in r["coverage"]),
             f"{r['auc']:.3f}", "exact" if r["coverage_exact"] else "10 trees"]
            for r in covered
        ]  # fmt: skip
        columns = ["world", "objective", "seed", "1", "2", "3", "4", "5", "AUC", ""]
        print_table("Coverage of chains of 1 to 5 skills", columns, rows)
