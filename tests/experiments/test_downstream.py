from __future__ import annotations

import polars as pl

from frames import (
    claims_by_id,
    line_data,
    make_results,
    replace_values,
    sample_results,
)
from skillfocus.experiments import downstream, underspecified
from skillfocus.experiments.claims import (
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
)
from skillfocus.experiments.reduce import TASK_RETURN, TASK_STEPS


def test_downstream_claims():
    claims = claims_by_id(downstream.analyze(sample_results()))
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
    claims = claims_by_id(downstream.analyze(slow))
    assert claims["downstream-mud-world-focused-vic"].verdict == DIRECTION_ONLY
    assert claims["steps-mud-world-focused-vic-vic"].verdict == DIRECTION_ONLY  # -10, paper -30
    assert claims["downstream-four-rooms-focused-vic"].verdict == REPRODUCED
    idle = claims_by_id(
        downstream.analyze(replace_values(sample_results(), "focused-vic", TASK_STEPS, 60.0))
    )
    assert (
        idle["downstream-mud-world-focused-vic"].verdict == NOT_REPRODUCED
    )  # as many as primitives alone
    best = claims_by_id(downstream.analyze(slow.with_columns(preset=pl.lit("best"))))
    assert best["aim-mud-world-focused-vic"].verdict == MISSED
    assert best["downstream-mud-world-focused-vic"].verdict == DIRECTION_ONLY


def test_comparisons_count_the_seeds_that_both_have():
    frame = sample_results().filter((pl.col("agent") != "vic") | (pl.col("seed") == 0))
    claim = claims_by_id(downstream.analyze(frame))["steps-mud-world-focused-vic-vic"]
    assert (claim.seeds, claim.verdict) == (1, UNDECIDED)
    claim = claims_by_id(underspecified.analyze(frame))["proxy-mud-world-focused-vic"]
    assert (claim.seeds, claim.verdict) == (1, UNDECIDED)


def test_episodes_until_within_a_tenth_of_the_end():
    """By hand: 1.1 * 20 = 22; three in a row at most 22 begin at 400."""
    curve = {100: 60, 200: 21, 300: 33, 400: 22, 500: 20, 600: 21, 700: 33, 800: 20}
    rows = [("mud-world", "vic", "", TASK_STEPS, n, [v, 20, 60]) for n, v in curve.items()]
    rows.append(("mud-world", "vic", "", TASK_RETURN, 800, [1, 1, 0]))
    needed = downstream.episodes_needed(make_results(rows), "mud-world", "vic")
    assert needed == {0: 400.0, 1: 100.0}  # the third never learns it


def test_the_downstream_figure_begins_at_the_cap_and_shows_the_optimum():
    figure = downstream.figure(sample_results())
    panel = figure.axes[2]
    episodes, steps = line_data(panel, "focused VIC")
    assert episodes.tolist() == [0, 400, 800]
    assert steps.tolist() == [60, 60, 20.5]
    assert line_data(panel, "optimum")[1].tolist() == [19.5, 19.5]
