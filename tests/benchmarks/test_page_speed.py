from __future__ import annotations

import pytest

import skillfocus as sf
from benchmark_scripts import run
from probes import corridor


@pytest.mark.slow
def test_pages_are_timed(tmp_path, browser):
    page = tmp_path / "corridor.html"
    learner = sf.Planning(rounds=1)
    sf.discover(corridor(), sf.focused(sf.vic()), seed=0, n_skills=4, learner=learner).view(page)
    assert "corridor.html" in run("page.py", str(page), "--quick", cwd=tmp_path)
