"""Kernels work without a usable cache of compiled code.

Permissions do not bind root, so what cannot be read or written is simulated: a folder in place of a
file, a file in place of a folder, and an `open` that raises.
"""

from __future__ import annotations

import builtins
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from numba.core import config

from paths import ROOT
from skillfocus import compilation

KERNELS = """
from numba import types
from skillfocus.compilation import njit

@njit(cache=True, nogil=True)
def lazy(x):
    return 2 * x

@njit(types.int64(types.int64), cache=True, nogil=True)
def eager(x):
    return 3 * x

RESULT = lazy(1), eager(1), sum(lazy.stats.cache_hits.values())
"""


class Script:
    """A script with two kernels, run once, and the folder with their compiled code."""

    def __init__(self, folder: Path) -> None:
        self.path, self.cache = folder / "kernels.py", folder / "cache"
        self.path.write_text(KERNELS)

    def run(self) -> tuple[tuple[int, int, int], list[str]]:
        """Return the results, how many were cached, and the warnings."""
        compilation._warned = False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = runpy.run_path(str(self.path))["RESULT"]
        return result, [str(warning.message) for warning in caught]


@pytest.fixture
def script(tmp_path, monkeypatch):
    script = Script(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", str(script.cache))
    assert script.run() == ((2, 3, 0), [])
    assert script.run() == ((2, 3, 1), [])
    return script


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_truncated_code_is_compiled_again_and_replaced(script, suffix, kept):
    damaged = [*script.cache.rglob(f"*.{suffix}")]
    assert len(damaged) == 2
    for path in damaged:
        path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    result, (warning,) = script.run()
    assert result == (2, 3, 0)
    assert warning.startswith("cannot use cached code (")
    assert "\n" not in warning
    assert script.run() == ((2, 3, 1), [])


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_folders_in_place_of_code_are_left_alone(script, suffix):
    for path in script.cache.rglob(f"*.{suffix}"):
        path.unlink()
        path.mkdir()
    result, (warning,) = script.run()
    assert result == (2, 3, 0)
    assert "IsADirectoryError" in warning


def test_code_that_may_not_be_read_is_compiled_again(script, monkeypatch):
    original = builtins.open

    def refuse(path, mode="r", *arguments, **options):
        if str(path).endswith(".nbi") and "r" in mode:
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, mode, *arguments, **options)

    monkeypatch.setattr(builtins, "open", refuse)
    result, (warning,) = script.run()
    assert result == (2, 3, 0)
    assert "Permission denied" in warning


def test_without_a_folder_to_write_to_nothing_is_cached(script, monkeypatch):
    def find(*arguments):
        raise RuntimeError("cannot cache function 'lazy': no locator available for file 'x'")

    monkeypatch.setattr(compilation._ForgivingCache, "__init__", find)
    result, (warning,) = script.run()
    assert result == (2, 3, 0)
    assert "NUMBA_CACHE_DIR may name another, writable folder" in warning


@pytest.mark.slow
def test_a_read_only_package_compiles_in_memory(tmp_path):
    package = tmp_path / "skillfocus"
    shutil.copytree(
        ROOT / "src" / "skillfocus", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    code = (
        "import skillfocus; from skillfocus.learners.planning.estimators import _no_update;"
        "print(skillfocus.__file__, len(_no_update.signatures))"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": "/dev/null"}
    env |= {"HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{package / '__init__.py'} 1\n"
    assert done.stderr.count("UserWarning: cannot use cached code (") == 1
    assert "no locator available" in done.stderr


def test_all_kernels_are_compiled_in_this_way():
    own = ROOT / "src" / "skillfocus" / "compilation.py"
    for path in (ROOT / "src").rglob("*.py"):
        if path != own:
            assert not re.search(r"from numba import.*\bn?jit\b|numba\.n?jit", path.read_text())
