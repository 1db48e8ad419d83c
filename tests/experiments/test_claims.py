from __future__ import annotations

import numpy as np
import pytest

from frames import results
from skillfocus.experiments.claims import (
    DIRECTION,
    NOT,
    REPRODUCED,
    UNDECIDED,
    agent_name,
    at_least,
    at_most,
    comparable,
    count_shown,
    difference,
    judged,
    majority,
    mean_shown,
    middle_of,
    n_pairs,
    n_seeds,
    ratio,
    shown,
    values,
    verdict,
    worst_skill,
)
from skillfocus.metrics.statistics import Interval, mean_interval, success_interval


@pytest.mark.parametrize(
    ("direction", "size", "seeds", "expected"),
    [(True, True, 2, REPRODUCED), (True, False, 2, DIRECTION), (False, True, 2, NOT),
     (False, False, 50, NOT), (True, True, 1, UNDECIDED)],
)  # fmt: skip
def test_verdicts(direction, size, seeds, expected):
    assert verdict(direction, size, seeds) == expected


@pytest.mark.parametrize(
    ("successes", "n", "succeeds", "expected"),
    [(0, 4, False, UNDECIDED), (0, 5, False, REPRODUCED), (5, 5, False, NOT), (3, 5, False, UNDECIDED),
     (10, 50, False, DIRECTION), (1, 50, False, REPRODUCED), (50, 50, True, REPRODUCED),
     (40, 50, True, DIRECTION), (3, 5, True, UNDECIDED), (0, 5, True, NOT), (1, 1, False, UNDECIDED)],
)  # fmt: skip
def test_most_seeds_need_an_interval_on_one_side_of_a_half(successes, n, succeeds, expected):
    """0 of 4 leaves up to 0.53 possible, 0 of 5 up to 0.45; 10 of 50 are not none."""
    assert majority(success_interval(successes, n), succeeds) == expected


@pytest.mark.parametrize(
    ("ours", "expected"), [(9.0, True), (8.99, False), (20.0, True)]
)  # fmt: skip
def test_sizes_are_the_paper_s_give_or_take_a_tenth(ours, expected):
    assert at_least(ours, 10.0) is expected
    assert at_least(ours - 0.5, 10.0, reading=0.5) is expected
    assert at_most(-ours, -10.0) is expected
    assert at_most(11.0, 10.0)
    assert not at_most(11.1, 10.0)


def test_comparable_numbers_have_an_interval_near_one():
    assert comparable(Interval(1.0, 0.8, 1.25))
    assert not comparable(Interval(1.0, 0.79, 1.1))
    assert not comparable(Interval(1.0, 0.9, 1.26))


@pytest.mark.parametrize(
    ("interval", "paper", "expected"),
    [((-3, -5, -1), -4, REPRODUCED), ((3, 1, 5), -4, NOT), ((-3, -7, 1), -4, UNDECIDED),
     ((-1, -3, 1), -4, NOT), ((-3, -7, 1), None, UNDECIDED), ((1, -3, 5), None, NOT),
     ((1, -9, 11), -4, UNDECIDED)],
)  # fmt: skip
def test_an_interval_too_wide_to_tell_leaves_it_open(interval, paper, expected):
    """One that holds 0 and the paper's difference, or, without one, that leans the right way."""
    assert judged(Interval(*interval), -1, True, 5, paper) == expected
    flipped = Interval(-interval[0], -interval[2], -interval[1])
    assert judged(flipped, 1, True, 5, None if paper is None else -paper) == expected


def test_intervals_end_where_values_can_no_longer_be():
    assert mean_shown({0: 0.0, 1: 1.0}, 2, 0, 1) == "0.50 (0.00 to 1.00)"
    assert mean_shown({0: 0.25}, 2, 0, 1) == "0.25"
    assert mean_shown({}) == "–"


def test_values_are_the_last_step_s_by_seed():
    frame = results([
        ("w", "a", "", "m", 10, [1, 2]), ("w", "a", "", "m", 20, [3, 4]),
        ("w", "a", "x=1", "m", 20, [5]), ("w", "b", "", "m", None, [6]),
    ])  # fmt: skip
    assert values(frame, "m", "w", "a") == {0: 3, 1: 4}
    assert values(frame, "m", "w", "a", step=10) == {0: 1, 1: 2}
    assert values(frame, "m", "w", "a", "x=1") == {0: 5}
    assert values(frame, "m", "w", "b") == {0: 6}
    assert values(frame, "m", "w", "nobody") == {}


def test_differences_and_ratios_are_of_the_seeds_both_have():
    assert difference({0: 3.0, 1: 5.0, 2: 99.0}, {1: 1.0, 0: 1.0, 7: 0.0}).estimate == 3.0
    assert difference({0: 1.0}, {1: 1.0}) is None
    assert n_pairs({0: 3.0, 1: 5.0, 2: 99.0}, {1: 1.0, 0: 1.0, 7: 0.0}) == 2
    times = ratio({0: 2.0, 1: 8.0}, {0: 1.0, 1: 1.0})
    assert times.estimate == pytest.approx(4.0)  # geometric
    low, high = mean_interval([np.log(2), np.log(8)])[1:]
    assert times[1:] == pytest.approx((np.exp(low), np.exp(high)))
    assert ratio({0: 3.0}, {0: 0.0}) is None


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_interval_of_a_ratio_holds_it_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(400):
        below = rng.lognormal(0, 0.3, size=n)
        above = 3 * below * rng.lognormal(0, 0.4, size=n)
        times = ratio(dict(enumerate(above)), dict(enumerate(below)))
        held += times.low <= 3 <= times.high
    assert 0.86 <= held / 400 <= 0.94


def test_the_middle_of_few_seeds_has_no_interval():
    assert middle_of(dict(enumerate(range(9)))) == (4.0, -np.inf, np.inf)
    assert np.isfinite(middle_of(dict(enumerate(range(10)))).low)


def test_the_worst_skill_may_be_for_anything():
    frame = results([
        ("w", "a", "", "goal/worst/side_effects", None, [0.1, 0.5]),
        ("w", "a", "", "roam/worst/side_effects", None, [0.2, 0.3]),
    ])  # fmt: skip
    assert worst_skill(frame, "w", "a") == {0: 0.2, 1: 0.5}


def test_numbers_in_words():
    assert shown(Interval(-1.234, -2.0, 0.5)) == "−1.23 (−2.00 to 0.50)"
    assert shown(Interval(1.0, -np.inf, np.inf)) == "1.00"
    assert count_shown({0: 0.9, 1: 0.2}) == "1 of 2 (0.03 to 0.97)"
    assert agent_name("scattered-focused-vic-on-two") == "scattered focused VIC, two targets each"
    assert agent_name("dusdi-diayn") == "DUSDi DIAYN"
    assert n_seeds([2, 1]) == "1 to 2"
    assert n_seeds([3, 3]) == "3"
