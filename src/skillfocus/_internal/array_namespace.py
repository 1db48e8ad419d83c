"""Formulas that serve NumPy arrays and JAX arrays alike."""

from __future__ import annotations

from typing import Any

import numpy as np


def array_namespace(array: Any) -> Any:
    """Return the module whose functions take this array: `numpy` or `jax.numpy`."""
    return np if isinstance(array, np.ndarray) else array.__array_namespace__()
