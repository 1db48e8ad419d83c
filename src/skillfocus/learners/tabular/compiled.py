"""Compiling formulas and estimators to fixed signatures.

Kernels call them through pointers, so that a kernel is compiled once, and cached on disk, whatever
the objective. A call through a pointer costs as much as dozens of rewards, so rewards are asked
for by the row: of one component at one value, for many starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.core.types import FunctionType
from numba.core.typing.templates import Signature

from skillfocus.compilation import njit
from skillfocus.errors import UserError

PARAMS = types.Array(types.float32, 3, "C")
COORDINATES = types.Array(types.float64, 2, "C")
FLOATS = types.Array(types.float32, 1, "C")
STARTS = types.Array(types.uint32, 1, "C")
_ARGUMENTS = (PARAMS, COORDINATES, types.int64, types.int64, types.int64)
REWARD = types.float64(*_ARGUMENTS)
"""`reward(params, coordinates, component, start, value) -> float`"""
UPDATE = types.void(*_ARGUMENTS, types.float64)
"""`update(params, coordinates, component, start, value, rate)`, in place"""
ROW = types.void(*_ARGUMENTS[:4], STARTS, FLOATS)
"""`row(params, coordinates, component, value, starts, out)`: out[start] = reward for each start"""
ROW_POINTER = FunctionType(ROW)
UPDATE_POINTER = FunctionType(UPDATE)

_compiled: dict[tuple, Callable] = {}


def update_function(function: Callable) -> Callable:
    """Compile a built-in update, cached on disk."""
    return njit(UPDATE, cache=True, nogil=True)(function)


@update_function
def _no_update(params, coordinates, component, start, value, rate):
    """For estimators that learn nothing."""


def compiled_update(update: Callable | None) -> Callable:
    """Return an estimator's update, compiled."""
    return _no_update if update is None else compile_function(update, UPDATE)


def compiled_reward(formula: Callable, predict: Callable) -> Callable:
    """Return `reward(params, coordinates, component, start, value)`, compiled."""
    key = (formula, predict, REWARD)
    if key not in _compiled:
        evaluate, estimate = compile_function(formula), compile_function(predict)

        def reward(params, coordinates, component, start, value):
            return evaluate(*estimate(params, coordinates, component, start, value))

        _compiled[key] = _compile(reward, REWARD, f"the formula {formula.__name__}")
    return _compiled[key]


def compiled_row(formula: Callable, predict: Callable) -> Callable:
    """Return `row(params, coordinates, component, value, starts, out)`, compiled."""
    key = (formula, predict, ROW)
    if key not in _compiled:
        evaluate, estimate = compile_function(formula), compile_function(predict)

        def row(params, coordinates, component, value, starts, out):
            for i in range(starts.shape[0]):
                start = np.int64(starts[i])
                out[starts[i]] = evaluate(*estimate(params, coordinates, component, start, value))

        _compiled[key] = _compile(row, ROW, f"the formula {formula.__name__}")
    return _compiled[key]


def compile_function(function: Callable, signature: Signature | None = None) -> Callable:
    """Return a function compiled; functions that are compiled already pass through.

    Raises:
        UserError: If it uses what cannot be compiled.
    """
    if hasattr(function, "py_func"):
        return function
    key = (function, signature)
    if key not in _compiled:
        _compiled[key] = _compile(function, signature, function.__name__)
    return _compiled[key]


def _compile(function: Callable, signature: Signature | None, name: str) -> Callable:
    try:
        return (
            njit(nogil=True)(function)
            if signature is None
            else njit(signature, nogil=True)(function)
        )
    except (NumbaError, TypeError, NotImplementedError) as error:
        raise UserError(
            f"{name} cannot be compiled ({_reason(error)}): take the arguments that its estimate "
            f"gives, use numbers and array elements only, and return a number"
        ) from None


def _reason(error: Exception) -> str:
    """Return the line of Numba's message that says most: its first ones name the compiler's
    steps, its last ones the place."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # Numba colours it if colorama is installed
    lines = [line.strip() for line in plain.splitlines()]
    telling = [
        line
        for line in lines
        if line and not line.startswith(("Failed in nopython", "During:", "File ", ">>>", "def "))
    ]
    return (telling or lines or [type(error).__name__])[0]
