"""Selection between pytrees. This file imports JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def where(condition: jax.Array, chosen: Any, other: Any) -> Any:
    """Apply `jnp.where` to pytrees whose leaves have the condition's leading axis."""

    def pick(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    return jax.tree.map(pick, chosen, other)
