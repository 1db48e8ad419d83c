"""How distances under a learned representation relate to true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.errors import UserError


@dataclass(frozen=True)
class RepresentationFit:
    """How a learned representation relates to true distances.

    Attributes:
        correlation: Of |phi(x) - phi(y)| and the true distance, after Pearson.
        most: The largest ratio of the two: the Lipschitz constant as measured.
        mean: The mean ratio.
    """

    correlation: float
    most: float
    mean: float


def representation_fit(
    phi: np.ndarray, distances: np.ndarray, other: np.ndarray
) -> RepresentationFit:
    """Compare distances under phi with true ones.

    Args:
        phi: Of one half of the pairs, float [n, width].
        distances: True distances of the pairs, float [n], positive where they count.
        other: Of the other half, float [n, width].
    """
    apart = np.linalg.norm(phi - other, axis=1)
    counts = distances > 1e-6
    if counts.sum() < 2:
        raise UserError("a comparison of distances needs at least two pairs that are apart")
    ratio = apart[counts] / distances[counts]
    flat = apart[counts].std() == 0 or distances[counts].std() == 0
    correlation = 0.0 if flat else float(np.corrcoef(apart[counts], distances[counts])[0, 1])
    return RepresentationFit(correlation, float(ratio.max()), float(ratio.mean()))
