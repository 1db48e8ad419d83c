"""The report, built from reduced results and costs alone.

It has layers: the main page (`front_page`, then `appendix`), a page per figure of the paper and per
further experiment (`figure_pages`), and the same content as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skillfocus.core.progress import Progress, no_progress
from skillfocus.experiments.appendix import appendix_blocks
from skillfocus.experiments.cases import SETUPS, Setup
from skillfocus.experiments.claim_blocks import claim_records, table_records
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.figure_pages import DrawnPage, build_page, draw_pages
from skillfocus.experiments.front_page import (
    claims_table,
    figure_blocks,
    opening_blocks,
    other_pages,
)
from skillfocus.experiments.paper_verdicts import PaperVerdict, judge_paper_claims
from skillfocus.experiments.sections import Section, analyze_results
from skillfocus.report.document import Block, Heading, Player, Report

TITLE = "Focused skill discovery, reproduced"


def build_report(
    frame: pl.DataFrame,
    costs: pl.DataFrame,
    experiments: Sequence[Experiment],
    progress: Progress = no_progress,
    players: Sequence[Player] = (),
) -> tuple[Report, list[Section]]:
    """Build the report.

    Args:
        frame: Reduced results (columns: `results.RESULTS`).
        costs: Costs (columns: `results.COSTS`).
        experiments: The experiments to report, in this order.
        progress: Progress callback.
        players: Players of skills, shown on the page of the experiment that illustrates them.

    Returns:
        The report, and the analyses behind it.
    """
    sections = analyze_results(frame, experiments)
    verdicts = judge_paper_claims(sections)
    drawn = draw_pages(sections, experiments, progress)
    present = {section.setup for section in sections}
    setups = [setup for setup in SETUPS if setup in present]
    blocks = [
        Heading(TITLE, 1), *opening_blocks(verdicts, setups), *figure_blocks(drawn, verdicts),
        *other_pages(drawn), *appendix_blocks(sections, verdicts, costs),
    ]  # fmt: skip
    pages = [build_page(page, frame, players, _verdicts_of(page, verdicts)) for page in drawn]
    data = {
        "claims_of_the_paper": [verdict.record() for verdict in verdicts],
        "claims": claim_records(sections),
        "tables": table_records(sections),
    }
    return Report(TITLE, blocks, pages, data), sections


def _verdicts_of(page: DrawnPage, verdicts: Sequence[PaperVerdict]) -> list[Block]:
    """The table of the paper's claims that a page bears on."""
    mine = [verdict for verdict in verdicts if verdict.claim.page == page.name]
    setups: list[Setup] = list(dict.fromkeys(s for verdict in mine for s in verdict.tallies))
    return [claims_table(mine, setups, "Claims of the paper", main=False)] if mine else []
