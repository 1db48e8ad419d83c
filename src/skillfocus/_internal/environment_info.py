"""The versions a result should name."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version


@cache
def package_versions() -> dict[str, str]:
    packages = ("skillfocus", "numpy", "numba")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
