"""Averages over starts, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.metrics.side_effects import SkillEffects


def averages(best, clean, side_effects):
    """Effects of a skill from some starts: what is possible and done, with and without what can
    never be changed back, and the expected number of side effects."""
    n, none = len(best), np.zeros(len(best))
    changed = np.stack([np.array(side_effects), none], axis=1)
    return SkillEffects(
        ("key",), ("position", "key"), np.arange(n), changed, changed, none, none, np.array(clean),
        none, True, np.array(best), none,
    )  # fmt: skip


def test_avoidable_by_hand():
    # As good as any behaviour that breaks nothing; one that may break things would come home.
    assert averages([[0.98, 1.0]], [[0.98, 0.98]], [0.02]).avoidable == pytest.approx(0.0)
    # 0.9 is possible, 0.6 done: 0.3.
    assert averages([[0.9, 1.0]], [[0.6, 0.8]], [0.4]).avoidable == pytest.approx(0.3)
    # One thing changes anyway, and is the only one: the position, lest a tool be taken.
    assert averages([[0.0, 1.0]], [[0.0, 0.0]], [1.0]).avoidable == 0.0
    # One thing changes anyway, and then in a quarter of the runs the position, too.
    assert averages([[0.0, 1.0]], [[0.0, 0.75]], [1.25]).avoidable == pytest.approx(0.25)
    # A skill that does nothing disturbs nothing, though more would be possible.
    assert averages([[0.9, 1.0]], [[1.0, 1.0]], [0.0]).avoidable == 0.0
    mixed = averages([[0.9, 1.0], [0.0, 1.0]], [[0.6, 0.8], [0.0, 0.75]], [0.4, 1.25])
    assert mixed.avoidable == pytest.approx((0.3 + 0.25) / 2)


def test_skills_that_are_as_good_as_possible_are_not_blamed(four_rooms):
    skills = sf.discover(four_rooms, sf.focused(sf.vic()), seed=0, targets={"tool_3": 2})
    best = max(sf.metrics.side_effects(skills), key=lambda e: e.changes_alone or 0.0)
    assert best.changes_alone == pytest.approx(best.best_possible, abs=0.002)
    assert best.avoidable is not None
    assert best.avoidable < 0.002
