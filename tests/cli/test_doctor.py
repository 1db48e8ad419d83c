from __future__ import annotations

import json

from numba.core.caching import NullCache

from commands import subprocess_command
from skillfocus.cli import health
from skillfocus.learners.tabular import sweeps


def test_doctor_is_well():
    done = subprocess_command("doctor", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["healthy"] is True
    assert done.stderr == "compiling the kernels, which takes up to a minute the first time\n"


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(health, "REQUIRED", ("numpy", "no-such-package"))
    monkeypatch.setattr(health, "EXTRAS", {"no-such-extra": "cluster"})
    monkeypatch.setattr(health, "_check_kernels", lambda: 1 / 0)
    findings, healthy = health.check_installation()
    assert not healthy
    assert findings["no-such-package"] == "missing: reinstall skillfocus"
    assert "pip install 'skillfocus[cluster]'" in str(findings["no-such-extra"])
    assert findings["compiled kernels"] == "failed: division by zero"


def test_kernels_without_a_cache_are_no_problem(monkeypatch):
    monkeypatch.setattr("skillfocus.runs.precompile.compile_kernels", lambda: None)
    monkeypatch.setattr(sweeps.sweep, "_cache", NullCache())
    assert health._check_kernels().endswith("not cached: no writable folder")
