"""Detailed claims as the report shows them: a table, a record of JSON, and colours of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    REACHED,
    REPRODUCED,
    Claim,
)
from skillfocus.experiments.formatting import MISSING, format_interval
from skillfocus.experiments.paper_verdicts import PARTLY
from skillfocus.experiments.sections import Section
from skillfocus.report.document import Table

VERDICT_CLASSES = {
    REPRODUCED: "yes", REACHED: "yes", DIRECTION_ONLY: "partly", PARTLY: "partly",
    NOT_REPRODUCED: "no", MISSED: "no",
}  # fmt: skip
"""Colours of verdicts on HTML pages (see `report.html_page.to_html`)."""


def claim_table(claims: Sequence[Claim], title: str = "Claims") -> Table:
    """Return a table of claims with the paper's number (or the aim), ours, and the verdict."""
    rows = [
        [
            f"`{c.id}`", c.statement, MISSING if c.reference is None else f"{c.reference:g}",
            format_interval(c.ours, 1 if abs(c.ours.estimate) >= 10 else 2),
            c.evidence or MISSING, c.verdict, str(c.seeds),
        ]
        for c in claims
    ]  # fmt: skip
    sources = {c.source for c in claims}
    reference = "aim" if sources == {"aim"} else "paper, or aim" if "aim" in sources else "paper"
    columns = ["name", "claim", reference, "ours", "evidence", "verdict", "seeds"]
    return Table(title, columns, rows)


def claim_records(sections: Sequence[Section]) -> list[dict[str, object]]:
    """Return all claims with their preset and learner, as JSON can hold them."""
    return [
        _record(section.setup, claim) for section in sections for claim in section.analysis.claims
    ]


def table_records(sections: Sequence[Section]) -> list[dict[str, object]]:
    """Return all tables that have rows with their experiment and setup, as JSON can hold them."""
    return [
        {
            "experiment": section.experiment.name, "preset": section.setup.preset,
            "learner": section.setup.learner, "title": table.title, "columns": table.columns,
            "rows": table.rows, "note": table.note,
        }
        for section in sections
        for table in section.analysis.tables
        if table.rows
    ]  # fmt: skip


def _record(setup: Setup, claim: Claim) -> dict[str, object]:
    return {
        "id": claim.id, "preset": setup.preset, "learner": setup.learner,
        "statement": claim.statement, "source": claim.source,
        "paper": claim.reference if claim.source == "paper" else None,
        "aim": claim.reference if claim.source == "aim" else None,
        "ours": _finite(claim.ours.estimate),
        "interval": [_finite(claim.ours.low), _finite(claim.ours.high)],
        "evidence": claim.evidence, "verdict": claim.verdict, "seeds": claim.seeds,
    }  # fmt: skip


def _finite(value: float) -> float | None:
    """JSON has neither infinity nor nan: a single seed has no interval."""
    return value if abs(value) < float("inf") else None
