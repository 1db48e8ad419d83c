"""Side effects, coverage and representations of continuous skills, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

from skillfocus.errors import UserError
from skillfocus.metrics.continuous import ContinuousEffects, summarize
from skillfocus.metrics.coverage import binned_coverage
from skillfocus.metrics.propagation import representation_fit

CHANGES = np.array([[0.5, 0.05, 0.0], [0.3, 0.2, 0.1], [0.0, 0.0, 0.0], [0.8, 0.0, 0.12]])


def effects(target: str | None = "a", changes=CHANGES):
    return ContinuousEffects(0, target, ("a", "b", "c"), changes, np.zeros((4, 3)), 0.1)


def test_side_effects_by_hand():
    mine = effects()
    assert mine.target_changes.tolist() == [0.5, 0.3, 0.0, 0.8]
    assert mine.side_effects == pytest.approx([0.05, 0.3, 0.0, 0.12])
    assert mine.exceeds.tolist() == [False, True, False, True]
    assert mine.exceeding().estimate == 0.5
    # the exact interval of 2 of 4 at 90 %: the 5 % quantiles of Beta(2, 3) and Beta(3, 2)
    assert mine.exceeding()[1:] == pytest.approx((0.0976, 0.9024), abs=1e-4)
    interval = mine.interval(np.random.default_rng(0))
    assert interval.estimate == pytest.approx(0.1175)
    assert 0.0 < interval.low < 0.1175 < interval.high < 0.3


def test_skills_without_targets_are_granted_what_they_change_most():
    mine = effects(None)
    assert mine.others.tolist() == [False, True, True]
    assert mine.side_effects.mean() == pytest.approx(0.1175)


def test_averages_count_every_rollout_once():
    both = summarize([effects(), effects("b")], np.random.default_rng(0))
    # of b's skill, a and c are the others: 0.5, 0.4, 0, 0.92
    assert both["side_effects"].estimate == pytest.approx((0.1175 + 0.455) / 2)
    assert both["target_change"].estimate == pytest.approx((0.4 + 0.0625) / 2)
    assert both["exceeds"].estimate == (2 + 3) / 8


def test_coverage_counts_bins():
    values = np.array([[0.0, 0.0], [0.24, 0.0], [0.26, 0.9], [1.0, 1.0], [2.0, 1.0]])
    # of 4 by 4 bins: (0, 0) twice, (1, 3), and (3, 3) twice, once from outside
    assert binned_coverage(values, np.zeros(2), np.ones(2), bins=4) == 3 / 16
    with pytest.raises(UserError, match="bounded variables"):
        binned_coverage(values, np.zeros(2), np.array([1.0, np.inf]))
    with pytest.raises(UserError, match="fewer"):
        binned_coverage(np.zeros((1, 7)), np.zeros(7), np.ones(7))


def test_a_representation_is_compared_with_true_distances():
    one = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    other = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    fit = representation_fit(one, np.array([10.0, 1.0, 0.0, 2.0]), other)
    # distances 5, 1 and 0 against 10, 1 and 2; the pair that is not apart does not count
    assert fit.most == 1.0
    assert fit.mean == pytest.approx((0.5 + 1 + 0) / 3)
    assert fit.correlation == pytest.approx(np.corrcoef([5, 1, 0], [10, 1, 2])[0, 1])
