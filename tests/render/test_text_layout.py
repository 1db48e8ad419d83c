"""Line breaks and truncation."""

from __future__ import annotations

from skillfocus.render.scene import wrap


def test_what_is_said_is_broken_into_lines_and_cut():
    assert wrap("one two three", 10, 62) == ["one two", "three"]
    assert wrap("o" * 20, 10, 62) == ["o" * 9 + "…"]
    assert wrap("梅" * 9, 10, 62) == ["梅" * 9]
    assert wrap("one two three four five six", 10, 32) == ["one", "two", "thre…"]
