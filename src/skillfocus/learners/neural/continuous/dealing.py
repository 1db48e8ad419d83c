"""Values dealt out beforehand, so that skills have something to tell them apart from the start.

Discriminators that start from chance reward nothing in particular, and skills that are all alike
give them nothing to learn. So at first every value of a discrete component owns a place among the
values that random actions reach, as far as possible from the others' places, and

    q(k | s) = softmax_k( -|s - place_k|^2 / (2 width^2) )

A direction on a sphere owns the values in that direction from the mean, under a random rotation.
The discriminator networks meanwhile learn from what skills do, and take over later.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from skillfocus.skills.continuous.actor import scaled_values
from skillfocus.skills.continuous.estimates import MOST, SkillEstimates

SHARPNESS = 0.35
"""Width of a place, relative to the distance of the nearest two."""
SURE = 0.5
"""Concentration of a direction one standard deviation from the mean, relative to `MOST`."""


def deal(
    estimates: SkillEstimates, reached: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Deal out values.

    Args:
        estimates: The discriminators.
        reached: Values that random actions reach, [n, size].
        rng: Source of the draws.

    Returns:
        `places` [n_copies, width, size] and `narrowness` [n_copies, 1] for discrete components,
        `middle` [n_copies, 1, size] and `turn` [n_copies, size, width] for those on spheres.
    """
    x = np.asarray(scaled_values(estimates.space, reached))
    n, size, width = estimates.n_copies, x.shape[1], estimates.width
    dealt = {
        "places": np.zeros((n, width, size), np.float32),
        "narrowness": np.ones((n, 1), np.float32),
        "middle": np.zeros((n, 1, size), np.float32),
        "turn": np.zeros((n, size, width), np.float32),
    }
    for copy in range(n):
        seen = estimates.seen[copy, :, :size]
        mine, used = x * seen, int(estimates.used[copy].sum())
        if estimates.discrete[copy]:
            chosen, gap = _far_apart(mine, seen[0], used, rng)
            dealt["places"][copy, :used] = chosen
            dealt["narrowness"][copy] = 1 / (2 * (SHARPNESS * gap) ** 2)
            continue
        mean, spread = mine.mean(axis=0), mine.std(axis=0).max() + 1e-6
        rows = np.flatnonzero(seen[0])
        square = np.linalg.qr(rng.standard_normal((max(len(rows), used),) * 2))[0]
        dealt["middle"][copy, 0] = mean
        dealt["turn"][copy][np.ix_(rows, np.arange(used))] = (
            SURE * MOST / spread * square[: len(rows), :used]
        )
    return dealt


def _far_apart(
    x: np.ndarray, seen: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Choose values far apart, one after the other the farthest from those chosen before.

    If fewer different values were reached, the rest is drawn from the box.

    Returns:
        The values in a random order, [count, size], and the distance of the nearest two.
    """
    chosen = [x[rng.integers(len(x))]]
    distance = np.linalg.norm(x - chosen[0], axis=1)
    chosen[0] = x[distance.argmax()]  # an end, not somewhere in between
    distance = np.linalg.norm(x - chosen[0], axis=1)
    while len(chosen) < count:
        place = x[distance.argmax()]
        if distance.max() < 1e-3:
            place = (rng.uniform(-1, 1, x.shape[1]) * seen).astype(np.float32)
        chosen.append(place)
        distance = np.minimum(distance, np.linalg.norm(x - place, axis=1))
    places = np.array(chosen, np.float32)[rng.permutation(count)]
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(count)
    return places, max(float(apart.min()), 1e-3)


def dealt_outputs(estimates: SkillEstimates, dealt: Any, values: Any) -> Any:
    """Return what discriminators would say if they knew the deal, [n_copies, n, width]."""
    x = scaled_values(estimates.space, values)[None] * estimates.seen[:, :, : estimates.space.size]
    squares = (
        (x * x).sum(axis=2, keepdims=True)
        - 2 * jnp.matmul(x, jnp.swapaxes(dealt["places"], 1, 2))
        + (dealt["places"] ** 2).sum(axis=2)[:, None]
    )
    logits = -squares * dealt["narrowness"][:, :, None]
    directions = jnp.matmul(x - dealt["middle"], dealt["turn"])
    return jnp.where(estimates.discrete[:, None, None], logits, directions)
