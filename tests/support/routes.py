"""Ways through `TwoRooms`, as actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.worlds.jax.two_rooms import SPEED

Action = tuple[float, float, float, float]


def go(
    where: Sequence[float] | np.ndarray,
    target: Sequence[float] | np.ndarray,
    grip: float = -1.0,
    turn: float = 0.0,
) -> list[Action]:
    """Return the steps from one place to another, in a straight line."""
    way = np.subtract(target, where)
    count = int(np.ceil(np.abs(way).max() / SPEED - 1e-6))
    right, up = (way / count).tolist()
    return [(right, up, grip, turn)] * count
