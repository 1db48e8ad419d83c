from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus.errors import UserError
from skillfocus.sweeps.seeds import reporting_seeds, tuning_seeds


def test_tuning_and_reporting_seeds_cannot_overlap():
    assert list(tuning_seeds(3)) == [1000, 1001, 1002]
    assert list(reporting_seeds(3)) == [0, 1, 2]
    assert list(reporting_seeds(1, 999)) == [999]
    with pytest.raises(UserError, match="seed 999 is a reporting seed"):
        tuning_seeds(3, first=999)
    with pytest.raises(UserError, match="seed 1000 is a tuning seed"):
        reporting_seeds(2, first=999)
    with pytest.raises(UserError, match="seeds is 0;"):
        tuning_seeds(0)


@given(st.integers(1, 5000), st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 5000))
def test_no_two_ranges_that_are_allowed_meet(n, first, m, other):
    try:
        tuning, reporting = tuning_seeds(n, first), reporting_seeds(m, other)
    except UserError:
        return
    assert not set(tuning) & set(reporting)


def test_there_is_a_most():
    assert len(tuning_seeds(10_000)) == 10_000
    with pytest.raises(UserError, match="seeds is 10001; it must be 1 to 10,000"):
        tuning_seeds(10_001)
