"""Skills of the mud world are those of the stored digests, bit for bit."""

from __future__ import annotations

import pytest

from digests import cases, check


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("mud-world"), ids=" ".join)
def test_skills_side_effects_and_coverage_are_as_before(case):
    check(*case)
