"""SMIL elements."""

from __future__ import annotations

import re

import pytest

from skillfocus.render.animation import HOLD_S, STEP_S, Timeline


def numbers(text, attribute):
    return [float(part) for part in re.search(rf'{attribute}="([^"]*)"', text)[1].split(";")]


def test_values_are_reached_step_by_step_and_the_last_is_held():
    made = Timeline(2).animate("x", ["1", "5", "3"])
    whole = 2 * STEP_S + HOLD_S
    assert made.startswith('<animate attributeName="x"')
    assert f'dur="{whole:g}s"' in made
    assert numbers(made, "values") == [1, 5, 3, 3]
    times = [0, STEP_S / whole, 2 * STEP_S / whole, 1]
    assert numbers(made, "keyTimes") == pytest.approx(times, abs=1e-4)


def test_what_stays_is_not_animated():
    assert Timeline(2).animate("x", ["1", "1", "1"]) == ""
    assert Timeline(2).fade([True, True, True]) == ""


def test_groups_appear_and_disappear_at_their_steps():
    made = Timeline(3).fade([False, True, True, False])
    whole = 3 * STEP_S + HOLD_S
    assert made.startswith('<g opacity="0">')
    assert numbers(made, "values") == [0, 1, 0]
    assert numbers(made, "keyTimes") == pytest.approx(
        [0, STEP_S / whole, 3 * STEP_S / whole], abs=1e-4
    )
    assert Timeline(1).fade([False, True]).startswith('<g opacity="1">')
