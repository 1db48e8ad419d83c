"""Tuning and reporting seeds, which never overlap.

Seeds from 1,000 up are for tuning, those below for reporting. `tuning_seeds` and `reporting_seeds`
refuse the others, so a reported number never comes from a seed that its settings were chosen on.
"""

from __future__ import annotations

from skillfocus.core.seeds import seed_range
from skillfocus.errors import UserError

FIRST_TUNING_SEED = 1000


def tuning_seeds(count: int, first: int = FIRST_TUNING_SEED) -> range:
    """Return consecutive seeds to choose settings with.

    Raises:
        UserError: If there are none or too many, or one of them is a reporting seed.
    """
    if first < FIRST_TUNING_SEED:
        raise UserError(
            f"seed {first} is a reporting seed, and settings may only be chosen on tuning seeds: "
            f"use seeds from {FIRST_TUNING_SEED} up"
        )
    return seed_range(count, first)


def reporting_seeds(count: int, first: int = 0) -> range:
    """Return consecutive seeds to report results with.

    Raises:
        UserError: If there are none, or one of them is a tuning seed.
    """
    if first < 0 or count < 1:
        raise UserError(f"{count} reporting seeds from {first} up were asked for; there are none")
    if first + count > FIRST_TUNING_SEED:
        raise UserError(
            f"seed {first + count - 1} is a tuning seed, and results may not be reported on "
            f"those: use seeds below {FIRST_TUNING_SEED}"
        )
    return range(first, first + count)
