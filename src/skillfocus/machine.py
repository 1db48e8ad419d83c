"""The machine: cores to work on, memory that arrays must fit into, versions that results name."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import digest

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_on_cores(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, computed on all cores it may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        yield from pool.map(function, items)


UNKNOWN_MEMORY = 16 * 2**30
"""Assumed where the system does not say how much memory it has."""


_CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),  # cgroup v2
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),  # cgroup v1
)


def available_bytes() -> int:
    """Return how large an array may be: half of the memory of the machine or of its container."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        machine = UNKNOWN_MEMORY
    limits = [machine]
    for path in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
            limits.append(int(path.read_text()))
    return min(limits) // 2


def peak_bytes() -> int | None:
    """Return the most memory that this process has had so far; None where that is not known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def require_memory(n_bytes: int, what: str, advice: str) -> None:
    """Raise a `UserError` for an array that is too large.

    Args:
        n_bytes: The array's size, a Python integer.
        what: What the array holds, in the plural.
        advice: What to do about it, an imperative.
    """
    if n_bytes > available_bytes():
        raise UserError(
            f"{what} take {n_bytes / 2**30:,.1f} GiB of memory, and this machine can give "
            f"{available_bytes() / 2**30:,.1f}: {advice}"
        )


def array_namespace(array: Any) -> Any:
    """Return the module whose functions take this array: `numpy` or `jax.numpy`.

    Formulas that ask for it serve NumPy arrays and JAX arrays alike.
    """
    return np if isinstance(array, np.ndarray) else array.__array_namespace__()


# -------------------- Versions of what a result depends on: Python, packages, the device, our code


@cache
def package_versions() -> dict[str, str]:
    """Return the versions to store with a result, by package name; `"python"` is the first."""
    packages = {name: version(name) for name in ("skillfocus", "numpy", "numba")}
    return {"python": platform.python_version(), **packages}


def accelerator() -> dict[str, str | None]:
    """Return JAX's version and the device it computes on; None for both if it is not in use."""
    jax = sys.modules.get("jax")
    if jax is None:
        return {"jax": None, "device": None}
    return {"jax": jax.__version__, "device": jax.devices()[0].device_kind}


@cache
def code_version() -> str:
    """Return a digest of what two machines must share to get the same results."""
    root = Path(__file__).parent
    sources = [
        f"{path.relative_to(root).as_posix()}\n".encode()
        + path.read_bytes().replace(b"\r\n", b"\n")
        for path in sorted(root.rglob("*.py"))
    ]
    return digest(json.dumps(package_versions()).encode(), *sources)[:16]
