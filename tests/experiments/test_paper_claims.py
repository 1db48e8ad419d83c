from __future__ import annotations

import pytest

from skillfocus.experiments.paper_claims import (
    FIGURE_TITLES,
    PAPER_CLAIMS,
    figure_page,
    find_paper_claim,
)
from skillfocus.experiments.registry import select_experiments


def test_there_are_eight_of_five_figures():
    names = [claim.name for claim in PAPER_CLAIMS]
    assert len(set(names)) == len(names) == 8
    assert [claim.figure for claim in PAPER_CLAIMS] == [1, 2, 2, 3, 3, 3, 4, 5]
    assert set(FIGURE_TITLES) == {claim.figure for claim in PAPER_CLAIMS}
    for claim in PAPER_CLAIMS:
        assert claim.cause.endswith("."), claim.name
        assert not claim.statement.endswith("."), claim.name


@pytest.mark.parametrize(
    ("claim_id", "name"),
    [("effects-mud-world-focused-vic-dusdi-vic", "focus"), ("coverage-vic", "coverage"),
     ("coverage-lsd", "coverage"), ("coverage-dusdi-vic", "coverage-dusdi"),
     ("downstream-mud-world-focused-vic", "tasks"), ("fails-mud-world-primitives", "failures"),
     ("fails-mud-world-vic", "failures"), ("steps-mud-world-focused-vic-vic", "tasks"),
     ("fails-mud-world-dusdi-vic", "dusdi"), ("steps-mud-world-focused-vic-dusdi-vic", "dusdi"),
     ("proxy-mud-world-vic", "proxy"), ("ablation-zero-focused-vic", "penalty")],
)  # fmt: skip
def test_detailed_claims_bear_on_one(claim_id, name):
    assert find_paper_claim(claim_id).name == name
    assert sum(claim.matches(claim_id) for claim in PAPER_CLAIMS) == 1


@pytest.mark.parametrize("claim_id", ["skills-8-vic", "aim-proxy-mud-world", "control-zero", "x"])
def test_appendix_aims_and_controls_bear_on_none(claim_id):
    assert find_paper_claim(claim_id) is None


def test_every_figure_has_the_page_of_an_experiment():
    pages = {experiment.page_name for experiment in select_experiments(["all"])}
    assert pages == {*map(figure_page, FIGURE_TITLES), "appendix", "controls", "readings", "safety"}
