"""Skills of the paper's worlds do what they did when they were last measured."""

from __future__ import annotations

import pytest

from digests import cases, check


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [case for world in ("four-rooms", "forage-world", "mud-world") for case in cases(world)],
    ids=" ".join,
)
def test_skills_side_effects_and_coverage_are_as_before(case):
    check(*case)
