"""The site and its tutorials, made once for all workers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paths import ROOT
from website.tutorials import TUTORIALS, write_tutorial

PATIENCE_SECONDS = 600


@pytest.fixture(scope="session")
def parts(tmp_path_factory) -> Path:
    """Folder of what the site is made of, the same for all workers."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "website"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def tutorial(parts):
    """A function that executes a tutorial, or waits for the worker that does, and returns its page."""

    def make(name: str) -> Path:
        try:
            (parts / f"{name}.begun").touch(exist_ok=False)
        except FileExistsError:
            return _wait_for(parts, name)
        try:
            with contextlib.chdir(ROOT):
                page = write_tutorial(name, parts)
            (parts / f"{name}.written").touch()
            return page
        except BaseException:
            (parts / f"{name}.failed").touch()
            raise

    return make


def _wait_for(parts: Path, name: str) -> Path:
    for _ in range(PATIENCE_SECONDS):
        if (parts / f"{name}.written").exists():
            return parts / "tutorials" / f"{name}.md"
        if (parts / f"{name}.failed").exists():
            break
        time.sleep(1)
    raise AssertionError(f"the tutorial {name} was not executed; its own test says why")


@pytest.fixture(scope="session")
def site(tmp_path_factory, parts, tutorial) -> Path:
    """The folder of the site, built as by `make docs`: any warning fails."""
    pytest.importorskip("mkdocs", reason="the site is built where '.[docs]' is installed")
    folder = tmp_path_factory.mktemp("site") / "site"
    # Another worker may be executing some, first to last: take those that nobody has begun.
    names = list(reversed(TUTORIALS))
    for name in sorted(names, key=lambda name: (parts / f"{name}.begun").exists()):
        tutorial(name)
    done = subprocess.run(
        [sys.executable, "-m", "website.build", str(folder), str(parts)], cwd=ROOT,
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
