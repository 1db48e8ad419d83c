from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skillfocus.errors import UserError
from skillfocus.metrics.statistics import (
    bootstrap_interval,
    interquartile_mean,
    mean_interval,
    success_interval,
)

NUMBERS = st.lists(st.floats(-100, 100), min_size=2, max_size=20)


@given(NUMBERS)
def test_means_have_scipy_s_interval(values):
    found = mean_interval(values)
    spread = np.std(values, ddof=1) / len(values) ** 0.5
    low, high = (
        stats.t.interval(0.9, len(values) - 1, np.mean(values), spread)
        if spread
        else (np.mean(values), np.mean(values))
    )
    assert found == pytest.approx((np.mean(values), low, high), abs=1e-9)


def test_one_value_has_an_endless_interval_and_none_is_refused():
    assert mean_interval([3.0]) == (3.0, -np.inf, np.inf)
    with pytest.raises(UserError, match="at least one value"):
        mean_interval([])


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 7), (50, 50), (1, 50), (0, 1)])
def test_counts_have_scipy_s_exact_interval(k, n):
    found = success_interval(k, n)
    exact = stats.binomtest(k, n).proportion_ci(0.9, method="exact")
    assert found == pytest.approx((k / n, exact.low, exact.high))


def test_fifty_of_fifty_do_not_make_it_certain():
    """By hand: the low end p solves p^50 = 0.05."""
    assert success_interval(50, 50).low == pytest.approx(0.05 ** (1 / 50))
    with pytest.raises(UserError, match="6 of 5"):
        success_interval(6, 5)


def ratio_of_means(above, below):
    return above.mean(axis=-1) / below.mean(axis=-1)


def test_bootstrap_resamples_pairs():
    """Paired samples in a fixed ratio have that ratio in every resample."""
    below = np.array([1.0, 2.0, 5.0, 9.0])
    found = bootstrap_interval(ratio_of_means, 3 * below, below, rng=np.random.default_rng(0))
    assert found == pytest.approx((3.0, 3.0, 3.0))
    again = bootstrap_interval(ratio_of_means, below, below[::-1], rng=np.random.default_rng(0))
    assert again.low < 1 < again.high
    with pytest.raises(UserError, match="of one size"):
        bootstrap_interval(ratio_of_means, below, below[:2], rng=np.random.default_rng(0))


def test_bootstrap_agrees_with_scipy_s():
    values = np.random.default_rng(1).exponential(size=30)
    found = bootstrap_interval(interquartile_mean, values, rng=np.random.default_rng(0))
    theirs = stats.bootstrap(
        (values,), lambda v, axis: interquartile_mean(v), confidence_level=0.9,
        method="percentile", n_resamples=4000, rng=np.random.default_rng(2), vectorized=True,
    ).confidence_interval  # fmt: skip
    assert found[1:] == pytest.approx((theirs.low, theirs.high), rel=0.05)


def test_the_interquartile_mean():
    """By hand: of 1 … 8 the middle half is 3 4 5 6; of 1 2 3, half of 1 and 3 by a quarter each."""
    assert interquartile_mean(np.arange(1.0, 9)) == pytest.approx(4.5)
    assert interquartile_mean(np.array([0.0, 10.0, 20.0])) == pytest.approx(10.0)
    values = np.random.default_rng(0).normal(size=40)
    assert interquartile_mean(values) == pytest.approx(stats.trim_mean(values, 0.25))


@pytest.mark.parametrize("interval", ["mean", "bootstrap", "count"])
def test_intervals_hold_the_truth_as_often_as_they_say(interval):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        if interval == "mean":
            low, high, truth = *mean_interval(rng.normal(5, 2, size=8))[1:], 5.0
        elif interval == "count":
            low, high, truth = *success_interval(int(rng.binomial(20, 0.3)), 20)[1:], 0.3
        else:
            sample = rng.normal(5, 2, size=40)
            found = bootstrap_interval(interquartile_mean, sample, rng=rng, resamples=300)
            low, high, truth = *found[1:], 5.0
        held += low <= truth <= high
    # 0.9 but for chance, and the exact interval of a count holds it more often
    assert 0.85 <= held / 400 <= (1.0 if interval == "count" else 0.945)
