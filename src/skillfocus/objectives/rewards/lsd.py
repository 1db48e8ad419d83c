"""Lipschitz-constrained Skill Discovery (Equation 4): go far in the skill's own direction.

    r(s_0, z, s_T) = <phi(s_T) - phi(s_0), z>,   phi(x) = W x

z enters as a centred one-hot: 1 for the skill, -1 / (K - 1) for the K - 1 others. W follows the
gradient of E[r] by SGD; after each step it is divided by its largest singular value (estimated
by one power iteration), so that phi is 1-Lipschitz in the coordinates of the variables.

params[0] holds the K rows of W, then the power iteration's vector, the sum of W's rows, and a row
to work in.
"""

from __future__ import annotations

import math

import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.tabular.compiled import reward_function, update_function
from skillfocus.objectives.objective import Objective

VECTOR, SUM, WORK = -3, -2, -1


@reward_function
def aligned_distance(params, values, skill, start, value):
    n = params.shape[1] - 3
    other = -1.0 / (n - 1) if n > 1 else 0.0
    total = 0.0
    for j in range(values.shape[1]):
        direction = params[0, skill, j] * (1.0 - other) + other * params[0, SUM, j]
        total += direction * (values[value, j] - values[start, j])
    return total


@update_function
def ascend(params, values, skill, start, value, rate):
    n = params.shape[1] - 3
    other = -1.0 / (n - 1) if n > 1 else 0.0
    dim = values.shape[1]
    w = params[0]
    square = length = 0.0
    for j in range(dim):
        change = rate * (values[value, j] - values[start, j])
        for k in range(n):
            w[k, j] += change * (1.0 if k == skill else other)
        w[SUM, j] = w[WORK, j] = 0.0
    for k in range(n):  # with v of length 1: u = W v, |u| is about sigma, the next v is W^T u
        u = 0.0
        for j in range(dim):
            u += w[k, j] * w[VECTOR, j]
        square += u * u
        for j in range(dim):
            w[WORK, j] += u * w[k, j]
    for j in range(dim):
        length += w[WORK, j] ** 2
    sigma, length = math.sqrt(square), math.sqrt(length)
    if sigma > 1e-12 and length > 1e-12:
        for j in range(dim):
            w[VECTOR, j] = w[WORK, j] / length
            for k in range(n):
                w[k, j] /= sigma
    for j in range(dim):
        for k in range(n):
            w[SUM, j] += w[k, j]


def _init(n: int, n_starts: int, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random directions that add up to nothing and reach equally far along every axis: with fewer
    skills one way than another, those that go the same way would drive the others off it, and
    leave a corner of the world to nobody."""
    del n_starts
    weights = rng.standard_normal((n, values.shape[1]))
    if n > 1:
        weights -= weights.mean(axis=0)
    left, singular, right = np.linalg.svd(weights, full_matrices=False)
    proper = singular > 1e-9
    weights = left[:, proper] @ right[proper]
    rows = [*weights, right[0], weights.sum(axis=0), np.zeros(values.shape[1])]
    return np.array([rows], dtype=np.float32)


def lsd(rate: float = 0.1) -> Objective:
    """LSD with a linear phi. `rate` is the step of SGD."""
    if not 0 < rate < float("inf"):
        raise UserError(f"the learning rate of phi must be positive and finite, not {rate}")
    return Objective(
        name="lsd", reward=aligned_distance, update=ascend, init=_init, rate=rate, strength=2.0
    )
