"""What two machines must share to get the same results."""

from __future__ import annotations

from pathlib import Path

import skillfocus
from skillfocus._internal import environment_info
from skillfocus._internal.environment_info import code_versions


def digest_of(monkeypatch, root: Path) -> str:
    monkeypatch.setattr(environment_info, "__file__", str(root / "_internal" / "x.py"))
    return code_versions.__wrapped__()["source code"]


def test_line_endings_do_not_matter_and_everything_else_does(tmp_path, monkeypatch):
    file = tmp_path / "core" / "a.py"
    file.parent.mkdir()
    file.write_bytes(b"x = 1\ny = 2\n")
    original = digest_of(monkeypatch, tmp_path)
    file.write_bytes(b"x = 1\r\ny = 2\r\n")
    assert digest_of(monkeypatch, tmp_path) == original
    file.write_bytes(b"x = 1\ny = 3\n")
    changed = digest_of(monkeypatch, tmp_path)
    file.rename(file.with_name("b.py"))
    assert len({original, changed, digest_of(monkeypatch, tmp_path)}) == 3


def test_the_digest_is_of_this_package(monkeypatch):
    root = Path(skillfocus.__file__).parent
    assert digest_of(monkeypatch, root) == code_versions()["source code"]


def test_every_package_that_runs_execute_is_digested():
    root = Path(skillfocus.__file__).parent
    packages = {path.parent.name for path in root.glob("*/__init__.py")}
    shows_or_serves = {"cli", "envs", "figures", "render", "report", "sweeps", "viewer"}
    assert packages == {*environment_info._RESULT_LAYERS, *shows_or_serves, "_internal"}
