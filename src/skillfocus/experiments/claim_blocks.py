"""The report's blocks about claims: counts of verdicts, every claim, and explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    REACHED,
    REPRODUCED,
    SHORTFALLS,
    UNDECIDED,
    Claim,
)
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import MISSING, capitalize, format_interval, setup_name
from skillfocus.experiments.sections import Section
from skillfocus.report.document import Block, Heading, Listing, Table

VERDICTS = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED, REACHED, MISSED)
"""Columns of the table of verdicts."""
VERDICT_CLASSES = {
    REPRODUCED: "yes", REACHED: "yes", DIRECTION_ONLY: "partly", NOT_REPRODUCED: "no", MISSED: "no",
}  # fmt: skip
"""Colours of verdicts on the HTML page (see `report.document.to_html`)."""
AIMS_TITLE = "Our own aims"


def verdict_blocks(sections: list[Section], experiments: Sequence[Experiment]) -> list[Block]:
    """Return a table of how many claims have which verdict, by group of claims and setup.

    Aims come last, those of all experiments together.

    Args:
        sections: The analyses, sorted by setup.
        experiments: The experiments, whose claim groups are the rows.
    """
    by_setup = _by_setup(sections)
    rows = []
    for experiment in experiments:
        for title in experiment.group_titles:
            for setup, members in by_setup:
                claims = _claims([s for s in members if s.experiment is experiment])
                mine = [c for c in claims if experiment.group_title(c.id) == title]
                rows += _verdict_row(title, setup, [c for c in mine if c.source != "aim"])
    for setup, members in by_setup:
        aims = [claim for claim in _claims(members) if claim.source == "aim"]
        rows += _verdict_row(AIMS_TITLE, setup, aims)
    return [Heading("In short"), Table("Verdicts", ["claims", "settings", *VERDICTS], rows)]


def _verdict_row(title: str, setup: Setup, claims: list[Claim]) -> list[list[str]]:
    counts = Counter(claim.verdict for claim in claims)
    if not counts:
        return []
    return [[title, setup_name(setup), *(str(counts[name] or "") for name in VERDICTS)]]


def _by_setup(sections: list[Section]) -> list[tuple[Setup, list[Section]]]:
    groups = groupby(sections, key=lambda section: section.setup)
    return [(setup, list(members)) for setup, members in groups]


def _claims(sections: list[Section]) -> list[Claim]:
    return [claim for section in sections for claim in section.analysis.claims]


def claim_blocks(sections: list[Section]) -> list[Block]:
    """Return every claim, setup by setup, and explanations of those that fall short.

    Args:
        sections: The analyses, sorted by setup.
    """
    blocks: list[Block] = [Heading("Every claim")]
    for setup, members in _by_setup(sections):
        if claims := _claims(members):
            blocks += [Heading(capitalize(setup_name(setup)), 3), _claim_table(claims)]
            blocks += _explanation_blocks(members)
    return blocks


def _claim_table(claims: list[Claim]) -> Table:
    rows = [
        [
            f"`{c.id}`", c.statement, MISSING if c.reference is None else f"{c.reference:g}",
            format_interval(c.ours, 1 if abs(c.ours.estimate) >= 10 else 2),
            c.evidence or MISSING, c.verdict, str(c.seeds),
        ]
        for c in claims
    ]  # fmt: skip
    columns = ["name", "claim", "paper, or aim", "ours", "evidence", "verdict", "seeds"]
    return Table("Claims", columns, rows)


def _explanation_blocks(sections: list[Section]) -> list[Block]:
    """Explanations of claims that fall short, each once with all claims that it applies to."""
    claims_of: dict[str, list[str]] = {}
    for section in sections:
        for claim in section.analysis.claims:
            if claim.verdict in SHORTFALLS:
                text = section.experiment.explain(claim.id, section.setup)
                claims_of.setdefault(text, []).append(f"`{claim.id}`")
    items = [f"{text} ({', '.join(claims)})" for text, claims in claims_of.items()]
    return [Heading("Where it falls short", 4), Listing(items)] if items else []
