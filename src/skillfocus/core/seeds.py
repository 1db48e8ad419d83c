"""Seeds of random draws."""

from __future__ import annotations

import numpy as np

from skillfocus._internal.checks import is_whole, shown
from skillfocus.errors import UserError

MAX_SEEDS = 10_000
"""The most seeds of one command."""


def check_seed(seed: object) -> None:
    """Raise a `UserError` unless this is a seed."""
    if is_whole(seed) and int(seed) >= 0:  # pyright: ignore[reportArgumentType]
        return
    advice = f"; try seed={int(seed)}" if isinstance(seed, str) and seed.isdecimal() else ""
    raise UserError(f"seed must be a non-negative integer, got {shown(seed)}{advice}")


def check_generator(rng: object) -> None:
    """Raise a `UserError` unless this is a NumPy generator."""
    if isinstance(rng, np.random.Generator):
        return
    seed = int(rng) if is_whole(rng) and int(rng) >= 0 else 0  # pyright: ignore[reportArgumentType]
    raise UserError(
        f"rng must be a NumPy generator, got {shown(rng)}; try np.random.default_rng({seed})"
    )


def seed_range(count: int, first: int = 0) -> range:
    """Return consecutive seeds.

    Raises:
        UserError: If there are none, too many, or negative ones.
    """
    check_seed(first)
    if not is_whole(count) or not 1 <= count <= MAX_SEEDS:
        raise UserError(f"seeds is {count}; it must be 1 to {MAX_SEEDS:,}")
    return range(int(first), int(first) + int(count))
