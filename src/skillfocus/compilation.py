"""`njit`: Numba's, except that trouble with its cache of compiled code is a warning.

Numba raises if a cached file is truncated or cannot be read, and if it finds no folder to write to.
Here, the function is compiled in memory then, and the cache is written anew where that is possible.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache

_warned = False


def njit(signature: Any = None, /, *, cache: bool = False, **options: Any) -> Callable:
    """Return a decorator that compiles a function, as `numba.njit` does.

    Args:
        signature: Compile for these types now, and for no others.
        cache: Whether to keep the compiled code on disk.
        **options: Further options of `numba.njit`.
    """
    compile_lazily = numba.njit(**options)

    def decorate(function: Callable) -> Callable:
        dispatcher: Any = compile_lazily(function)
        if dispatcher is function:  # NUMBA_DISABLE_JIT
            return function
        if cache:
            try:
                dispatcher._cache = _ForgivingCache(function)
            except (RuntimeError, OSError) as error:
                _warn(error)
        if signature is not None:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    return decorate


class _ForgivingCache(FunctionCache):
    """A cache on disk that is empty where it cannot be read."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling half a file raises almost anything
            _warn(error)
            with contextlib.suppress(OSError):
                self.flush()  # else a damaged index would also keep new code from being saved
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn(error)


def _warn(error: Exception) -> None:
    """Warn, once per process."""
    global _warned
    if not _warned:
        _warned = True
        problem = " ".join(str(error).split())
        warnings.warn(
            f"cannot use cached code ({type(error).__name__}: {problem}); kernels are compiled in "
            f"memory, which takes a minute: NUMBA_CACHE_DIR may name another, writable folder",
            stacklevel=3,
        )
