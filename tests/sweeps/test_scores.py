from __future__ import annotations

import math

import polars as pl
import pytest
from scipy.stats import t

from skill_sets import TINY
from skillfocus.errors import UserError
from skillfocus.metrics.statistics import mean_interval
from skillfocus.sweeps.grid import Axis
from skillfocus.sweeps.scores import (
    Score,
    SweepSpec,
    best_score,
    metric_by_run,
    point_runs,
    score_point,
)


def test_mean_interval_by_hand():
    # mean 2, s = 1, t(0.95, 2) = 2.9199856: half width 2.9199856 / sqrt 3
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2 - 1.6858545, 2 + 1.6858545))
    assert mean_interval([5.0]) == (5.0, -math.inf, math.inf)
    with pytest.raises(UserError):
        mean_interval([])


def test_mean_interval_is_scipy_s(rng):
    values = rng.normal(size=12)
    expected = t.interval(0.9, 11, loc=values.mean(), scale=values.std(ddof=1) / 12**0.5)
    assert mean_interval(values)[1:] == pytest.approx(expected)


def test_nine_in_ten_intervals_hold_the_mean(rng):
    for n in (2, 3, 10):
        held = 0
        for _ in range(4000):
            _, low, high = mean_interval(rng.normal(3.0, 2.0, size=n))
            held += low <= 3.0 <= high
        assert held / 4000 == pytest.approx(0.9, abs=0.02)


def test_scores_average_within_a_run_first():
    runs = point_runs(TINY, {}, [1000, 1001], "steps")
    frame = pl.DataFrame(
        {"run": [runs[0].id] * 2 + [runs[1].id], "metric": ["steps"] * 3, "step": [0, 1, 0],
         "value": [1.0, 3.0, 5.0]}
    )  # fmt: skip
    made = score_point(metric_by_run(frame, "steps"), runs, {"a": 1})
    assert made is not None
    assert (made.mean, made.values) == (3.5, (2.0, 5.0))
    half = metric_by_run(frame.filter(pl.col("run") == runs[0].id), "steps")
    assert score_point(half, runs, {}) is None
    assert metric_by_run(frame.clear(), "steps") == {}
    with pytest.raises(UserError, match="choose another --metric"):
        score_point({run.id: None for run in runs}, runs, {})


def test_plain_objectives_have_no_focus():
    with pytest.raises(UserError, match="vic skills have no targets"):
        point_runs(TINY, {"objective": "vic"}, [1000], "focus")
    assert point_runs(TINY, {"objective": "vic"}, [1000], "steps")[0].objective == "vic"


def test_the_best_is_the_largest_or_the_smallest():
    scores = [
        Score({"a": i}, mean, mean, mean, (mean,)) for i, mean in enumerate([1.0, 3.0, 3.0, 2.0])
    ]
    assert best_score(scores, minimise=False).point == {"a": 1}
    assert best_score(scores, minimise=True).point == {"a": 0}


def test_a_specification_is_known_by_its_digest():
    """Studies are found again by it: it must not change unnoticed."""
    axes = (
        Axis("strength", low=0.5, high=16.0, log=True),
        Axis("rounds", low=1, high=9),
        Axis("rate", (0.3, 0.5, 0.7)),
    )
    spec = SweepSpec(TINY, axes, (1000, 1001), "focus", minimise=False)
    assert spec.digest == "67d5eead"


def test_a_specification_makes_its_points_runs():
    spec = SweepSpec(TINY, (Axis("strength", (1, 2)),), (1000, 1001), "focus", minimise=False)
    assert [(r.strength, r.seed) for r in spec.runs({"strength": 2})] == [(2, 1000), (2, 1001)]
    assert [r.seed for r in spec.runs({"strength": 2}, [5])] == [5]
    with pytest.raises(UserError, match="did you mean 'strength'"):
        SweepSpec(TINY, (Axis("strenght", (1, 2)),), (1000,), "focus", minimise=False)


def test_scores_as_json():
    assert Score({"a": 1}, 2.0, 1.5, 2.5, (1.9, 2.1)).as_json() == {
        "a": 1, "mean": 2.0, "interval": [1.5, 2.5], "values": [1.9, 2.1],
    }  # fmt: skip
    assert Score({}, 2.0, -math.inf, math.inf, (2.0,)).as_json()["interval"] is None
