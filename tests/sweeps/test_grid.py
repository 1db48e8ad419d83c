from __future__ import annotations

import pytest

from skillfocus.errors import UserError
from skillfocus.sweeps.grid import Axis, grid_points, parse_axis


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("gamma=0.9,0.99", Axis("gamma", (0.9, 0.99))),
        ("rounds = 1, 20", Axis("rounds", (1, 20))),
        ("walk=true,false", Axis("walk", (True, False))),
        ("objective=vic,lsd", Axis("objective", ("vic", "lsd"))),
        ("rate=0.1..0.7", Axis("rate", low=0.1, high=0.7)),
        ("strength=1e-1..20:log", Axis("strength", low=0.1, high=20, log=True)),
    ],
)
def test_axes_are_read(text, axis):
    read = parse_axis(text)
    assert (read.setting, read.values, read.log) == (axis.setting, axis.values, axis.log)
    if not axis.values:
        assert (read.low, read.high) == (axis.low, axis.high)


@pytest.mark.parametrize(
    ("text", "message"),
    [("gamma", "NAME=VALUE"), ("=1", "NAME=VALUE"), ("a=", "NAME=VALUE"), ("a=1,1", "twice"),
     ("a=x..y", "two numbers"), ("a=2..1", "LOW must be below HIGH"), ("a=0..1:log", "positive"),
     ("a=0..1:lin", "ends in :log"), ("a=nan..1", "two numbers"),
     ("a=1:0..2", "two numbers"), ("a\nb=1..2", "NAME=VALUE")],
)  # fmt: skip
def test_axes_that_cannot_be_read_say_so(text, message):
    with pytest.raises(UserError, match=message):
        parse_axis(text)


@pytest.mark.parametrize("digits", [40, 400])
def test_numbers_too_large_for_a_float_are_text(digits):
    (value,) = parse_axis(f"strength=1{'0' * digits}").values
    assert value == (10**40 if digits == 40 else f"1{'0' * 400}")


def test_a_grid_is_every_combination():
    points = grid_points([Axis("a", (1, 2)), Axis("b", ("x", "y", "z"))])
    assert len(points) == 6
    assert points[:2] == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]
    for axes, message in (
        ([], "name what to sweep over"),
        ([Axis("a", low=0, high=1)], "--trials"),
        ([Axis("a", (1,)), Axis("a", (2,))], "a is swept over twice"),
        ([Axis("seed", (1, 2))], "seeds are not swept over"),
    ):
        with pytest.raises(UserError, match=message):
            grid_points(axes)


def test_a_grid_with_very_many_points_is_refused():
    axes = [Axis(name, tuple(range(100))) for name in ("rounds", "sweeps", "rollouts")]
    with pytest.raises(
        UserError, match=r"the grid has 1,000,000 points, more than 100,000; .*--trials"
    ):
        grid_points(axes)
