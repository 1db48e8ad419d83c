from __future__ import annotations

import polars as pl

from frames import (
    claims_by_id,
    line_data,
    make_results,
)
from paper import figure_5
from paper.agents import Setup
from paper.claims import NOT_REPRODUCED, REPRODUCED


def test_skill_count_claims():
    rows = [
        ("four-rooms", agent, "skills=8", metric, 20_000, [value] * 6)
        for agent, good in (("vic", False), ("focused-vic", True))
        for metric, value in (("task/true/steps", 90 if good else 320),
                              ("task/true/true_return", float(good)))
    ]  # fmt: skip
    claims = claims_by_id(figure_5.analyze_counts(make_results(rows)))
    assert {f.verdict for f in claims.values()} == {REPRODUCED}
    assert set(claims) == {"skills-8-vic", "skills-8-focused-vic"}


def counted(**steps):
    """Rows by variant ("n8", "n16", "n24"): a seed below 100 steps learns the task."""
    rows = []
    for name, values in steps.items():
        variant = figure_5.COUNTS[int(name[1:])]
        learned = [float(v < 100) for v in values]
        rows += [
            ("four-rooms", "focused-vic", variant, "task/true/steps", 20_000, values),
            ("four-rooms", "focused-vic", variant, "task/true/true_return", 20_000, learned),
        ]
    return make_results(rows)


def test_the_default_count_has_the_seeds_of_the_others():
    analysis = figure_5.analyze_counts(counted(n8=[90] * 5, n16=[60] * 9, n24=[320] * 5))
    rows = {row[1]: row for row in analysis.tables[0].rows}
    assert [rows[n][-1] for n in ("8", "16", "24")] == ["5", "5", "5"]
    assert rows["8"][2] == "90.0 (90.0 to 90.0)"
    claims = claims_by_id(analysis)
    assert claims["skills-8-focused-vic"].verdict == REPRODUCED
    assert claims["skills-24-focused-vic"].verdict == NOT_REPRODUCED
    assert not figure_5.analyze_counts(counted(n16=[60] * 5)).tables[0].rows


def test_every_count_is_a_case():
    made = figure_5.count_cases(Setup(), [0])
    assert len(made) == 8 * 3
    assert {(c.variant, len(c.run.problem.skills)) for c in made} == {
        ("skills=8", 8), ("", 16), ("skills=24", 24),
    }  # fmt: skip


def test_the_skill_count_figure_uses_the_seeds_that_every_count_has():
    figure = figure_5.draw_counts(counted(n8=[90, 80], n16=[60, 50, 9], n24=[70, 60]))
    counts, steps = line_data(figure.axes[0], "focused VIC")
    assert counts.tolist() == [8, 16, 24]
    assert steps.tolist() == [85, 55, 65]
    assert figure.legends
    assert not figure_5.draw_counts(make_results([])).legends


def test_the_skill_count_figure_skips_counts_without_seeds_and_agents_without_common_ones():
    figure = figure_5.draw_counts(counted(n8=[90, 80], n16=[], n24=[70, 60]))
    counts, steps = line_data(figure.axes[0], "focused VIC")
    assert (counts.tolist(), steps.tolist()) == ([8, 24], [85, 65])
    apart = counted(n8=[90], n16=[], n24=[70, 60]).filter(
        ~((pl.col("variant") == "skills=24") & (pl.col("seed") == 0))
    )
    assert not figure_5.draw_counts(apart).legends
