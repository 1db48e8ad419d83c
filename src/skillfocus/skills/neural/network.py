"""Feed-forward network with layer normalization, for NumPy and JAX arrays.

    x -> [linear, layer norm, max(0, .)] per hidden layer -> linear

Parameters are a dictionary of arrays `w0`, `b0`, `g0`, …, the names they have in files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skillfocus.machine import array_namespace

EPSILON = 1e-5
Parameters = dict[str, Any]
"""Arrays by name."""


def init_network(
    sizes: Sequence[int], rng: np.random.Generator, *, output_bias: float = 0.0
) -> Parameters:
    """Return initial parameters: He-normal weights, and near-zero ones in the last layer.

    Args:
        sizes: Widths of all layers, input and output included.
        rng: Source of randomness.
        output_bias: Initial bias of the outputs.
    """
    parameters: Parameters = {}
    last = len(sizes) - 2
    for i, (fan_in, width) in enumerate(pairwise(sizes)):
        scale = (0.01 if i == last else 2.0**0.5) / fan_in**0.5
        parameters[f"w{i}"] = (rng.standard_normal((fan_in, width)) * scale).astype(np.float32)
        parameters[f"b{i}"] = np.full(width, output_bias if i == last else 0.0, np.float32)
        if i < last:
            parameters[f"g{i}"] = np.ones(width, np.float32)
    return parameters


def apply_network(parameters: Parameters, x: Any) -> Any:
    """Return the outputs, [..., n_outputs], for inputs [..., n_inputs]."""
    xp = array_namespace(x)
    last = sum(name.startswith("w") for name in parameters) - 1
    for i in range(last):
        x = x @ parameters[f"w{i}"]
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
        x = xp.maximum(x * parameters[f"g{i}"] + parameters[f"b{i}"], 0.0)
    return x @ parameters[f"w{last}"] + parameters[f"b{last}"]
