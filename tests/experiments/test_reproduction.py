from __future__ import annotations

import json
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path

import polars as pl
import pytest

from commands import command
from frames import make_costs, sample_results
from runs_for_tests import Raises, Tiny
from skillfocus.cli.reproduce import Reproduce
from skillfocus.errors import UserError
from skillfocus.experiments.by_seed import mean_over_seeds, values_by_seed
from skillfocus.experiments.cases import Case
from skillfocus.experiments.claims import Analysis, Claim, judge_difference
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.registry import register_experiment, unregister_experiment
from skillfocus.experiments.reproduction import reproduce
from skillfocus.experiments.results import save_results
from skillfocus.report.document import Table
from skillfocus.runs.status import Interrupted, JobStatus


@pytest.mark.slow
def test_the_command_reports_from_kept_results(tmp_path):
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "holiday.png").write_bytes(b"a photo")
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
    (coverage_claim, dusdi_claim) = document["claims_of_the_paper"]
    assert coverage_claim["verdicts"] == {"paper/planning": "direction only"}
    assert dusdi_claim["counts"]["paper/planning"]["reproduced"] == 1
    assert {path.name for path in (tmp_path / "twin").iterdir()} == {
        "paper-planning-figure-2-coverage.png", "figure-2.md", ".skillfocus-report.json",
        "holiday.png",  # the user's
    }  # fmt: skip
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert written["claims"] == document["claims"]
    assert written["claims_of_the_paper"] == document["claims_of_the_paper"]
    table = command(*coverage, cwd=tmp_path)
    assert "coverage-vic" in table.stdout
    assert "direction only (1 of 1)" in table.stdout
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
     (["--finished"], "no results with preset both and learner all")],
)  # fmt: skip
def test_mistakes_have_one_sentence(arguments, message, tmp_path):
    (tmp_path / "taken").write_text("")
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    done = command("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


# -------------------------------------------------------------------- from Python


@pytest.fixture
def saved(tmp_path):
    """A folder of saved results."""
    save_results(tmp_path / "results", sample_results(), make_costs(sample_results()))
    return tmp_path / "results"


@pytest.fixture
def tiny(monkeypatch):
    """The experiment `tiny`: quick runs; its claim is that draws are positive."""
    experiment = Experiment("tiny", "Tiny", tiny_cases, tiny_analysis, presets=("paper",))
    register_experiment(experiment)
    yield experiment
    unregister_experiment("tiny")


def tiny_cases(setup, seeds):
    return [Case(setup.preset, setup.learner, "w", "a", "", seed, Tiny(seed)) for seed in seeds]


def tiny_analysis(frame):
    draws = values_by_seed(frame, "draw", "w", "a", step=0)
    mean = mean_over_seeds(draws)
    verdict = judge_difference(mean, 1, True, len(draws))
    claim = Claim("tiny-draws", "Draws are positive", None, mean, verdict, len(draws))
    return Analysis([claim], [Table("Draws", ["n"], [[str(len(draws))]])])


TINY = {"preset": "paper", "learner": "planning", "workers": 1}


def test_saved_results_are_reported_from_python(saved, tmp_path):
    seen = []
    made = reproduce(
        ["coverage"], from_=saved, out=tmp_path / "out", progress=lambda *what: seen.append(what)
    )
    assert made.status is None
    assert made.report == tmp_path / "out" / "report.html"
    assert [s.experiment.name for s in made.sections] == ["coverage"]
    assert {claim.id for claim in made.claims} == {"coverage-vic", "coverage-dusdi-vic"}
    (record,) = [r for r in made.records() if r["id"] == "coverage-vic"]
    assert (record["preset"], record["learner"], record["aim"]) == ("paper", "planning", None)
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert "drawing coverage" in [activity for _, activity in seen]


def test_numbers_are_written_beside_the_paper_s(saved, tmp_path):
    page = tmp_path / "numbers.md"
    reproduce(["coverage"], from_=saved, out=tmp_path / "out", numbers=page)
    assert "| focused VIC | 1.85 | – | – |" in page.read_text()


def test_one_seed_has_no_interval_in_json(saved, tmp_path):
    frame = sample_results().filter(pl.col("seed") == 0)
    save_results(saved, frame, make_costs(frame))
    made = reproduce(["coverage"], from_=saved, out=tmp_path / "out")
    assert [record["interval"] for record in made.records()] == [[0.0, None]] * 2  # of ratios
    json.dumps(made.records(), allow_nan=False)


def test_runs_are_executed_once_and_watched(tiny, tmp_path):
    seen = []
    made = reproduce(
        ["tiny"], seeds=3, out=tmp_path, **TINY, progress=lambda *said: seen.append(said)
    )
    assert (made.status.total, made.status.done) == (3, 3)
    assert any("3 of 3 runs" in activity for _, activity in seen)
    (claim,) = made.claims
    assert claim.seeds == 3
    again = reproduce(["tiny"], seeds=4, out=tmp_path, **TINY)
    assert (again.status.done, again.status.found) == (1, 3)
    part = reproduce("tiny", seeds=9, out=tmp_path, finished=True, **TINY)
    assert part.status is None
    assert part.claims[0].seeds == 4


def test_runs_that_fail_are_left_out_and_exit_with_1(tiny, tmp_path):
    def cases(setup, seeds):
        bad = Case("paper", "planning", "w", "a", "", 9, Raises(9))
        return [*tiny_cases(setup, seeds), bad]

    register_experiment(replace(tiny, cases=cases))
    made = reproduce(["tiny"], seeds=2, out=tmp_path / "out", **TINY)
    assert made.claims[0].seeds == 2
    (error,) = made.status.failures.values()
    assert "seed 9 cannot be divided" in error
    asked = ["reproduce", "tiny", "--preset", "paper", "--learner", "planning", "--seeds", "2"]
    done = command(*asked, "--workers", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "3 runs: 2 found in out, 1 failed" in done.stderr
    assert "tracebacks are in out/failed; --retry-failed tries again" in done.stderr
    assert "report: out/report.html" in done.stderr


def test_a_job_that_fails_as_a_whole_says_where_to_look(tiny, tmp_path):
    bad = [Case("paper", "planning", "w", "a", "", 0, Raises(0))]
    register_experiment(replace(tiny, cases=lambda setup, seeds: bad))
    with pytest.raises(
        UserError, match=r"nothing to report; 1 runs failed, such as Raises_0_.* see .*failed"
    ):
        reproduce(["tiny"], out=tmp_path / "out", **TINY)
    asked = ["reproduce", "tiny", "--preset", "paper", "--learner", "planning"]
    done = command(*asked, "--workers", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "such as Raises_0_" in done.stderr


def test_ctrl_c_says_how_to_resume(tiny, tmp_path, monkeypatch):
    def interrupted(runs, store, **options):
        options["watch"](JobStatus(len(runs), done=1))
        raise Interrupted(JobStatus(len(runs), done=1, stopping=True, seconds=1.0), store)

    monkeypatch.setattr("skillfocus.runs.job.run_all", interrupted)
    with pytest.raises(Interrupted, match="5 runs: 1 done now"):
        reproduce(["tiny"], out=tmp_path / "out", **TINY)
    asked = ["reproduce", "tiny", "--preset", "paper", "--learner", "planning"]
    done = command(*asked, "--workers", "1", cwd=tmp_path)
    assert done.returncode == 130
    assert "5 runs: 1 done now (1.0 s, CPU 0.0 s), 4 left to do" in done.stderr
    assert "Rerun to resume" in done.stderr


def test_progress_never_goes_back(tiny, tmp_path):
    """Two batches of runs, then the report: one bar over all of it."""
    fractions = []
    reproduce(
        ["tiny"], out=tmp_path / "out", progress=lambda fraction, _: fractions.append(fraction),
        **TINY,
    )  # fmt: skip
    assert fractions == sorted(fractions)
    # the runs may be over before the first look at them; the report starts at 0.85
    assert fractions[0] <= 0.85 < 0.86 < fractions[-1] <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"preset": "papr"}, "unknown preset 'papr': did you mean 'paper'"),
     ({"learner": "sarsa"}, "unknown learner 'sarsa'"),
     ({"workers": 2, "cluster": "tcp://localhost:1"}, "a cluster has its own"),
     ({"seeds": 0}, "0 reporting seeds")],
)  # fmt: skip
def test_wrong_arguments_are_usage_errors(arguments, message, tmp_path):
    with pytest.raises(UserError, match=message):
        reproduce(["ablation"], out=tmp_path / "out", **arguments)


def test_the_command_has_the_function_s_options():
    """Same names and defaults, but for --json and what Python alone has."""
    options = {field.name: field.default for field in fields(Reproduce)}
    parameters = signature(reproduce).parameters
    assert options.keys() - parameters.keys() == {"json"}
    assert parameters.keys() - options.keys() == {"progress"}
    for name in options.keys() & parameters.keys() - {"out"}:
        assert parameters[name].default == options[name], name
    assert Path(parameters["out"].default) == options["out"]
