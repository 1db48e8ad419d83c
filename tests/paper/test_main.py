"""`python -m paper`: runs executed once, results read, the report written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from frames import make_costs, sample_results
from paper import __main__ as main
from paper.agents import Case, Setup
from paper.claims import Analysis, Claim, Experiment, judge_difference
from paper.formatting import Table
from paper.results import mean_over_seeds, save_results, values_by_seed
from paths import ROOT
from runs_for_tests import Raises, Tiny
from skillfocus.errors import UserError


@pytest.fixture
def saved(tmp_path):
    """A folder of saved results."""
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    return tmp_path / "results"


def reproduce(*arguments, **options):
    return main.reproduce(main.parse([str(word) for word in arguments]), **options)


def tiny_cases(setup, seeds):
    return [Case(setup.preset, setup.learner, "w", "a", "", seed, Tiny(seed)) for seed in seeds]


def tiny_analysis(frame):
    draws = values_by_seed(frame, "draw", "w", "a", step=0)
    mean = mean_over_seeds(draws)
    verdict = judge_difference(mean, 1, True, len(draws))
    claim = Claim("tiny-draws", "Draws are positive", None, mean, verdict, len(draws))
    return Analysis([claim], [Table("Draws", ["n"], [[str(len(draws))]])])


def tiny_experiment(cases=tiny_cases):
    """Quick runs; its claim is that draws are positive."""
    return {"tiny": Experiment("tiny", "Tiny", cases, tiny_analysis, presets=("paper",))}


TINY = ("tiny", "--preset", "paper", "--learner", "planning", "--workers", 1)


def test_saved_results_are_reported(saved, tmp_path):
    seen = []
    out, numbers, twin = (tmp_path / name for name in ("out", "numbers.md", "twin.md"))
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "holiday.png").write_bytes(b"a photo")
    report, status = reproduce(
        "coverage", "--from", saved, "--out", out, "--numbers", numbers, "--markdown", twin,
        progress=lambda *said: seen.append(said),
    )  # fmt: skip
    assert status is None
    assert [s.experiment.name for s in report.sections] == ["coverage"]
    written = json.loads((out / "report.json").read_text())
    assert written["claims"] == report.data()["claims"]
    (claim,) = [c for c in written["claims"] if c["id"] == "coverage-vic"]
    assert claim["ours"] == pytest.approx(22**0.5, rel=1e-5)
    assert claim["interval"] == pytest.approx([3.13293, 7.02219], rel=1e-4)
    assert (claim["paper"], claim["verdict"], claim["aim"]) == (5.3, "direction only", None)
    assert (claim["preset"], claim["learner"]) == ("paper", "planning")
    coverage, dusdi = written["figures"][1]["claims"]
    assert coverage["verdicts"] == {"paper/planning": "direction only"}
    assert dusdi["counts"]["paper/planning"]["reproduced"] == 1
    assert "| focused VIC | 1.85 | – | – |" in numbers.read_text()
    assert "![" in twin.read_text()
    assert {path.name for path in (tmp_path / "twin").iterdir()} == {
        "paper-planning-figure-2-coverage.png", "figure-2.md", "holiday.png",
    }  # fmt: skip
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert "drawing coverage" in [activity for _, activity in seen]


def test_one_seed_has_no_interval_in_json(saved, tmp_path):
    frame = sample_results().filter(sample_results()["seed"] == 0)
    save_results(saved, frame, make_costs(frame), [Setup()])
    report, _ = reproduce("coverage", "--from", saved, "--out", tmp_path / "out")
    claims = json.loads(json.dumps(report.data(), allow_nan=False))["claims"]
    assert [claim["interval"] for claim in claims] == [[0.0, None]] * 2  # of ratios


@pytest.mark.slow
def test_the_command_prints_the_paper_s_claims(saved, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "paper", "coverage", "--from", saved, "--out", tmp_path / "out"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "direction only (1 of 1)" in done.stdout
    assert "report.html" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["figure-9"], "unknown experiment 'figure-9'"), (["--from", "nowhere"], "no results.parquet"),
     (["--seeds", "0"], "seeds is 0; it must be 1 to 10,000"), (["--seeds", "2000"], "tuning seed"),
     (["--out", "taken"], "taken is a file, not a folder"),
     (["--finished"], "no results with preset both and learner all"),
     (["--from", "results", "--learner", "q-learning"], "no results with preset both and learner q-")],
)  # fmt: skip
def test_mistakes_have_one_sentence(arguments, message, saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match=message):
        reproduce(*arguments)


def test_runs_are_executed_once_and_watched(tmp_path, monkeypatch):
    monkeypatch.setattr(main, "EXPERIMENTS", tiny_experiment())
    seen = []
    report, status = reproduce(
        *TINY, "--seeds", 3, "--out", tmp_path, progress=lambda *said: seen.append(said)
    )
    assert (status.total, status.done) == (3, 3)
    assert report.data()["claims"][0]["seeds"] == 3
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[0] <= 0.85 < fractions[-1] <= 1.0
    _, again = reproduce(*TINY, "--seeds", 4, "--out", tmp_path)
    assert (again.done, again.found) == (1, 3)
    part, status = reproduce(*TINY, "--seeds", 9, "--finished", "--out", tmp_path)
    assert status is None
    assert part.data()["claims"][0]["seeds"] == 4


def test_runs_that_fail_are_left_out(tmp_path, monkeypatch):
    def cases(setup, seeds):
        bad = Case("paper", "planning", "w", "a", "", 9, Raises(9))
        return [*tiny_cases(setup, seeds), bad]

    monkeypatch.setattr(main, "EXPERIMENTS", tiny_experiment(cases))
    report, status = reproduce(*TINY, "--seeds", 2, "--out", tmp_path / "out")
    assert report.data()["claims"][0]["seeds"] == 2
    (error,) = status.failures.values()
    assert "seed 9 cannot be divided" in error


def test_every_case_of_a_label_is_one_run():
    experiments = main.select_experiments(["all"], everything=False)
    assert len({e.figure_name or e.name for e in experiments}) == len(experiments)
    for setup in (Setup(), Setup("best")):
        cases = main.all_cases(setup, experiments, range(2))
        assert len({case.labels for case in cases}) == len(cases) > 50
    first, other = Raises(0), Raises(1)
    both = [
        *tiny_experiment(lambda *_: [Case("paper", "planning", "w", "a", "", 0, first)]).values(),
        *tiny_experiment(lambda *_: [Case("paper", "planning", "w", "a", "", 0, other)]).values(),
    ]
    with pytest.raises(ValueError, match="two different runs are labelled"):
        main.all_cases(Setup(), both, range(2))
