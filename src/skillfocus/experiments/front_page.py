"""The report's main page up to its appendix: the paper's claims, then figure by figure."""

from __future__ import annotations

from collections.abc import Sequence

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.figure_pages import DrawnPage
from skillfocus.experiments.formatting import MISSING, capitalize, setup_name, setup_title
from skillfocus.experiments.paper_claims import (
    FIGURE_TITLES,
    PAPER_CLAIMS,
    figure_page,
    figure_title,
)
from skillfocus.experiments.paper_verdicts import PaperVerdict
from skillfocus.report.document import Block, Heading, Listing, Paragraph, Table

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
CAUSE_COLUMN = "cause, where it differs"
SETUP_DESCRIPTIONS = {
    ("paper", "literal"): "Q-learning to the letter of the paper",
    ("paper", "q-learning"): "with the settings closest to the paper's that learn",
    ("paper", "planning"): "the paper's settings, skills planned exactly",
    ("best", "planning"): "the settings that work best, skills planned exactly",
}
"""What the columns are, by preset and learner."""


def opening_blocks(verdicts: Sequence[PaperVerdict], setups: Sequence[Setup]) -> list[Block]:
    """Return how to read the report, and the table of the paper's claims.

    Args:
        verdicts: The paper's claims that have results.
        setups: All setups that have results, in the order of the columns.
    """
    columns = ", ".join(f"**{setup_title(s)}** ({_description(s)})" for s in setups)
    reading: list[Block] = [
        Paragraph(
            "Each claim of the paper is judged by detailed claims, one per world and agent; a cell "
            "counts in brackets how many of them show at least the claimed direction. "
            f"Columns: {columns}. [How verdicts are reached](#how-verdicts-are-reached) and "
            "every detailed claim are in the [appendix](#appendix)."
        )
    ]
    if not verdicts:
        return reading
    return [*reading, claims_table(verdicts, setups, _table_title(len(verdicts)), main=True)]


def _description(setup: Setup) -> str:
    return SETUP_DESCRIPTIONS.get((setup.preset, setup.learner), setup_name(setup))


def _table_title(n: int) -> str:
    total = len(PAPER_CLAIMS)
    if n == total:
        return f"The paper's {NUMBER_WORDS[total]} claims"
    return f"{NUMBER_WORDS[n].capitalize()} of the paper's {NUMBER_WORDS[total]} claims"


def claims_table(
    verdicts: Sequence[PaperVerdict], setups: Sequence[Setup], title: str, *, main: bool
) -> Table:
    """Return a table of claims of the paper, with a column per setup.

    Args:
        verdicts: The claims, one per row.
        setups: The setups, one per column.
        title: The table's title.
        main: Whether it is for the main page: figures are links to their sections, which name the
            causes. Elsewhere, a last column does.
    """
    rows = []
    for verdict in verdicts:
        claim = verdict.claim
        figure = f"Figure {claim.figure}"
        if main:
            figure = f"[{figure}](#{Heading(figure_title(claim.figure)).anchor})"
        cells = [str(verdict.tallies[s]) if s in verdict.tallies else MISSING for s in setups]
        name = f"**{claim.name}** ({figure}): {claim.statement}"
        rows.append([name, *cells, *([] if main else [verdict.explanation or MISSING])])
    titles = [setup_title(setup) for setup in setups]
    return Table(title, ["claim", *titles, *([] if main else [CAUSE_COLUMN])], rows)


def figure_blocks(pages: Sequence[DrawnPage], verdicts: Sequence[PaperVerdict]) -> list[Block]:
    """Return a section per figure of the paper that has results.

    Args:
        pages: The drawn pages.
        verdicts: The paper's claims that have results.
    """
    by_name = {page.name: page for page in pages}
    blocks: list[Block] = []
    for figure in FIGURE_TITLES:
        if page := by_name.get(figure_page(figure)):
            mine = [verdict for verdict in verdicts if verdict.claim.figure == figure]
            blocks += [Heading(figure_title(figure)), *_figure_section(figure, page, mine)]
    return blocks


def _figure_section(figure: int, page: DrawnPage, verdicts: Sequence[PaperVerdict]) -> list[Block]:
    """What comes out, the figure, verdicts, causes, and a link to the page."""
    blocks: list[Block] = []
    if told := page.outcome():
        setup, sentence = told
        blocks.append(Paragraph(f"**{capitalize(setup_title(setup))}:** {sentence}"))
    if drawn := page.main_picture():
        setup, picture = drawn
        blocks.append(picture.with_caption(f"Figure {figure} with {setup_name(setup)}."))
    items = []
    for verdict in verdicts:
        cells = [f"{setup_title(s)} {tally}" for s, tally in verdict.tallies.items()]
        cause = f". {verdict.explanation}" if verdict.differs else "."
        items.append(f"**{verdict.claim.name}**: {', '.join(cells)}{cause}")
    blocks += [Listing(items)] if items else []
    return [*blocks, Paragraph(f"[Figure {figure} in full](page:{page.name})")]


def other_pages(pages: Sequence[DrawnPage]) -> list[Block]:
    """Return links to the pages of experiments that belong to no figure of the paper."""
    figures = {figure_page(figure) for figure in FIGURE_TITLES}
    items = []
    for page in pages:
        if page.name not in figures:
            summary = f": {told}" if (told := page.summary()) else ""
            items.append(f"[{page.title}](page:{page.name}){summary}")
    return [Heading("More experiments"), Listing(items)] if items else []
