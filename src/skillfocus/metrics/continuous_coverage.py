"""Coverage of continuous variables: the share of equal-sized bins in which skills end."""

from __future__ import annotations

import numpy as np

from skillfocus.errors import UserError
from skillfocus.metrics.continuous import ContinuousEffects
from skillfocus.skills.continuous.skills import ContinuousSkills

BINS = 10
"""Bins per dimension of a variable."""
MAX_BINS = 1_000_000


def binned_coverage(
    values: np.ndarray, low: np.ndarray, high: np.ndarray, bins: int = BINS
) -> float:
    """Return the share of equal-sized bins of a box that contain a value.

    Args:
        values: float [n, dimensions].
        low: Lower corner, [dimensions].
        high: Upper corner, [dimensions]; values outside are clipped to the nearest bin.
        bins: Bins per dimension.

    Raises:
        UserError: If the box is unbounded, or has too many bins.
    """
    low, high = np.asarray(low, float), np.asarray(high, float)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        raise UserError("coverage needs bounded variables")
    if bins ** len(low) > MAX_BINS:
        raise UserError(f"{bins} bins per dimension make more than {MAX_BINS:,} bins; use fewer")
    places = np.floor((values - low) / (high - low) * bins).astype(int).clip(0, bins - 1)
    codes = places @ (bins ** np.arange(len(low)))
    return len(np.unique(codes)) / bins ** len(low)


def coverage_by_variable(
    effects: list[ContinuousEffects], skills: ContinuousSkills, bins: int = BINS
) -> dict[str, float]:
    """Return, for each target, the share of its bins in which one of its skills ends.

    For skills without targets, every variable counts as a target. Unbounded variables are left out.
    """
    space, found = skills.world.space, {}
    for name, variable, at in zip(space.names, space.variables, space.slices, strict=True):
        ends = [each.ends[:, at] for each in effects if each.target in (name, None)]
        if ends and np.isfinite([*variable.low, *variable.high]).all():
            low, high = np.array(variable.low), np.array(variable.high)
            found[name] = binned_coverage(np.concatenate(ends), low, high, bins)
    return found
