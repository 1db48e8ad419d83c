"""Compare distances under a learned representation with true distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.errors import UserError


@dataclass(frozen=True)
class RepresentationFit:
    """Fit of a learned representation to true distances.

    Attributes:
        correlation: Pearson correlation of |phi(x) - phi(y)| and the true distance.
        most: Largest ratio of the two: the empirical Lipschitz constant.
        mean: Mean ratio.
    """

    correlation: float
    most: float
    mean: float


def representation_fit(
    phi: np.ndarray, distances: np.ndarray, other: np.ndarray
) -> RepresentationFit:
    """Compare distances under phi with true ones.

    Args:
        phi: phi(x) of each pair, float [n, width].
        distances: True distance of each pair, float [n]; pairs at distance 0 are ignored.
        other: phi(y) of each pair, float [n, width].
    """
    apart = np.linalg.norm(phi - other, axis=1)
    counts = distances > 1e-6
    if counts.sum() < 2:
        raise UserError("a comparison of distances needs at least two pairs at a positive distance")
    ratio = apart[counts] / distances[counts]
    flat = apart[counts].std() == 0 or distances[counts].std() == 0
    correlation = 0.0 if flat else float(np.corrcoef(apart[counts], distances[counts])[0, 1])
    return RepresentationFit(correlation, float(ratio.max()), float(ratio.mean()))
