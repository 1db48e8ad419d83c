"""Compiling an objective's two functions, once, to one fixed signature.

With a fixed signature a kernel can call them through a pointer and stay cached on disk whatever
the objective; kernels that want speed take the same functions and inline them.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import njit, types
from numba.core.types import FunctionType
from numba.core.typing.templates import Signature

PARAMS = types.Array(types.float32, 3, "C")
VALUES = types.Array(types.float64, 2, "C")
_ARGUMENTS = (PARAMS, VALUES, types.int64, types.int64, types.int64)
REWARD = types.float64(*_ARGUMENTS)
UPDATE = types.void(*_ARGUMENTS, types.float64)
REWARD_POINTER = FunctionType(REWARD)
UPDATE_POINTER = FunctionType(UPDATE)


def reward_function(function: Callable) -> Callable:
    """Decorator for the built-in rewards: compiled once, kept on disk."""
    return njit(REWARD, cache=True, nogil=True)(function)


def update_function(function: Callable) -> Callable:
    return njit(UPDATE, cache=True, nogil=True)(function)


@update_function
def no_update(params, values, skill, start, value, rate):
    """For objectives with nothing to learn."""


_compiled: dict[tuple[Callable, Signature], Callable] = {}


def ensure_compiled(function: Callable, signature: Signature) -> Callable:
    """A user's plain Python function, compiled on first use; compiled ones pass through."""
    if hasattr(function, "py_func"):
        return function
    key = (function, signature)
    if key not in _compiled:
        _compiled[key] = njit(signature, nogil=True)(function)
    return _compiled[key]
