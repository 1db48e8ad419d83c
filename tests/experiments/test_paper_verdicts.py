from __future__ import annotations

import json
from dataclasses import replace

import pytest

from frames import sample_results
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Analysis,
    Claim,
)
from skillfocus.experiments.paper_verdicts import PARTLY, Tally, judge_paper_claims
from skillfocus.experiments.registry import get_experiment
from skillfocus.experiments.sections import analyze_results
from skillfocus.metrics.statistics import Interval

YES, HALF, NO, OPEN = REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNDECIDED


@pytest.mark.parametrize(
    ("verdicts", "expected", "printed"),
    [([YES, YES], REPRODUCED, "reproduced (2 of 2)"),
     ([YES, HALF], DIRECTION_ONLY, "direction only (2 of 2)"),
     ([HALF, HALF], DIRECTION_ONLY, "direction only (2 of 2)"),
     ([OPEN, OPEN], UNDECIDED, "undecided (0 of 2)"),
     ([NO, NO], NOT_REPRODUCED, "not reproduced (0 of 2)"),
     ([NO, OPEN], NOT_REPRODUCED, "not reproduced (0 of 2)"),
     ([YES, OPEN], PARTLY, "partly (1 of 2)"),
     ([HALF, YES, NO], PARTLY, "partly (2 of 3)")],
)  # fmt: skip
def test_verdicts_are_aggregated(verdicts, expected, printed):
    tally = Tally.of(verdicts)
    assert tally.verdict == expected
    assert str(tally) == printed
    assert sum(tally.counts.values()) == tally.total == len(verdicts)


def sections_with(*claims: tuple[str, str, str]):
    """One section whose claims are (id, verdict, source)."""
    (section,) = analyze_results(sample_results(), [get_experiment("coverage")])
    one = Interval(1.0, 0.5, 1.5)
    made = [Claim(i, "…", None, one, verdict, 2, source=source) for i, verdict, source in claims]
    return [replace(section, analysis=Analysis(made))]


def test_claims_are_judged_setup_by_setup():
    planned = sections_with(("coverage-vic", YES, "paper"), ("coverage-dusdi-vic", NO, "paper"))
    best = [replace(s, setup=Setup("best")) for s in sections_with(("coverage-vic", OPEN, "paper"))]
    coverage, dusdi = judge_paper_claims(planned + best)
    assert (coverage.claim.name, dusdi.claim.name) == ("coverage", "coverage-dusdi")
    assert {s: t.verdict for s, t in coverage.tallies.items()} == {
        Setup(): REPRODUCED, Setup("best"): UNDECIDED,
    }  # fmt: skip
    assert list(dusdi.tallies) == [Setup()]


def test_aims_and_controls_are_no_claims_of_the_paper():
    assert judge_paper_claims(sections_with(("coverage-vic", YES, "aim"))) == []


def test_causes_are_given_where_results_differ():
    (same,) = judge_paper_claims(sections_with(("proxy-w-vic", YES, "paper")))
    assert (same.differs, same.explanation, same.record()["cause"]) == (False, "", "")
    sections = sections_with(("proxy-w-vic", HALF, "paper"))
    (alone,) = judge_paper_claims(sections)
    assert alone.explanation == alone.claim.cause
    other = replace(alone, flips=("ties=random (1 → 2 of 3)",))
    told = f"{alone.claim.cause} Statements that hold: ties=random (1 → 2 of 3)."
    assert other.explanation == told


def test_a_record_is_json():
    (verdict,) = judge_paper_claims(sections_with(("ablation-zero-focused-vic", NO, "paper")))
    record = json.loads(json.dumps(replace(verdict, flips=("start=any",)).record()))
    assert record == {
        "name": "penalty", "figure": 5, "statement": verdict.claim.statement,
        "verdicts": {"paper/planning": "not reproduced"},
        "counts": {"paper/planning": {
            "reproduced": 0, "direction only": 0, "not reproduced": 1, "undecided": 0,
        }},
        "cause": verdict.claim.cause, "flips": ["start=any"],
    }  # fmt: skip
