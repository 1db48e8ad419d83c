"""Our numbers beside the paper's, as one page of tables: docs/results.md is made from it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.experiments.by_seed import mean_over_seeds, values_by_seed
from skillfocus.experiments.cases import SETUPS, Setup
from skillfocus.experiments.formatting import MISSING, agent_name, format_number, setup_title
from skillfocus.experiments.paper_numbers import PaperNumber, paper_numbers
from skillfocus.experiments.pipeline import Pipeline
from skillfocus.experiments.presets import WORLD_NAMES
from skillfocus.experiments.reduce import PROXY_RETURN, PROXY_TRUE_RETURN, TASK_STEPS
from skillfocus.report.document import Block, Heading, Page, Paragraph, Table

TITLES = {
    "auc": "State coverage: area under the curve",
    TASK_STEPS: "Steps after 20,000 episodes of the task",
    PROXY_RETURN: "Proxy return after 20,000 episodes of the proxy",
    PROXY_TRUE_RETURN: "True return after 20,000 episodes of the proxy",
}
INTRODUCTION = (
    f"Means over seeds of results' version {Pipeline.version}; their number is in brackets. The "
    "[report](report.md) has intervals, verdicts and causes, and [reproduction](reproduction.md) "
    "says how to make all of it again. This page is generated."
)


def numbers_page(frame: pl.DataFrame) -> Page:
    """Return the page: a table per figure, metric and world, with a column per setup.

    Args:
        frame: Reduced results of all setups.
    """
    blocks: list[Block] = [Heading("Results", 1), Paragraph(INTRODUCTION)]
    numbers = paper_numbers()
    for figure, metric, world in dict.fromkeys((n.figure, n.metric, n.world) for n in numbers):
        mine = [n for n in numbers if (n.figure, n.metric, n.world) == (figure, metric, world)]
        if rows := _rows(frame, mine):
            title = f"Figure {figure}, {WORLD_NAMES[world]}. {TITLES[metric]}"
            columns = ["agent", "paper", *(setup_title(setup) for setup in SETUPS)]
            blocks.append(Table(title, columns, rows))
    return Page("results", "Results", blocks)


def _rows(frame: pl.DataFrame, numbers: Sequence[PaperNumber]) -> list[list[str]]:
    rows = []
    for number in numbers:
        digits = 1 if number.metric == TASK_STEPS else 2
        cells = [_cell(frame, setup, number, digits) for setup in SETUPS]
        if any(cell != MISSING for cell in cells):
            paper = format_number(number.value, digits)
            rows.append([agent_name(number.agent), paper, *cells])
    return rows


def _cell(frame: pl.DataFrame, setup: Setup, number: PaperNumber, digits: int) -> str:
    own = frame.filter((pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner))
    values = values_by_seed(own, number.metric, number.world, number.agent)
    if not values:
        return MISSING
    return f"{format_number(mean_over_seeds(values).estimate, digits)} ({len(values)})"
