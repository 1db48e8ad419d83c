"""Versions of what a result depends on: Python, packages, the device, and our own source code."""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from skillfocus.files import digest


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
