from __future__ import annotations

import json

import pytest

from commands import command
from frames import make_costs, sample_results
from skillfocus.experiments.results import save_results


@pytest.mark.slow
def test_the_command_reports_from_kept_results(tmp_path):
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "old.png").write_bytes(b"")
    coverage = ["reproduce", "coverage", "--from", "results"]
    done = command(*coverage, "--json", "--markdown", "twin.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (claim,) = [c for c in document["claims"] if c["id"] == "coverage-vic"]
    assert claim["ours"] == pytest.approx(22**0.5, rel=1e-5)
    assert claim["interval"] == pytest.approx([3.13293, 7.02219], rel=1e-4)
    assert (claim["paper"], claim["verdict"]) == (5.3, "direction only")
    assert (tmp_path / document["report"]).is_file()
    assert "![" in (tmp_path / "twin.md").read_text()
    (picture,) = (tmp_path / "twin").iterdir()  # the old one is gone
    assert picture.name == "paper-planning-figure-2-coverage.png"
    table = command(*coverage, cwd=tmp_path)
    assert "coverage-vic" in table.stdout
    assert "report: out/report.html" in table.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["figure-9"], "unknown experiment 'figure-9'"), (["--from", "nowhere"], "no results.parquet"),
     (["--seeds", "0"], "0 reporting seeds"), (["--seeds", "2000"], "tuning seed"),
     (["--out", "taken"], "taken is a file, not a folder"),
     (["controls", "--preset", "best"], "has no cases with preset best"),
     (["ablation", "--from", "results"], "no results of ablation"),
     (["--from", "results", "--learner", "q-learning"], "no results with preset both and learner q-"),
     (["--finished"], "no results with preset both and learner both")],
)  # fmt: skip
def test_mistakes_have_one_sentence(arguments, message, tmp_path):
    (tmp_path / "taken").write_text("")
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    done = command("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
