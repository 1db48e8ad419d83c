"""Sweeps over settings: every point of a grid, on tuning seeds; the best one, on reporting seeds.

Seeds from 1,000 up are for tuning, those below for reporting: `tuning_seeds` and `reporting_seeds`
refuse the others, so a number that is reported never comes from a seed that chose its settings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from skillfocus.errors import UserError, unknown
from skillfocus.metrics.statistics import mean_interval
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Setting

FIRST_TUNING_SEED = 1000


def tuning_seeds(count: int, first: int = FIRST_TUNING_SEED) -> range:
    if count < 1:
        raise UserError(f"{count} tuning seeds were asked for; at least 1 is needed")
    if first < FIRST_TUNING_SEED:
        raise UserError(
            f"seed {first} is a reporting seed, and a sweep may only look at tuning seeds: choose "
            f"seeds from {FIRST_TUNING_SEED} up"
        )
    return range(first, first + count)


def reporting_seeds(count: int, first: int = 0) -> range:
    if first < 0 or count < 1:
        raise UserError(f"{count} reporting seeds from {first} up were asked for; there are none")
    if first + count > FIRST_TUNING_SEED:
        raise UserError(
            f"seed {first + count - 1} is a tuning seed, and what is reported may not come from "
            f"one: choose seeds below {FIRST_TUNING_SEED}"
        )
    return range(first, first + count)


@dataclass(frozen=True)
class Axis:
    """One setting and what it may be: `values`, or for a search all from `low` to `high`."""

    setting: str
    values: tuple[Setting, ...] = ()
    low: float = math.nan
    high: float = math.nan
    log: bool = False


def parse_axis(text: str) -> Axis:
    """`strength=1,2,4`, or for a search `strength=0.5..16`, `strength=0.5..16:log`."""
    setting, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not setting or not values:
        raise UserError(f"cannot read {text!r}; write NAME=VALUE,VALUE,… or NAME=LOW..HIGH[:log]")
    if ".." not in values:
        members = tuple(_value(part) for part in values.split(","))
        if len(set(members)) != len(members):
            raise UserError(f"{text!r} names a value twice")
        return Axis(setting, members)
    bounds, _, scale = values.partition(":")
    low, high = (_value(part) for part in bounds.split("..", 1))
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


def _value(text: str) -> Setting:
    text = text.strip()
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    if text in ("true", "false"):
        return text == "true"
    return text


def check_axes(axes: Sequence[Axis]) -> None:
    if not axes:
        raise UserError("name what to sweep over, such as --over strength=1,2,4 or --paper gamma")
    names = [axis.setting for axis in axes]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"{twice} is swept over twice; give all its values at once")
    if "seed" in names:
        raise UserError("seeds are not swept over: --seeds says how many each point gets")


def grid(axes: Sequence[Axis]) -> list[dict[str, Setting]]:
    """Every combination of the axes' values."""
    check_axes(axes)
    for axis in axes:
        if not axis.values:
            raise UserError(
                f"{axis.setting} is a range, and a grid needs values; give values, or --trials to "
                f"search the range"
            )
    return [
        dict(zip([axis.setting for axis in axes], values, strict=True))
        for values in itertools.product(*(axis.values for axis in axes))
    ]


def runs_of(
    base: Discovery, point: Mapping[str, Setting], seeds: Sequence[int], metric: str
) -> list[Discovery]:
    """A point's runs, if they have what they are to be judged by."""
    runs = [base.changed({**point, "seed": seed}) for seed in seeds]
    if metric not in runs[0].metrics():
        raise unknown("metric", metric, [*runs[0].metrics(), "auc"])
    if metric in ("focus", "control") and not runs[0].make_objective().targeted:
        raise UserError(
            f"{runs[0].objective} skills have no targets, so there is no {metric} to judge by; "
            f"choose another with --metric, such as auc"
        )
    return runs


@dataclass(frozen=True)
class Score:
    """How one point of a sweep did: its mean over seeds and a 90 % interval of that."""

    point: dict[str, Setting]
    mean: float
    low: float
    high: float
    values: tuple[float, ...]
    """One per seed."""

    def as_json(self) -> dict[str, object]:
        interval = [self.low, self.high] if math.isfinite(self.low) else None
        return {**self.point, "mean": self.mean, "interval": interval, "values": list(self.values)}


def values_of(frame: pl.DataFrame, metric: str) -> dict[str, float | None]:
    """A metric of every run, averaged over its steps."""
    chosen = frame.filter(pl.col("metric") == metric)
    return dict(chosen.group_by("run").agg(pl.col("value").mean()).iter_rows())


def score(
    values: Mapping[str, float | None], runs: Sequence[Discovery], point: dict[str, Setting]
) -> Score | None:
    """A point's score, from every run's value; None if one of its runs is missing."""
    if any(run.id not in values for run in runs):
        return None
    found = tuple(value for run in runs if (value := values[run.id]) is not None)
    if len(found) < len(runs):
        raise UserError(f"{runs[0].label} has no value of this metric; choose another --metric")
    return Score(point, *mean_interval(found), found)


def best_of(scores: Sequence[Score], minimise: bool) -> Score:
    """The best mean; the first of equals."""
    return min(scores, key=lambda s: s.mean) if minimise else max(scores, key=lambda s: s.mean)
