"""Scripts of `benchmarks/`, for tests."""

from __future__ import annotations

import os
import subprocess
import sys

from paths import ROOT


def run(script: str, *arguments: str, cwd) -> str:
    """Run a script and return what it prints."""
    command = [sys.executable, "-W", "ignore", str(ROOT / "benchmarks" / script), *arguments]
    # unoptimized programs compile sooner; how fast they are is not looked at
    environment = {
        **os.environ, "COLUMNS": "200", "XLA_FLAGS": "--xla_backend_optimization_level=0",
    }  # fmt: skip
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
