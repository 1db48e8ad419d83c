"""The site, built once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built as by `make docs`: any warning fails.

    Tutorials are not executed here: their own tests do.
    """
    pytest.importorskip("mkdocs", reason="the site is built where '.[docs]' is installed")
    folder = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run(
        [sys.executable, "website/build.py", str(folder), "out/website", "--unexecuted"], cwd=ROOT,
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
