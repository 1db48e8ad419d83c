"""The axes of a sweep, and the points of a grid."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from skillfocus.errors import UserError
from skillfocus.runs.run import Setting

Point = dict[str, Setting]
"""One point of a sweep: a value for each setting that is swept over."""
MAX_POINTS = 100_000
"""The most points of a grid."""


@dataclass(frozen=True)
class Axis:
    """One setting that is swept over, with values or, for a search, a range.

        Axis("strength", (1, 2, 4))
        Axis("strength", low=0.5, high=16.0, log=True)

    The `repr` of axes is part of a search's identity (`SweepSpec.digest`): renaming a field would
    make stored searches start again.

    Attributes:
        setting: Name of the setting, one of `Discovery.setting_types`.
        values: Its values; empty for a range.
        low: Lower end of the range.
        high: Upper end of the range.
        log: Whether the range is searched on a logarithmic scale.
    """

    setting: str
    values: tuple[Setting, ...] = ()
    low: float = math.nan
    high: float = math.nan
    log: bool = False


def parse_axis(text: str) -> Axis:
    """Parse `strength=1,2,4`, or a range such as `strength=0.5..16` or `strength=0.5..16:log`.

    Raises:
        UserError: If the text is neither.
    """
    setting, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not values or len(setting.split()) != 1:
        raise UserError(f"cannot read {text!r}; write NAME=VALUE,VALUE,… or NAME=LOW..HIGH[:log]")
    if ".." not in values:
        members = tuple(_parse_value(part) for part in values.split(","))
        if len(set(members)) != len(members):
            raise UserError(f"{text!r} names a value twice")
        return Axis(setting, members)
    bounds, _, scale = values.partition(":")
    low, high = (_parse_value(part) for part in bounds.partition("..")[::2])
    if isinstance(low, str | bool | None) or isinstance(high, str | bool | None):
        raise UserError(f"the range {values!r} of {setting} must be two numbers")
    if scale not in ("", "log"):
        raise UserError(f"a range ends in :log or in nothing, not in {':' + scale!r}")
    if not low < high or (scale == "log" and low <= 0):
        raise UserError(
            f"cannot use the range {values!r} of {setting}: LOW must be below HIGH, and with :log "
            f"both must be positive"
        )
    return Axis(setting, low=low, high=high, log=scale == "log")


def _parse_value(text: str) -> Setting:
    """Return an int, a float or a bool if the text is one, else the text itself."""
    text = text.strip()
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if abs(number) <= sys.float_info.max:  # neither infinite nor too large for a float
            return number
    if text in ("true", "false"):
        return text == "true"
    return text


def check_axes(axes: Sequence[Axis]) -> None:
    """Raise `UserError` if there are no axes, one setting has two, or one is the seed."""
    if not axes:
        raise UserError("name what to sweep over, such as --over strength=1,2,4 or --paper gamma")
    names = [axis.setting for axis in axes]
    if len(set(names)) != len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise UserError(f"{duplicate} is swept over twice; give all its values at once")
    if "seed" in names:
        raise UserError("seeds are not swept over: --seeds says how many each point gets")


def grid_points(axes: Sequence[Axis]) -> list[Point]:
    """Return every combination of the axes' values.

    Raises:
        UserError: If an axis is a range, or there are too many combinations.
    """
    check_axes(axes)
    for axis in axes:
        if not axis.values:
            raise UserError(
                f"{axis.setting} is a range, and a grid needs values; give values, or --trials to "
                f"search the range"
            )
    n_points = math.prod(len(axis.values) for axis in axes)
    if n_points > MAX_POINTS:
        raise UserError(
            f"the grid has {n_points:,} points, more than {MAX_POINTS:,}; give fewer values, or "
            f"--trials to try some of them"
        )
    return [
        dict(zip([axis.setting for axis in axes], values, strict=True))
        for values in itertools.product(*(axis.values for axis in axes))
    ]
