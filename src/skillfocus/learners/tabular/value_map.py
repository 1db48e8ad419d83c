"""phi(x) = W f_x: a table of a variable's values, 1-Lipschitz in their indicators, for LSD.

    <phi(s_T) - phi(s_0), z> = c z^T (W[:, value] - W[:, start])

f_x = c e_x with e_x the indicator of value x. Two values are c sqrt 2 apart, the root mean square
distance of the variable's coordinates, so that rewards are as large as with `linear_map.py`. As
there, z is a centred one-hot vector and W follows the gradient of the reward; a singular value that
exceeds 1 is set to 1, which leaves the other directions as they are.

Of all W with singular values of at most 1, those that send components to values of their own earn
the most: two that share a value share a singular vector, and get 1 / sqrt 2 each instead of 1. The
gradient does not see values that nobody visits, so W starts as such an assignment, in random order.

params[0] holds the K rows of W, then their sum, and c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skillfocus.compilation import njit
from skillfocus.learners.tabular.compiled import update_function
from skillfocus.learners.tabular.discriminator import UniformPrior, assign_owners

SUM, SCALE = -2, -1
"""Rows of params[0] after those of W."""


@njit(cache=True, nogil=True)
def project_value(params, coordinates, component, start, value):
    """c z^T (W[:, value] - W[:, start])"""
    n = params.shape[1] - 2
    other = -1.0 / (n - 1) if n > 1 else 0.0
    w = params[0]
    own = w[component, value] - w[component, start]
    total = own * (1.0 - other) + other * (w[SUM, value] - w[SUM, start])
    return (w[SCALE, 0] * total,)


@update_function
def ascend_value(params, coordinates, component, start, value, rate):
    """Ascend the projection's gradient, then set a singular value above 1 to 1.

    Only directions near the gradient's can exceed 1, so one power iteration begins there.
    """
    if value == start:
        return
    n = params.shape[1] - 2
    other = -1.0 / (n - 1) if n > 1 else 0.0
    w = params[0]
    step = rate * w[SCALE, 0]
    u = np.empty(n, np.float32)
    v = np.zeros(params.shape[2], np.float32)
    for k in range(n):
        change = np.float32(step * (1.0 if k == component else other))
        w[k, value] += change
        w[k, start] -= change
        u[k] = w[k, value] - w[k, start]
    for k in range(n):
        v += u[k] * w[k]
    v /= np.float32(math.sqrt((v * v).sum()) + 1e-12)
    square = 0.0
    for k in range(n):
        u[k] = (w[k] * v).sum()
        square += u[k] * u[k]
    if square > 1.0:
        excess = np.float32(1.0 - 1.0 / math.sqrt(square))
        for k in range(n):
            w[k] -= excess * u[k] * v
        w[SUM] -= excess * u.sum() * v  # z sums to 0: the gradient does not change it


@dataclass(frozen=True)
class ValueMap(UniformPrior):
    """The projection of a change of value on each component's direction."""

    predict = staticmethod(project_value)
    update = staticmethod(ascend_value)

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return float32 [1, n_components + 2, n_values]."""
        del n_starts
        n, n_values = n_components, len(coordinates)
        weights = np.zeros((n, n_values))
        if n <= n_values:
            weights[assign_owners(n, n_values, rng), np.arange(n_values)] = 1.0
        else:
            weights[np.arange(n), assign_owners(n_values, n, rng)] = 1.0
        weights /= np.linalg.norm(weights, 2)
        pairs = max(1, n_values - 1) / n_values  # the share of pairs of different values
        scale = math.sqrt(coordinates.var(axis=0).sum() / pairs)
        rows = [*weights, weights.sum(axis=0), np.full(n_values, scale)]
        return np.array([rows], dtype=np.float32)
