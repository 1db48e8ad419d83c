from __future__ import annotations

import polars as pl
import pytest

from frames import make_costs, sample_results
from paths import ROOT
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claim_blocks import VERDICTS
from skillfocus.experiments.claims import SHORTFALLS
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.experiment import UNEXPLAINED
from skillfocus.experiments.registry import get_experiment, select_experiments
from skillfocus.experiments.report import TITLE, build_report
from skillfocus.experiments.results import load_results
from skillfocus.experiments.sections import analyze_results
from skillfocus.report.document import Heading, Picture, Table, to_markdown
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


def tables_of(frame, *names):
    """The tables of a report by their titles; the last of a title."""
    experiments = [get_experiment(name) for name in names]
    blocks, _ = build_report(frame, make_costs(frame), experiments)
    return {block.title: block for block in blocks if isinstance(block, Table)}


def test_verdicts_are_counted_by_group_and_setup():
    """By hand: of the coverage claims one is direction only, one is reproduced."""
    frame = pl.concat(
        [sample_results(), sample_results().with_columns(learner=pl.lit("q-learning"))]
    )
    table = tables_of(frame, "coverage", "side-effects")["Verdicts"]
    assert table.columns[2:] == list(VERDICTS)
    counts = {(row[0], row[1].split(", ")[1]): row[2:] for row in table.rows}
    assert counts == {
        (more, "planning"): ["", "1", "", "", "", ""],
        (more, "Q-learning"): ["", "1", "", "", "", ""],
        (alike, "planning"): ["1", "", "", "", "", ""],
        (alike, "Q-learning"): ["1", "", "", "", "", ""],
        (fewer, "planning"): ["3", "", "", "", "", ""],
        (fewer, "Q-learning"): ["3", "", "", "", "", ""],
    }


more = "Focused skills cover more states than plain ones"
alike = "Focused and DUSDi skills cover comparable shares"
fewer = "Focused skills have fewer side effects than DUSDi's and plain ones"


def test_aims_are_counted_apart_from_the_paper_s_claims():
    rows = tables_of(sample_results(), "underspecified")["Verdicts"].rows
    assert [row[0] for row in rows] == [
        "Told the proxy, focused skills earn the true return",
        "Told the proxy, other skills do not", "Our own aims",
    ]  # fmt: skip
    assert rows[-1][2:] == ["", "", "", "", "1", "1"]


def test_claims_are_listed_with_the_paper_s_number_and_ours():
    (row,) = [r for r in tables_of(sample_results(), "coverage")["Claims"].rows if "-vic`" in r[0]][
        :1
    ]
    assert row[0] == "`coverage-vic`"
    assert row[2:4] == ["5.3", "4.69 (3.13 to 7.02)"]
    assert row[5:] == ["direction only", "2"]
    (steps,) = [
        r for r in tables_of(sample_results(), "downstream")["Claims"].rows
        if r[0] == "`downstream-mud-world-focused-vic`"
    ]  # fmt: skip
    assert steps[3] == "20.5 (17.3 to 23.7)"  # one digit from ten on


def test_an_experiment_without_results_has_a_heading_alone():
    blocks, _ = build_report(sample_results(), make_costs(sample_results()), EXPERIMENTS)
    texts = [b.text for b in blocks if isinstance(b, Heading)]
    place = texts.index("The penalty's strength (Figure 5)")
    assert texts[place + 1] == "The number of skills (appendix)"
    assert "Other metrics" not in texts


def test_costs_are_summed_by_setup_and_averaged_by_agent():
    tables = tables_of(sample_results(), "coverage")
    assert tables["Runs"].rows == [["the paper's settings, planning", "24", "2", "24.0 h"]]
    assert ["paper", "planning", "mud-world", "vic", "2", "3600.0", "100"] in tables["Cost"].rows
    assert ["numba", "0"] in tables["Versions"].rows
