"""Versions of Python and of the packages that a result depends on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

RECORDED_PACKAGES = ("skillfocus", "numpy", "numba")
"""Packages whose version is stored with every result."""


@cache
def package_versions() -> dict[str, str]:
    """Return the versions to store with a result, by package name; `"python"` is the first."""
    packages = {name: version(name) for name in RECORDED_PACKAGES}
    return {"python": platform.python_version(), **packages}
