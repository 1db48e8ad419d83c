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
from skillfocus.experiments import coverage
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    REACHED,
    REPRODUCED,
)
from skillfocus.experiments.coverage_figures import coverage_figure, frontier_figure
from skillfocus.metrics.statistics import mean_interval


def test_coverage_ratios():
    """By hand: sqrt(2.0 / 0.4 * 2.2 / 0.5) = 4.69, within a tenth of 5.3 (4.77)? No."""
    analysis = coverage.analyze(sample_results())
    claims = claims_by_id(analysis)
    assert claims["coverage-vic"].ours.estimate == pytest.approx((5.0 * 4.4) ** 0.5)
    assert claims["coverage-vic"].ours.low > 1
    assert claims["coverage-vic"].verdict == DIRECTION_ONLY
    assert claims["coverage-dusdi-vic"].verdict == REPRODUCED
    assert "coverage-lsd" not in claims  # nothing was run
    assert [row[0] for row in analysis.tables[0].rows] == ["focused VIC", "DUSDi VIC", "VIC"]
    assert "coverage-scattered-vic" not in claims
    best = claims_by_id(coverage.analyze(sample_results().with_columns(preset=pl.lit("best"))))
    assert not best  # of these agents the preset has nothing new to say
    near = replace_values(sample_results(), "vic", "auc", pl.col("value") * 0.98)
    assert claims_by_id(coverage.analyze(near))["coverage-vic"].verdict == REPRODUCED
    worse = replace_values(sample_results(), "vic", "auc", 2.15)
    assert claims_by_id(coverage.analyze(worse))["coverage-vic"].verdict == NOT_REPRODUCED
    far = replace_values(sample_results(), "dusdi-vic", "auc", 1.2)
    assert claims_by_id(coverage.analyze(far))["coverage-dusdi-vic"].verdict == NOT_REPRODUCED


@pytest.mark.parametrize(("area", "worst", "expected"),
    [(1.85, 0.05, REACHED), (1.84, 0.0, MISSED), (2.5, 0.051, MISSED)])  # fmt: skip
def test_the_aim_needs_coverage_and_few_side_effects(area, worst, expected):
    frame = make_results([
        ("four-rooms", "scattered-focused-vic", "", "auc", None, [area, area]),
        ("four-rooms", "scattered-focused-vic", "", "goal/worst/side_effects", None, [0.0, worst]),
    ], preset="best")  # fmt: skip
    assert claims_by_id(coverage.analyze(frame))["aim-scattered-focused-vic"].verdict == expected


def test_the_coverage_figure_shows_means_intervals_and_every_seed():
    panel = coverage_figure(sample_results()).axes[0]
    lengths, means = line_data(panel, "focused VIC (area 2.10)")
    assert lengths.tolist() == [1, 2, 3, 4, 5]
    assert means == pytest.approx([2.1 * n / 10 for n in range(1, 6)])
    seeds = [x for x in panel.get_lines() if x.get_alpha() == 0.15]
    assert len(seeds) == 2 * len(AREAS)
    band = panel.collections[0].get_paths()[0].vertices
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
    panel = frontier_figure(make_results(rows), coverage.PAPER).axes[0]
    points = {
        tuple(np.ravel(x.get_xydata()).tolist())
        for x in panel.get_lines()
        if len(x.get_xdata()) == 1
    }
    assert points == {(0.01, 1.2), (0.02, 1.3), (1.0, 2.0), (0.001, 1.9)}
    heights = [x.get_ydata()[0] for x in panel.get_lines() if len(x.get_xdata()) == 2]
    assert {1.85, 0.35, 1.87} <= set(heights)
