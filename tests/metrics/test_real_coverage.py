"""Coverage and representations of real-valued variables, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

from skillfocus.errors import UserError
from skillfocus.metrics.coverage import binned_coverage
from skillfocus.metrics.propagation import representation_fit


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
