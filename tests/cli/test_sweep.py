from __future__ import annotations

import json

import pytest

from commands import command


@pytest.mark.slow
def test_sweep_over_a_grid_and_by_search(tmp_path):
    options = [
        "sweep", "four-rooms", "focused-vic", "--rounds", "1", "--skills", "8", "--seeds", "1",
        "--workers", "1", "--over",
    ]  # fmt: skip
    done = command(*options, "strength=1,4", "--report", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [point["strength"] for point in document["points"]] == [1, 4]
    assert document["tuning_seeds"] == [1000]
    assert document["reporting_seeds"] == [0]
    best = max(document["points"], key=lambda point: point["mean"])
    assert document["best"] == best
    assert document["report"]["strength"] == best["strength"]
    assert (tmp_path / document["plot"]).read_bytes().startswith(b"\x89PNG")
    printed = command(*options, "strength=1,4", cwd=tmp_path)
    assert "2 runs: 2 found in out" in printed.stderr
    assert f"{best['mean']:.3f}" in printed.stdout
    searched = command(
        *options, "strength=1..4", "--trials", "2", "--plot", "s.svg", "--json", cwd=tmp_path
    )
    assert searched.returncode == 0, searched.stderr
    assert len(json.loads(searched.stdout)["points"]) == 2
    assert (tmp_path / "s.svg").is_file()
