"""The report's pages: one per figure of the paper, and those of other experiments.

A page shows its experiments setup by setup: the command, the figure, the tables, and the claims,
collapsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import polars as pl

from skillfocus._internal.file_names import file_name
from skillfocus.core.progress import Progress, no_progress
from skillfocus.experiments.cases import FURTHER_SETUPS, SEED_SHARES, SETUPS, Setup
from skillfocus.experiments.claim_blocks import claim_table
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import capitalize, setup_name
from skillfocus.experiments.outcomes import default_outcome
from skillfocus.experiments.paper_claims import FIGURE_TITLES, figure_page, figure_title
from skillfocus.experiments.presets import OBJECTIVES
from skillfocus.experiments.sections import Section
from skillfocus.report.document import (
    Block,
    Details,
    Heading,
    Page,
    Paragraph,
    Picture,
    Player,
)

PAGE_TITLES = {
    **{figure_page(figure): figure_title(figure) for figure in FIGURE_TITLES},
    "appendix": "The paper's appendix",
    "controls": "Controls",
    "readings": "What decides the paper's numbers",
}
"""Titles of pages; another page has the title of its first experiment."""
MAIN_SETUP = Setup("paper", "planning")
"""The setup whose figures the main page shows, if it has results."""


@dataclass(frozen=True)
class DrawnPage:
    """The sections of a page that have results, and their figures, drawn."""

    name: str
    title: str
    sections: list[Section]
    pictures: dict[tuple[str, Setup], Picture] = field(default_factory=dict)
    """Figures by experiment and setup."""

    def main_picture(self) -> tuple[Setup, Picture] | None:
        """The figure to show on the main page, and its setup; None without figures."""
        drawn = [s for s in self.sections if (s.experiment.name, s.setup) in self.pictures]
        if not drawn:
            return None
        chosen = _preferred([s for s in drawn if s.experiment is drawn[0].experiment])
        return chosen.setup, self.pictures[chosen.experiment.name, chosen.setup]

    def outcome(self) -> tuple[Setup, str] | None:
        """The setup to speak of on the main page, and what comes out of it; None without claims."""
        told = [s for s in self.sections if s.analysis.claims]
        told = [s for s in told if s.experiment.outcome] or told
        if not told:
            return None
        section = _preferred(told)
        return section.setup, _sentence(section)

    def summary(self) -> str:
        """What comes out, in one sentence, or one per setup for networks; empty without claims."""
        networks = [s for s in self.sections if s.setup in FURTHER_SETUPS and s.analysis.claims]
        if networks:
            named = [f"{setup_name(s.setup)}: {_sentence(s)}" for s in networks]
            return " ".join(map(capitalize, named))
        told = self.outcome()
        return told[1] if told else ""


def _sentence(section: Section) -> str:
    claims, outcome = section.analysis.claims, section.experiment.outcome
    return (outcome(claims) if outcome else "") or default_outcome(claims)


def _preferred(sections: list[Section]) -> Section:
    return next((s for s in sections if s.setup == MAIN_SETUP), sections[0])


def draw_pages(
    sections: Sequence[Section],
    experiments: Sequence[Experiment],
    progress: Progress = no_progress,
) -> list[DrawnPage]:
    """Draw the figures of all sections that have results, and group them by page.

    Args:
        sections: The analyses, sorted by setup.
        experiments: The experiments, in the order of the report.
        progress: Progress callback.

    Returns:
        The pages that have results, in the order of their first experiments.
    """
    pages: dict[str, DrawnPage] = {}
    for number, experiment in enumerate(experiments):
        progress(number / len(experiments), f"drawing {experiment.name}")
        mine = [s for s in sections if s.experiment is experiment and has_results(s)]
        if not mine:
            continue
        name = experiment.page_name
        title = PAGE_TITLES.get(name, experiment.title)
        page = pages.setdefault(name, DrawnPage(name, title, []))
        page.sections.extend(mine)
        if experiment.figure is not None:
            page.pictures.update({(experiment.name, s.setup): _draw(s) for s in mine})
    return list(pages.values())


def has_results(section: Section) -> bool:
    """Return whether a section has anything to show."""
    tables = any(table.rows for table in section.analysis.tables)
    return bool(tables or section.analysis.claims or section.experiment.illustration)


def _draw(section: Section) -> Picture:
    experiment, setup = section.experiment, section.setup
    assert experiment.figure is not None
    name = file_name(f"{setup.preset}-{setup.learner}-{experiment.figure_name or experiment.name}")
    caption = f"{experiment.title}; {setup_name(setup)}. {experiment.caption}"
    return Picture(name, caption, experiment.figure(section.frame))


def build_page(
    page: DrawnPage, frame: pl.DataFrame, players: Sequence[Player], opening: Sequence[Block]
) -> Page:
    """Return a page of the report.

    Args:
        page: Its sections and figures.
        frame: Reduced results of all setups.
        players: Players of skills, shown with the experiment that illustrates them.
        opening: Blocks below its title.
    """
    blocks: list[Block] = [Heading(page.title, 1), Paragraph("[The report](page:)"), *opening]
    for _, members in groupby(page.sections, key=lambda section: section.experiment.name):
        mine = list(members)
        experiment = mine[0].experiment
        blocks.append(Heading(experiment.title))
        for section in mine:
            blocks += _section_blocks(page, section)
        blocks += experiment.closing(frame) if experiment.closing else []
        blocks += players if experiment.illustration else []
    return Page(page.name, page.title, blocks)


def _section_blocks(page: DrawnPage, section: Section) -> list[Block]:
    """The command, the figure, the tables and the claims of an experiment with a setup."""
    experiment, setup = section.experiment, section.setup
    main = main_rows(section.frame).filter(pl.col("variant") == "")
    found = main["seed"].n_unique() or 10 * section.frame["seed"].n_unique()
    seeds = round(found / SEED_SHARES.get(setup.learner, 1.0))
    flags = f"--learner {setup.learner} --seeds {seeds}"
    if setup in SETUPS:
        flags = f"--preset {setup.preset} {flags}"
    blocks: list[Block] = [
        Heading(capitalize(setup_name(setup)), 3),
        Paragraph(f"`skillfocus reproduce {experiment.name} {flags}`"),
    ]
    if picture := page.pictures.get((experiment.name, setup)):
        blocks.append(picture)
    blocks += [table for table in section.analysis.tables if table.rows]
    if claims := section.analysis.claims:
        blocks.append(Details(f"Every claim ({len(claims)})", [claim_table(claims)]))
    return blocks


def main_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the paper's agents; without any, all."""
    main = frame.filter(pl.col("agent").is_in(OBJECTIVES))
    return frame if main.is_empty() else main
