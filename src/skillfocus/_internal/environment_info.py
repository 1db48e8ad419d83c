"""Versions of Python, of the packages and of the code that a result depends on."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

RECORDED_PACKAGES = ("skillfocus", "numpy", "numba")
"""Packages whose version is stored with every result."""
_RESULT_LAYERS = (
    "core", "objectives", "worlds", "skills", "learners", "metrics", "tasks", "safety", "runs",
    "experiments",
)  # fmt: skip
"""Packages of skillfocus whose code runs execute."""


@cache
def package_versions() -> dict[str, str]:
    """Return the versions to store with a result, by package name; `"python"` is the first."""
    packages = {name: version(name) for name in RECORDED_PACKAGES}
    return {"python": platform.python_version(), **packages}


def accelerator() -> dict[str, str | None]:
    """Return JAX's version and the device it computes on; None for both if it is not in use."""
    jax = sys.modules.get("jax")
    if jax is None:
        return {"jax": None, "device": None}
    return {"jax": jax.__version__, "device": jax.devices()[0].device_kind}


@cache
def code_versions() -> dict[str, str]:
    """Return what two machines must share to get the same results: packages and source code."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for layer in _RESULT_LAYERS:
        for path in sorted((root / layer).rglob("*.py")):
            source = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(root).as_posix()} {len(source)}\n".encode() + source)
    packages = {name: package_versions()[name] for name in RECORDED_PACKAGES}
    return {**packages, "source code": digest.hexdigest()[:12]}
