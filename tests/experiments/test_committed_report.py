"""The committed results, analyzed and drawn once for all tests of this file."""

from __future__ import annotations

import re

import pytest

from paths import ROOT
from skillfocus.experiments.paper_claims import APPENDIX_CLAIMS, PAPER_CLAIMS
from skillfocus.experiments.registry import ON_REQUEST, get_experiment, select_experiments
from skillfocus.experiments.report import build_report
from skillfocus.experiments.results import load_results
from skillfocus.report.document import pictures_of
from skillfocus.report.html_page import to_html
from skillfocus.report.writing import write_markdown


@pytest.fixture(scope="module")
def committed():
    """The report of `results/` and its sections."""
    experiments = [*select_experiments(["all"]), *map(get_experiment, ON_REQUEST)]
    return build_report(*load_results(ROOT / "results"), experiments)


@pytest.mark.slow
def test_the_committed_report_is_what_its_results_say(committed, tmp_path):
    report, _ = committed
    write_markdown(report, tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == (ROOT / "docs" / "report.md").read_text()
    pages = ROOT / "docs" / "report"
    drawn = {path.name for path in (tmp_path / "report").iterdir()}
    assert drawn == {path.name for path in pages.iterdir()}
    for path in (tmp_path / "report").glob("*.md"):
        assert path.read_text() == (pages / path.name).read_text(), path.name
    assert len(pictures_of(report.blocks)) <= 5
    assert "<iframe" not in to_html(report.blocks, "T")


@pytest.mark.slow
def test_every_claim_of_the_paper_bears_on_exactly_one(committed):
    _, sections = committed
    seen = set()
    for section in sections:
        for claim in section.analysis.claims:
            names = [paper.name for paper in PAPER_CLAIMS if paper.matches(claim.id)]
            appendix = re.fullmatch(APPENDIX_CLAIMS, claim.id) is not None
            assert len(names) == (claim.source == "paper" and not appendix), claim.id
            seen.update(names)
    assert seen == {paper.name for paper in PAPER_CLAIMS}
