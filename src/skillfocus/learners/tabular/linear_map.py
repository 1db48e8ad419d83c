"""phi(x) = W x: a 1-Lipschitz linear map of the variables' coordinates, for LSD.

    <phi(s_T) - phi(s_0), z>

A policy that does not see its start is rewarded for the change expected over all starts, which for
a linear map is the change from their mean. z is a centred one-hot vector: 1 for the skill,
-1 / (K - 1) for the K - 1 others. W follows the gradient of the reward by SGD; after each step it
is divided by its largest singular value (estimated by one power iteration), so that phi is
1-Lipschitz in the coordinates.

params[0] holds the K rows of W, then the mean of all coordinates, the power iteration's vector, the
sum of W's rows, and a row of working space.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skillfocus.compilation import njit
from skillfocus.learners.tabular.compiled import update_function
from skillfocus.learners.tabular.discriminator import UniformPrior

MEAN, VECTOR, SUM, WORK = -4, -3, -2, -1
"""Rows of params[0] after those of W."""


@njit(cache=True, nogil=True)
def _project(params, component, origin, point):
    n = params.shape[1] - 4
    other = -1.0 / (n - 1) if n > 1 else 0.0
    total = 0.0
    for j in range(point.shape[0]):
        direction = params[0, component, j] * (1.0 - other) + other * params[0, SUM, j]
        total += direction * (point[j] - origin[j])
    return (total,)


@njit(cache=True, nogil=True)
def project(params, coordinates, component, start, value):
    """<W (x_value - x_start), z>"""
    return _project(params, component, coordinates[start], coordinates[value])


@njit(cache=True, nogil=True)
def project_from_mean(params, coordinates, component, start, value):
    """<W (x_value - mean x), z>"""
    return _project(params, component, params[0, MEAN], coordinates[value])


@njit(cache=True, nogil=True)
def _ascend(params, coordinates, component, origin, value, rate):
    n = params.shape[1] - 4
    other = -1.0 / (n - 1) if n > 1 else 0.0
    dim = coordinates.shape[1]
    w = params[0]
    square = length = 0.0
    for j in range(dim):
        change = rate * (coordinates[value, j] - origin[j])
        for k in range(n):
            w[k, j] += change * (1.0 if k == component else other)
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


@update_function
def ascend(params, coordinates, component, start, value, rate):
    """Ascend the projection's gradient, then divide W by its largest singular value."""
    _ascend(params, coordinates, component, coordinates[start], value, rate)


@update_function
def ascend_from_mean(params, coordinates, component, start, value, rate):
    """`ascend` for `project_from_mean`."""
    _ascend(params, coordinates, component, params[0, MEAN], value, rate)


@dataclass(frozen=True)
class LinearMap(UniformPrior):
    """The projection of a group's change on each component's direction.

    Attributes:
        from_mean: Whether the change is from the mean of all values instead of the start.
    """

    from_mean: bool = False

    @property
    def predict(self) -> Callable:
        """The projection."""
        return project_from_mean if self.from_mean else project

    @property
    def update(self) -> Callable:
        """Gradient ascent on it."""
        return ascend_from_mean if self.from_mean else ascend

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return float32 [1, n_components + 4, n_dimensions].

        Directions are random, centred and isotropic. Otherwise skills that share a direction push
        the others away from it, and some directions end up with no skill.
        """
        del n_starts
        weights = rng.standard_normal((n_components, coordinates.shape[1]))
        if n_components > 1:
            weights -= weights.mean(axis=0)
        left, singular, right = np.linalg.svd(weights, full_matrices=False)
        proper = singular > 1e-9
        weights = left[:, proper] @ right[proper]
        mean, zeros = coordinates.mean(axis=0), np.zeros(coordinates.shape[1])
        rows = [*weights, mean, right[0], weights.sum(axis=0), zeros]
        return np.array([rows], dtype=np.float32)

    def swap(self, params: np.ndarray, one: int, other: int) -> None:
        """Let two components change places, in place."""
        params[0, [one, other]] = params[0, [other, one]]
