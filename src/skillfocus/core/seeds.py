"""Seeds of random draws."""

from __future__ import annotations

import numpy as np

from skillfocus.errors import UserError

MAX_SEEDS = 10_000
"""The most seeds of one command."""


def check_seed(seed: object) -> None:
    """Raise a `UserError` unless this is a seed."""
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return
    advice = f"; try seed={int(seed)}" if isinstance(seed, str) and seed.isdecimal() else ""
    raise UserError(f"seed must be a non-negative integer, got {seed!r}{advice}")


def seed_range(count: int, first: int = 0) -> range:
    """Return consecutive seeds.

    Raises:
        UserError: If there are none, too many, or negative ones.
    """
    check_seed(first)
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"seeds is {count}; it must be 1 to {MAX_SEEDS:,}")
    return range(int(first), int(first) + int(count))
