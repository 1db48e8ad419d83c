from __future__ import annotations

import polars as pl
import pytest

from frames import (
    claims_by_id,
    line_data,
    make_results,
    replace_values,
    sample_results,
)
from paper import figures_3_and_4
from paper.claims import DIRECTION_ONLY, MISSED, NOT_REPRODUCED, REPRODUCED, UNDECIDED
from paper.figures_3_and_4 import draw_steps, episodes_needed
from paper.results import TASK_RETURN, TASK_STEPS


def test_downstream_claims():
    claims = claims_by_id(figures_3_and_4.analyze_steps(sample_results()))
    mud = claims["downstream-mud-world-focused-vic"]
    assert (mud.ours.estimate, mud.verdict) == (20.5, REPRODUCED)
    assert claims["fails-mud-world-vic"].verdict == UNDECIDED  # 0 of 2
    assert "fails-four-rooms-dusdi-vic" not in claims  # the paper's does not fail
    steps = claims["steps-mud-world-focused-vic-dusdi-vic"]
    assert (steps.ours.estimate, steps.reference, steps.verdict) == (-39.5, -30, REPRODUCED)
    assert (
        claims["steps-four-rooms-focused-vic-dusdi-vic"].verdict == NOT_REPRODUCED
    )  # 20 and 320 steps
    slow = replace_values(sample_results(), "focused-vic", TASK_STEPS, 50.0)
    claims = claims_by_id(figures_3_and_4.analyze_steps(slow))
    assert claims["downstream-mud-world-focused-vic"].verdict == DIRECTION_ONLY
    assert claims["steps-mud-world-focused-vic-vic"].verdict == DIRECTION_ONLY  # -10, paper -30
    assert claims["downstream-four-rooms-focused-vic"].verdict == REPRODUCED
    idle = claims_by_id(
        figures_3_and_4.analyze_steps(
            replace_values(sample_results(), "focused-vic", TASK_STEPS, 60.0)
        )
    )
    assert (
        idle["downstream-mud-world-focused-vic"].verdict == NOT_REPRODUCED
    )  # as many as primitives alone
    best = claims_by_id(figures_3_and_4.analyze_steps(slow.with_columns(preset=pl.lit("best"))))
    assert best["aim-mud-world-focused-vic"].verdict == MISSED
    assert best["downstream-mud-world-focused-vic"].verdict == DIRECTION_ONLY


def test_comparisons_count_the_seeds_that_both_have():
    frame = sample_results().filter((pl.col("agent") != "vic") | (pl.col("seed") == 0))
    claim = claims_by_id(figures_3_and_4.analyze_steps(frame))["steps-mud-world-focused-vic-vic"]
    assert (claim.seeds, claim.verdict) == (1, UNDECIDED)
    claim = claims_by_id(figures_3_and_4.analyze_returns(frame))["proxy-mud-world-focused-vic"]
    assert (claim.seeds, claim.verdict) == (1, UNDECIDED)


def test_episodes_until_within_a_tenth_of_the_end():
    """By hand: 1.1 * 20 = 22; three in a row at most 22 begin at 400."""
    curve = {100: 60, 200: 21, 300: 33, 400: 22, 500: 20, 600: 21, 700: 33, 800: 20}
    rows = [("mud-world", "vic", "", TASK_STEPS, n, [v, 20, 60]) for n, v in curve.items()]
    rows.append(("mud-world", "vic", "", TASK_RETURN, 800, [1, 1, 0]))
    needed = episodes_needed(make_results(rows), "mud-world", "vic")
    assert needed == {0: 400.0, 1: 100.0}  # the third never learns it


def test_the_downstream_figure_begins_at_the_cap_and_shows_the_optimum():
    figure = draw_steps(sample_results())
    panel = figure.axes[2]
    episodes, steps = line_data(panel, "focused VIC")
    assert episodes.tolist() == [0, 400, 800]
    assert steps.tolist() == [60, 60, 20.5]
    assert line_data(panel, "optimum")[1].tolist() == [19.5, 19.5]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [([0] * 5, REPRODUCED), ([1] * 5, NOT_REPRODUCED), ([0, 0, 0, 1, 1], UNDECIDED)],
)
def test_agents_that_fail_in_the_paper_must_fail(returns, expected):
    rows = [("mud-world", "vic", "", TASK_RETURN, 800, returns)]
    claim = claims_by_id(figures_3_and_4.analyze_steps(make_results(rows)))["fails-mud-world-vic"]
    assert claim.verdict == expected
    assert claim.reference == 0
    assert claim.evidence.startswith(f"learned in {sum(returns)} of 5")


def test_comparable_steps_in_four_rooms():
    """Focused and DUSDi skills: the ratio of steps within 1.25 either way."""
    rows = [("four-rooms", "focused-vic", "", TASK_STEPS, 9, [100, 101])]
    for dusdi, expected in (([110, 111], REPRODUCED), ([150, 151], NOT_REPRODUCED)):
        frame = make_results([*rows, ("four-rooms", "dusdi-vic", "", TASK_STEPS, 9, dusdi)])
        (claim,) = figures_3_and_4.analyze_steps(frame).claims
        assert (claim.id, claim.verdict) == ("steps-four-rooms-focused-vic-dusdi-vic", expected)


def test_agents_that_both_fail_are_not_comparable():
    rows = [
        ("four-rooms", agent, "", TASK_STEPS, 9, [320.0] * 3)
        for agent in ("focused-vic", "dusdi-vic")
    ]
    (claim,) = figures_3_and_4.analyze_steps(make_results(rows)).claims
    assert (claim.ours.estimate, claim.verdict) == (0.0, NOT_REPRODUCED)


def test_the_downstream_table_by_hand():
    analysis = figures_3_and_4.analyze_steps(sample_results())
    table = analysis.tables[2]
    assert table.title.startswith("MudWorld")
    rows = {row[0]: [cell.split(" (")[0] for cell in row[1:]] for row in table.rows}
    assert rows["focused VIC"] == ["30.0", "20.5", "20.5", "1.00", "2 of 2", "800", "2"]
    assert rows["primitives only"][1:3] == ["60.0", "60.0"]
    assert "needs 19.5 steps and succeeds with probability 1.000" in table.note
    assert "upper bound" in table.note
    assert "upper bound" not in analysis.tables[0].note


def test_a_curve_that_never_settles_needs_all_episodes():
    curve = {100: 60, 200: 20, 300: 60, 400: 20}
    rows = [("mud-world", "vic", "", TASK_STEPS, n, [v]) for n, v in curve.items()]
    rows.append(("mud-world", "vic", "", TASK_RETURN, 400, [1]))
    assert episodes_needed(make_results(rows), "mud-world", "vic") == {0: 400.0}
