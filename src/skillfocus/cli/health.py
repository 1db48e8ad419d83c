"""The checks behind `skillfocus doctor`."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version

from skillfocus._internal.cache_folder import VARIABLE, cache_folder, cache_size

REQUIRED = (
    "skillfocus", "numpy", "numba", "scipy", "polars", "safetensors", "matplotlib", "gymnasium",
    "tyro", "rich",
)  # fmt: skip
EXTRAS = {
    "distributed": "cluster", "optuna": "sweep", "minigrid": "minigrid", "pyRDDLGym": "rddl",
    "rddlrepository": "rddl", "stable-baselines3": "sb3", "jax": "neural", "optax": "neural",
}  # fmt: skip
"""Optional packages, and the extra that installs each."""


def check_installation() -> tuple[dict[str, object], bool]:
    """Return versions, cores and whether kernels compile, and whether everything needed works."""
    findings: dict[str, object] = {
        "python": platform.python_version(), "system": platform.platform(),
    }  # fmt: skip
    healthy = True
    for name in REQUIRED:
        try:
            findings[name] = version(name)
        except PackageNotFoundError:
            findings[name] = "missing: reinstall skillfocus"
            healthy = False
    for name, extra in EXTRAS.items():
        try:
            findings[name] = version(name)
        except PackageNotFoundError:
            findings[name] = f"not installed; pip install 'skillfocus[{extra}]' if you need it"
    findings["cores"] = os.cpu_count()
    findings["world cache"] = _describe_cache()
    try:
        findings["compiled kernels"] = _check_kernels()
    except Exception as error:  # whatever is broken is what the user wants to know
        findings["compiled kernels"] = f"failed: {error}"
        healthy = False
    return findings, healthy


def _describe_cache() -> str:
    """Return where explored worlds are kept, and how many there are."""
    folder = cache_folder()
    if folder is None:
        return f"off ({VARIABLE})"
    count, size = cache_size()
    return f"{folder}: {count} explored worlds, {size / 1e6:.1f} MB; {VARIABLE} moves it, or off"


def _check_kernels() -> str:
    """Compile the kernels, and return how long that took and where they are cached."""
    start = time.perf_counter()
    from skillfocus.learners.tabular import sweeps
    from skillfocus.runs.precompile import compile_kernels

    compile_kernels()
    seconds = time.perf_counter() - start
    folder = sweeps.sweep.stats.cache_path  # pyright: ignore[reportFunctionMemberAccess]
    cache = f"cached in {folder}" if folder else "not cached: no writable folder"
    return f"work ({seconds:.1f} s), {cache}"
