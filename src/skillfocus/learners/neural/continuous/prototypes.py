"""Fixed prototype discriminators, which supply the rewards early in training.

Untrained discriminators reward nothing in particular, and skills that behave alike give them
nothing to learn. So at first each value of a discrete component has a prototype among the values
that random actions reach, far from the other prototypes, and

    q(k | s) = softmax_k( -|s - prototype_k|^2 / (2 width^2) )

On a sphere, q(z | s) is centred at the direction of s from the mean, under a random rotation.
The discriminator networks are trained meanwhile and take over after `Actor.hold`.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from skillfocus.skills.continuous.actor import scaled_values
from skillfocus.skills.continuous.estimates import MOST, SkillEstimates

SHARPNESS = 0.35
"""Width of a prototype, relative to the distance between the closest two."""
SURE = 0.5
"""Concentration of a direction one standard deviation from the mean, relative to `MOST`."""


def choose_prototypes(
    estimates: SkillEstimates, reached: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Choose the parameters of the prototype discriminators.

    Args:
        estimates: The discriminators.
        reached: Values that random actions reach, [n, size].
        rng: Source of randomness.

    Returns:
        `prototypes` [n_copies, width, size] and `precision` [n_copies, 1] for discrete components,
        `mean` [n_copies, 1, size] and `rotation` [n_copies, size, width] for those on spheres.
    """
    x = np.asarray(scaled_values(estimates.space, reached))
    n, size, width = estimates.n_copies, x.shape[1], estimates.width
    parameters = {
        "prototypes": np.zeros((n, width, size), np.float32),
        "precision": np.ones((n, 1), np.float32),
        "mean": np.zeros((n, 1, size), np.float32),
        "rotation": np.zeros((n, size, width), np.float32),
    }
    for copy in range(n):
        seen = estimates.seen[copy, :, :size]
        mine, used = x * seen, int(estimates.used[copy].sum())
        if estimates.discrete[copy]:
            chosen, gap = _far_apart(mine, seen[0], used, rng)
            parameters["prototypes"][copy, :used] = chosen
            parameters["precision"][copy] = 1 / (2 * (SHARPNESS * gap) ** 2)
            continue
        mean, spread = mine.mean(axis=0), mine.std(axis=0).max() + 1e-6
        rows = np.flatnonzero(seen[0])
        square = np.linalg.qr(rng.standard_normal((max(len(rows), used),) * 2))[0]
        parameters["mean"][copy, 0] = mean
        parameters["rotation"][copy][np.ix_(rows, np.arange(used))] = (
            SURE * MOST / spread * square[: len(rows), :used]
        )
    return parameters


def _far_apart(
    x: np.ndarray, seen: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Choose values by farthest-point sampling.

    If fewer distinct values were reached, the rest is sampled uniformly within the bounds.

    Returns:
        The values in a random order, [count, size], and the distance between the closest two.
    """
    chosen = [x[rng.integers(len(x))]]
    distance = np.linalg.norm(x - chosen[0], axis=1)
    chosen[0] = x[distance.argmax()]  # start at an extreme
    distance = np.linalg.norm(x - chosen[0], axis=1)
    while len(chosen) < count:
        farthest = x[distance.argmax()]
        if distance.max() < 1e-3:
            farthest = (rng.uniform(-1, 1, x.shape[1]) * seen).astype(np.float32)
        chosen.append(farthest)
        distance = np.minimum(distance, np.linalg.norm(x - farthest, axis=1))
    values = np.array(chosen, np.float32)[rng.permutation(count)]
    gaps = np.linalg.norm(values[:, None] - values[None], axis=2) + 1e9 * np.eye(count)
    return values, max(float(gaps.min()), 1e-3)


def prototype_outputs(estimates: SkillEstimates, parameters: Any, values: Any) -> Any:
    """Return the prototype discriminators' outputs, [n_copies, n, width].

    They have the form of `SkillEstimates.outputs`.
    """
    x = scaled_values(estimates.space, values)[None] * estimates.seen[:, :, : estimates.space.size]
    squares = (
        (x * x).sum(axis=2, keepdims=True)
        - 2 * jnp.matmul(x, jnp.swapaxes(parameters["prototypes"], 1, 2))
        + (parameters["prototypes"] ** 2).sum(axis=2)[:, None]
    )
    logits = -squares * parameters["precision"][:, :, None]
    directions = jnp.matmul(x - parameters["mean"], parameters["rotation"])
    return jnp.where(estimates.discrete[:, None, None], logits, directions)
