from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from frames import (
    make_results,
)
from paper.results import (
    count_successes,
    curves_by_seed,
    differences,
    interquartile_mean_over_seeds,
    mean_over_seeds,
    mean_ratio,
    metric_rows,
    values_by_seed,
    worst_side_effects,
)
from skillfocus.metrics.statistics import mean_interval, success_interval


def test_values_are_the_last_step_s_by_seed():
    frame = make_results([
        ("w", "a", "", "m", 10, [1, 2]), ("w", "a", "", "m", 20, [3, 4]),
        ("w", "a", "x=1", "m", 20, [5]), ("w", "b", "", "m", None, [6]),
    ])  # fmt: skip
    assert values_by_seed(frame, "m", "w", "a") == {0: 3, 1: 4}
    assert values_by_seed(frame, "m", "w", "a", step=10) == {0: 1, 1: 2}
    assert values_by_seed(frame, "m", "w", "a", "x=1") == {0: 5}
    assert values_by_seed(frame, "m", "w", "b") == {0: 6}
    assert values_by_seed(frame, "m", "w", "nobody") == {}


def test_differences_and_ratios_are_of_the_seeds_both_have():
    assert differences({0: 1.0}, {1: 1.0}) == {}
    assert differences({0: 3.0, 1: 5.0, 2: 99.0}, {1: 1.0, 0: 1.0, 7: 0.0}) == {0: 2.0, 1: 4.0}
    assert list(differences({2: 20.0, 0: 0.0, 1: 10.0}, {0: 1.0, 2: 3.0})) == [
        2,
        0,
    ]  # the first's order
    times = mean_ratio({0: 2.0, 1: 8.0}, {0: 1.0, 1: 1.0})
    assert times.estimate == pytest.approx(4.0)  # geometric
    low, high = mean_interval([np.log(2), np.log(8)])[1:]
    assert times[1:] == pytest.approx((np.exp(low), np.exp(high)))
    assert mean_ratio({0: 3.0}, {0: 0.0}) is None


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_interval_of_a_ratio_holds_it_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(400):
        below = rng.lognormal(0, 0.3, size=n)
        above = 3 * below * rng.lognormal(0, 0.4, size=n)
        times = mean_ratio(dict(enumerate(above)), dict(enumerate(below)))
        held += times.low <= 3 <= times.high
    assert 0.86 <= held / 400 <= 0.94


def test_the_middle_of_few_seeds_has_no_interval():
    assert interquartile_mean_over_seeds(dict(enumerate(range(9)))) == (4.0, -np.inf, np.inf)
    assert np.isfinite(interquartile_mean_over_seeds(dict(enumerate(range(10)))).low)


def test_the_worst_skill_may_be_for_anything():
    frame = make_results([
        ("w", "a", "", "goal/worst/side_effects", None, [0.1, 0.5]),
        ("w", "a", "", "roam/worst/side_effects", None, [0.2, 0.3]),
    ])  # fmt: skip
    assert worst_side_effects(frame, "w", "a") == {0: 0.2, 1: 0.5}


def test_rows_without_a_value_do_not_count():
    frame = make_results([("w", "a", "", "m", 1, [1, 2])])
    frame = frame.with_columns(value=pl.when(pl.col("seed") == 0).then(None).otherwise("value"))
    assert metric_rows(frame, "m", "w", "a")["seed"].to_list() == [1]
    assert values_by_seed(frame, "m", "w", "a") == {1: 2}


def test_curves_are_sorted_by_seed_and_step():
    frame = make_results([("w", "a", "", "m", step, [step, -step]) for step in (20, 10, 30)])
    seeds, steps, curves = curves_by_seed(frame, "m", "w", "a")
    assert seeds == [0, 1]
    assert steps.tolist() == [10, 20, 30]
    assert curves.tolist() == [[10, 20, 30], [-10, -20, -30]]


def test_the_mean_is_clipped_to_possible_values():
    """Student's interval of 0 and 1: 0.5 -/+ 6.314 * 0.5."""
    assert mean_over_seeds({0: 0.0, 1: 1.0}) == pytest.approx((0.5, -2.657, 3.657), abs=1e-3)
    assert mean_over_seeds({0: 0.0, 1: 1.0}, 0, 1) == (0.5, 0.0, 1.0)
    assert mean_over_seeds({3: 0.25}, 0, 1) == (0.25, -np.inf, np.inf)


def test_successes_exceed_the_threshold():
    count, n, share = count_successes({0: 0.5, 1: 0.51, 2: 1.0})
    assert (count, n) == (2, 3)
    assert share == success_interval(2, 3)
    assert count_successes({0: 0.5}, threshold=0.4)[0] == 1
