from __future__ import annotations

import polars as pl
import pytest

from frames import (
    claims_by_id,
    line_data,
    make_results,
    sample_results,
)
from paper import figure_5
from paper.agents import Setup
from paper.claims import NOT_REPRODUCED, REPRODUCED, UNDECIDED


def ablated(steps):
    rows = []
    for strength, by_seed in steps.items():
        variant = figure_5.strengths("focused-vic")[strength]
        done = [float(v < 50) for v in by_seed]
        rows += [
            ("mud-world", "focused-vic", variant, "task/true/steps", 20_000, by_seed),
            ("mud-world", "focused-vic", variant, "task/true/true_return", 20_000, done),
        ]
    return make_results(rows)


def test_ablation_claims():
    """The usual strength, 4, is compared with none and with the largest, on the seeds both have."""
    assert [figure_5.strengths("focused-vic")[s] for s in (0.0, 4.0)] == ["strength=0", ""]
    assert figure_5.strengths("focused-lsd")[2.0] == ""
    steps = {0.0: [60, 60, 59, 60, 60], 4.0: [25, 26, 24, 25, 25, 99], 40.0: [30, 31, 29, 30, 30]}
    analysis = figure_5.analyze(ablated(steps))
    claims = claims_by_id(analysis)
    assert {name: f.verdict for name, f in claims.items()} == dict.fromkeys(
        ("ablation-zero-focused-vic", "ablation-more-focused-vic", "ablation-much-focused-vic"),
        REPRODUCED,
    )
    assert claims["ablation-more-focused-vic"].ours.estimate == pytest.approx(-34.8)
    assert claims["ablation-more-focused-vic"].evidence == "25.0 steps against 59.8"
    assert claims["ablation-much-focused-vic"].ours.estimate == pytest.approx(5.0)
    assert analysis.tables[0].rows[1][-1] == "5"  # the sixth seed has no other strength
    assert [row[1] for row in analysis.tables[0].rows] == ["0", "4", "40"]
    flat = claims_by_id(figure_5.analyze(ablated({0.0: [30, 31], 4.0: [30, 32], 40.0: [31, 31]})))
    assert flat["ablation-more-focused-vic"].verdict == NOT_REPRODUCED
    assert flat["ablation-much-focused-vic"].verdict == NOT_REPRODUCED
    two = claims_by_id(figure_5.analyze(ablated({0.0: [60, 60], 1.0: [50]})))
    assert set(two) == {"ablation-zero-focused-vic"}  # the usual strength was not run
    assert not figure_5.analyze(ablated({4.0: [60, 60]})).tables[0].rows  # nor any other


def test_the_ablation_figure_uses_the_seeds_that_every_strength_has():
    rows = [
        ("mud-world", "focused-lsd", figure_5.strengths("focused-lsd")[s], "task/true/steps", 9, v)
        for s, v in ((0.0, [60, 50]), (2.0, [30]), (40.0, [40, 10]))
    ]
    panel = figure_5.figure(make_results(rows)).axes[0]
    places, steps = line_data(panel, "focused LSD")
    assert places.tolist() == [0, 3, 6]  # of 0, 0.5, 1, 2, 4, 10, 40
    assert steps.tolist() == [60, 30, 40]


def test_the_default_strength_shares_the_runs_of_the_main_comparison():
    made = figure_5.cases(Setup(), range(5))
    assert len(made) == 5 * 3 * 7
    assert len(figure_5.cases(Setup(), range(2))) == 2 * 3 * 3  # none, the default, the largest
    (default,) = [c for c in made if c.labels[3:] == ("focused-vic", "", 1)]
    assert default.run.id == Setup().case("mud-world", "focused-vic", 1).run.id
    (none,) = [c for c in made if c.labels[3:] == ("focused-vic", "strength=0", 1)]
    assert none.run.strength == 0.0


def test_a_penalty_that_hurts_is_not_reproduced():
    """By hand: 4 takes 10 steps more than 0, and 40 takes 10 less than 4."""
    steps = {0.0: [30, 31, 29], 4.0: [40, 41, 39], 40.0: [30, 31, 29]}
    claims = claims_by_id(figure_5.analyze(ablated(steps)))
    assert claims["ablation-more-focused-vic"].ours.estimate == 10
    assert claims["ablation-much-focused-vic"].ours.estimate == -10
    assert {c.verdict for c in claims.values()} == {NOT_REPRODUCED, UNDECIDED}
    assert claims["ablation-zero-focused-vic"].verdict == UNDECIDED  # 3 of 3 seeds learn it


def test_the_ablation_figure_labels_strengths_evenly():
    frame = pl.concat([sample_results(), ablated({0.0: [60, 50], 4.0: [30, 20]})])
    frame = frame.filter((pl.col("agent") != "focused-vic") | (pl.col("step") == 20_000))
    panel = figure_5.figure(frame).axes[0]
    assert [t.get_text() for t in panel.get_xticklabels()] == [
        "0",
        "0.5",
        "1",
        "2",
        "4",
        "10",
        "40",
    ]
    assert line_data(panel, "focused VIC")[1].tolist() == [55, 25]
    assert line_data(panel, "optimum")[1].tolist() == [19.5, 19.5]
    assert panel.get_xlabel() == "strength λ of the penalty"
    assert figure_5.figure(make_results([])).axes[0].get_legend() is None
