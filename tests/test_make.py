"""Targets of the Makefile, with a stand-in for the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from paths import ROOT

OFFLINE = "import sys\nsys.exit('ERROR: cannot connect')"
FOUND = "import sys\nprint('numpy 1.0 PYSEC-1')\nsys.exit('Found 1 known vulnerability')"
CLEAN = "import sys\nprint('No known vulnerabilities found', file=sys.stderr)"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("code", "succeeds", "says"),
    [
        (None, False, "nothing was checked: pip-audit is not installed; "),
        (OFFLINE, False, "nothing was checked: the database of advisories did not answer (ERROR: "),
        (FOUND, False, "Found 1 known vulnerability"),
        (CLEAN, True, "No known vulnerabilities found"),
    ],
)
def test_audit_ends_with_a_sentence(code, succeeds, says, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / ".ready").touch()
    package = tmp_path / "fake" / "pip_audit"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("" if code else "raise ImportError")
    (package / "__main__.py").write_text(code or "")
    done = subprocess.run(
        ["make", "-s", "audit", f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "fake")}, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == succeeds
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(lines) == 1
    assert lines[0].startswith(says)
