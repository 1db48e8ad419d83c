from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from frames import (
    AREAS,
    claims_by_id,
    line_data,
    make_results,
    replace_values,
    sample_results,
)
from paper import figure_2
from paper.agents import Setup
from paper.claims import DIRECTION_ONLY, MISSED, NOT_REPRODUCED, REACHED, REPRODUCED
from paper.figure_2 import coverage_figure, frontier_blocks, frontier_figure
from paper.settings import OUR_AGENTS, SCATTERED
from skillfocus.metrics.statistics import mean_interval


def test_coverage_ratios():
    """By hand: sqrt(2.0 / 0.4 * 2.2 / 0.5) = 4.69, within a tenth of 5.3 (4.77)? No."""
    analysis = figure_2.analyze(sample_results())
    claims = claims_by_id(analysis)
    assert claims["coverage-vic"].ours.estimate == pytest.approx((5.0 * 4.4) ** 0.5)
    assert claims["coverage-vic"].ours.low > 1
    assert claims["coverage-vic"].verdict == DIRECTION_ONLY
    assert claims["coverage-dusdi-vic"].verdict == REPRODUCED
    assert "coverage-lsd" not in claims  # nothing was run
    assert [row[0] for row in analysis.tables[0].rows] == ["focused VIC", "DUSDi VIC", "VIC"]
    assert "coverage-scattered-vic" not in claims
    best = claims_by_id(figure_2.analyze(sample_results().with_columns(preset=pl.lit("best"))))
    assert not best  # of these agents the preset has nothing new to say
    near = replace_values(sample_results(), "vic", "auc", pl.col("value") * 0.98)
    assert claims_by_id(figure_2.analyze(near))["coverage-vic"].verdict == REPRODUCED
    worse = replace_values(sample_results(), "vic", "auc", 2.15)
    assert claims_by_id(figure_2.analyze(worse))["coverage-vic"].verdict == NOT_REPRODUCED
    far = replace_values(sample_results(), "dusdi-vic", "auc", 1.2)
    assert claims_by_id(figure_2.analyze(far))["coverage-dusdi-vic"].verdict == NOT_REPRODUCED


@pytest.mark.parametrize(("area", "worst", "expected"),
    [(1.85, 0.05, REACHED), (1.84, 0.0, MISSED), (2.5, 0.051, MISSED)])  # fmt: skip
def test_the_aim_needs_coverage_and_few_side_effects(area, worst, expected):
    frame = make_results([
        ("four-rooms", "scattered-focused-vic", "", "auc", None, [area, area]),
        ("four-rooms", "scattered-focused-vic", "", "goal/worst/side_effects", None, [0.0, worst]),
    ], preset="best")  # fmt: skip
    assert claims_by_id(figure_2.analyze(frame))["aim-scattered-focused-vic"].verdict == expected


def test_the_coverage_figure_shows_means_intervals_and_every_seed():
    panel = coverage_figure(sample_results()).axes[0]
    lengths, means = line_data(panel, "focused VIC (area 2.10)")
    assert lengths.tolist() == [1, 2, 3, 4, 5]
    assert means == pytest.approx([2.1 * n / 10 for n in range(1, 6)])
    seeds = [x for x in panel.get_lines() if x.get_alpha() == 0.15]
    assert len(seeds) == 2 * len(AREAS)
    band = np.asarray(panel.collections[0].get_paths()[0].vertices)
    low, high = mean_interval([2.0 * 5 / 10, 2.2 * 5 / 10])[1:]
    ends = band[band[:, 0] == 5, 1]
    assert (ends.min(), ends.max()) == pytest.approx((max(low, 0), min(high, 1)))


def test_the_frontier_shows_every_case():
    rows = [
        ("four-rooms", agent, variant, metric, None, value)
        for agent, variant, area, effects in (
            ("focused-vic", "", [1.2, 1.3], [0.01, 0.02]), ("focused-vic", "strength=0", [2], [1]),
            ("scattered-focused-vic", "", [1.9], [0.0]), ("ideal", "region,8", [1.87], None),
        )
        for metric, value in (("auc", area), ("mean_side_effects", effects))
        if value
    ]  # fmt: skip
    panel = frontier_figure(make_results(rows)).axes[0]
    points = {
        tuple(np.ravel(x.get_xydata()).tolist())
        for x in panel.get_lines()
        if np.size(x.get_xdata()) == 1
    }
    assert points == {(0.01, 1.2), (0.02, 1.3), (1.0, 2.0), (0.001, 1.9)}
    heights = [
        np.asarray(x.get_ydata())[0] for x in panel.get_lines() if np.size(x.get_xdata()) == 2
    ]
    assert {1.85, 0.35, 1.87} <= set(heights)


def test_ideal_and_varied_skills_are_cases_of_the_paper_s_preset():
    made = figure_2.cases(Setup(), range(10))
    assert len([c for c in made if c.agent == "ideal"]) == 8
    varied = [c for c in made if c.variant and c.agent != "ideal"]
    assert len(varied) == 3 * (6 + 4 + 2)
    assert {c.seed for c in varied} == {0}
    few = [c for c in figure_2.cases(Setup(), range(5)) if "=" in c.variant]
    assert {c.agent for c in few} == {"focused-vic"}  # a tenth of five is none
    assert not [c for c in figure_2.cases(Setup(learner="q-learning"), range(10)) if c.variant]


def test_our_agents_are_cases_of_the_best_preset():
    made = figure_2.cases(Setup("best"), range(20))
    ours = [c for c in made if c.agent in OUR_AGENTS]
    assert {(c.agent, c.seed) for c in ours if not c.variant} == {
        (agent, seed) for agent in OUR_AGENTS for seed in (0, 1)
    }
    assert {(c.variant, c.run.strength) for c in ours if c.variant} == {
        ("strength=0", 0.0), ("strength=10", 10.0),
    }  # fmt: skip
    few = figure_2.cases(Setup("best"), range(5))
    assert [c.agent for c in few if c.agent in OUR_AGENTS] == [SCATTERED]


def test_the_table_of_ideal_skills_needs_both_numbers():
    rows = [("four-rooms", "ideal", f"{e},{n}", "auc", None, [n / 10])
            for e, n in (("same", 8), ("same", 12), ("region", 8))]  # fmt: skip
    (table,) = figure_2.analyze(make_results(rows)).tables[1:]
    assert table.rows == [["always in the same cell", "0.80", "1.20"]]


def test_the_coverage_table_by_hand():
    table = figure_2.analyze(sample_results()).tables[0]
    row = {row[0]: row for row in table.rows}["VIC"]
    assert row[1] == "0.35"
    assert row[2].startswith("0.45 (")
    assert row[3:8] == ["0.045", "0.090", "0.135", "0.180", "0.225"]
    assert row[8:] == ["–", "2"]


def test_the_frontier_needs_ideal_skills():
    assert frontier_blocks(sample_results()) == []
    rows = [("four-rooms", "ideal", "region,8", "auc", None, [1.87])]
    heading, _, picture = frontier_blocks(make_results(rows))
    assert (heading, picture.name) == ("### What could be reached", "frontier")
    labels = [text.get_text() for text in picture.figure.legends[0].get_texts()]
    assert "ideal, 8 position skills" in labels
    assert "ideal, 12 position skills" not in labels
