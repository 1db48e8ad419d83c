from __future__ import annotations

import pytest

from frames import make_costs, sample_results
from paths import ROOT
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import SHORTFALLS
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.experiment import UNEXPLAINED
from skillfocus.experiments.registry import get_experiment, select_experiments
from skillfocus.experiments.report import TITLE, build_report
from skillfocus.experiments.results import load_results
from skillfocus.experiments.sections import analyze_results
from skillfocus.report.document import Picture, to_markdown
from skillfocus.report.writing import write_markdown, write_report

EXPERIMENTS = select_experiments(["all"])


@pytest.mark.slow
def test_the_report_comes_from_results_alone(tmp_path):
    frame = sample_results()
    blocks, sections = build_report(frame, make_costs(frame), EXPERIMENTS)
    text = to_markdown(blocks, "figures")
    assert "| the paper's settings, planning | 24 | 2 | 24.0 h |" in text
    assert "4.69 (3.13 to 7.02)" in text
    assert "skillfocus reproduce coverage --preset paper --learner planning --seeds 2" in text
    assert "- [In short](#in-short)" in text
    assert "Planned VIC remembers the whole first state" in text  # why a claim falls short
    assert [section.experiment for section in sections] == EXPERIMENTS
    blocks = build_report(frame, make_costs(frame), [get_experiment("coverage")])[0]
    page = write_report(blocks, tmp_path / "out", TITLE)
    made = sorted(p.name for p in (tmp_path / "out" / "figures").iterdir())
    name = "paper-planning-figure-2-coverage"
    assert {f"{name}.pdf", f"{name}.png", f"{name}.svg"} <= set(made)
    assert "frontier.png" not in made  # without ideal skills there is nothing to compare with
    assert page.read_text().count("<img") == sum(isinstance(b, Picture) for b in blocks)
    again = to_markdown(
        build_report(frame, make_costs(frame), [get_experiment("coverage")])[0], "figures"
    )
    assert (tmp_path / "out" / "report.md").read_text() == again


def test_explanations_fit_the_claim_the_learner_and_the_preset():
    downstream, effects = get_experiment("downstream"), get_experiment("side-effects")
    q_learning, best = Setup(learner="q-learning"), Setup("best")
    assert downstream.explain("downstream-forage-world-focused-vic", Setup()).startswith("Two ski")
    assert "Random moves" in downstream.explain("fails-four-rooms-primitives", Setup())
    assert "remember" in downstream.explain("fails-four-rooms-vic", Setup())
    assert "remember" not in downstream.explain("fails-four-rooms-vic", q_learning)
    assert "intra-option" in downstream.explain("fails-four-rooms-vic", best)
    assert effects.explain("effects-four-rooms-focused-vic-vic", Setup()) == UNEXPLAINED


@pytest.mark.slow
def test_the_committed_report_is_what_its_results_say(tmp_path):
    frame, taken = load_results(ROOT / "results")
    write_markdown(build_report(frame, taken, EXPERIMENTS)[0], tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == (ROOT / "docs" / "report.md").read_text()
    drawn = {path.name for path in (tmp_path / "report").iterdir()}
    assert drawn == {path.name for path in (ROOT / "docs" / "report").iterdir()}


@pytest.mark.slow
def test_whatever_falls_short_in_the_committed_results_has_a_cause():
    for section in analyze_results(load_results(ROOT / "results")[0], EXPERIMENTS):
        for claim in section.analysis.claims:
            if claim.source != "control" and claim.verdict in SHORTFALLS:
                why = section.experiment.explain(claim.id, section.setup)
                assert why != UNEXPLAINED, claim.id


def test_deviations_are_the_page_s():

    page = (ROOT / "docs" / "deviations.md").read_text()
    assert page.count("\n1. ") == 1
    numbers = [int(line.split(".")[0]) for line in page.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(DEVIATIONS) + 1))
