"""What `skillfocus doctor` finds."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

REQUIRED = (
    "skillfocus", "numpy", "numba", "scipy", "polars", "safetensors", "matplotlib", "gymnasium",
    "tyro", "rich",
)  # fmt: skip
EXTRAS = {
    "distributed": "cluster", "optuna": "sweep", "minigrid": "minigrid", "pyRDDLGym": "rddl",
    "rddlrepository": "rddl", "stable-baselines3": "sb3",
}  # fmt: skip


def examine() -> tuple[dict[str, object], bool]:
    """What was found, and whether everything needed works."""
    found: dict[str, object] = {"python": platform.python_version(), "system": platform.platform()}
    healthy = True
    for name in REQUIRED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing: reinstall skillfocus"
            healthy = False
    for name, extra in EXTRAS.items():
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = f"not installed; pip install 'skillfocus[{extra}]' if you need it"
    found["cores"] = os.cpu_count()
    try:
        found["compiled kernels"] = _compiled_kernels()
    except Exception as error:  # the point is to report whatever is broken
        found["compiled kernels"] = f"failed: {error}"
        healthy = False
    return found, healthy


def _compiled_kernels() -> str:
    """Discover something small, and say where compiled code is kept."""
    began = time.perf_counter()
    from skillfocus.learners.tabular import planning
    from skillfocus.runs.precompile import compile_kernels

    compile_kernels()
    seconds = time.perf_counter() - began
    folder = Path(planning.sweep.stats.cache_path or "")  # pyright: ignore[reportFunctionMemberAccess]
    kept = (
        f"kept in {folder}" if os.access(folder, os.W_OK) else f"not kept ({folder} is read-only)"
    )
    return f"work ({seconds:.1f} s), {kept}"
