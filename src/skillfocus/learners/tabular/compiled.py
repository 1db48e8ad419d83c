"""Compiling an objective's two functions to fixed signatures.

Kernels call them through pointers, so that a kernel is compiled once, and kept on disk, whatever
the objective. A call through a pointer costs as much as dozens of rewards; so rewards are asked
for by the row: of one skill at one value, for many starts.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import njit, types
from numba.core.errors import NumbaError
from numba.core.types import FunctionType
from numba.core.typing.templates import Signature

from skillfocus.errors import UserError

PARAMS = types.Array(types.float32, 3, "C")
VALUES = types.Array(types.float64, 2, "C")
FLOATS = types.Array(types.float32, 1, "C")
_ARGUMENTS = (PARAMS, VALUES, types.int64, types.int64, types.int64)
REWARD = types.float64(*_ARGUMENTS)
UPDATE = types.void(*_ARGUMENTS, types.float64)
STARTS = types.Array(types.uint32, 1, "C")
ROW = types.void(*_ARGUMENTS[:4], STARTS, FLOATS)
ROW_POINTER = FunctionType(ROW)
UPDATE_POINTER = FunctionType(UPDATE)


def reward_function(function: Callable) -> Callable:
    """Decorator for the built-in rewards: compiled once, kept on disk."""
    return njit(REWARD, cache=True, nogil=True)(function)


def update_function(function: Callable) -> Callable:
    return njit(UPDATE, cache=True, nogil=True)(function)


@update_function
def _no_update(params, values, skill, start, value, rate):
    """For objectives with nothing to learn."""


_compiled: dict[tuple[Callable, Signature], Callable] = {}


def compiled_reward(reward: Callable) -> Callable:
    return _ensure(reward, REWARD)


def compiled_update(update: Callable | None) -> Callable:
    return _no_update if update is None else _ensure(update, UPDATE)


def compiled_row(reward: Callable) -> Callable:
    """row(params, values, skill, value, starts, out): out[start] = reward(…) for each of the
    starts."""
    if (reward, ROW) not in _compiled:
        inner = _ensure(reward, REWARD)

        @njit(ROW, nogil=True)
        def row(params, values, skill, value, starts, out):
            for i in range(starts.shape[0]):
                out[starts[i]] = inner(params, values, skill, starts[i], value)

        _compiled[reward, ROW] = row
    return _compiled[reward, ROW]


def _ensure(function: Callable, signature: Signature) -> Callable:
    """A user's plain Python function, compiled on first use; compiled ones pass through."""
    if hasattr(function, "py_func"):
        return function
    if (function, signature) not in _compiled:
        try:
            _compiled[function, signature] = njit(signature, nogil=True)(function)
        except (NumbaError, TypeError, NotImplementedError) as error:
            reason = str(error).strip().splitlines()
            raise UserError(
                f"{function.__name__} cannot be compiled ({reason[-1] if reason else error}): use "
                f"numbers and array elements only"
            ) from None
    return _compiled[function, signature]
