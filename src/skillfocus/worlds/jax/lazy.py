"""`jax` and `jnp`, imported when they are first used: worlds can be listed and described without.

Files that define worlds import both from here; `jax` itself may not be installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:

    class _Lazy:
        """A module whose attributes are looked up on use."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    jax, jnp = _Lazy("jax"), _Lazy("jax.numpy")

__all__ = ["jax", "jnp"]
