from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import skillfocus as sf
from skill_sets import CORRIDOR
from skillfocus.errors import UserError
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import settings_of
from skillfocus.sweeps.grid import Axis
from skillfocus.sweeps.running import sweep, sweep_axes

TINY_SETTINGS = {"skills": 4, "world_settings": CORRIDOR, "learner": sf.Planning(rounds=3)}


def tiny_sweep(folder, **options):
    return sweep(
        "four-rooms", "focused-vic", out=folder, executor=ThreadPoolExecutor(1),
        **{"seeds": 2, **TINY_SETTINGS, **options},
    )  # fmt: skip


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    reported = []
    folder = tmp_path_factory.mktemp("sweep")
    result = tiny_sweep(
        folder, over=["strength=0,4"], report=2, progress=lambda *now: reported.append(now)
    )
    return folder, result, reported


def test_every_point_is_run_on_every_tuning_seed(swept):
    folder, result, _ = swept
    assert [score.point for score in result.scores] == [{"strength": 0}, {"strength": 4}]
    assert result.spec.seeds == (1000, 1001)
    frame = Store(folder).frame().filter(metric="focus")
    for score in result.scores:
        rows = frame.filter(strength=score.point["strength"]).sort("seed")
        tuned = rows.filter(rows["seed"] >= 1000)
        assert tuned["seed"].to_list() == [1000, 1001]
        assert tuned["value"].to_list() == list(score.values)


def test_the_best_point_is_reported_on_other_seeds(swept):
    _, result, _ = swept
    assert result.best is max(result.scores, key=lambda score: score.mean)
    assert list(result.reporting_seeds) == [0, 1]
    assert result.report.point == result.best.point
    assert len(result.report.values) == 2
    assert (result.status.total, result.status.done) == (6, 6)


def test_a_world_s_id_may_hold_what_no_file_name_may(tmp_path):
    (tmp_path / "slashed.py").write_text(
        "from skillfocus.worlds.four_rooms import FourRooms\n"
        "class Slashed(FourRooms):\n"
        "    id = 'rddl:Domain/1'\n"
    )
    result = sweep(
        f"{tmp_path}/slashed.py:Slashed", "focused-vic", over=["strength=4"], seeds=1,
        out=tmp_path / "out", executor=ThreadPoolExecutor(1), **TINY_SETTINGS,
    )  # fmt: skip
    assert result.plot.is_file()
    assert result.plot.name.startswith("sweep_rddl_Domain_1_focused-vic_strength_")


def test_progress_covers_tuning_and_reporting(swept):
    *_, reported = swept
    fractions = [fraction for fraction, _ in reported]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_the_json_document_and_the_plot(swept):
    _, result, _ = swept
    document = json.loads(json.dumps(result.as_json()))
    assert document["base"] == settings_of(result.spec.base)
    assert [point["strength"] for point in document["points"]] == [0, 4]
    assert document["best"]["mean"] == result.best.mean
    assert document["reporting_seeds"] == [0, 1]
    assert result.plot.read_bytes().startswith(b"\x89PNG")
    assert result.title.startswith("focused-vic in FourRooms-v0 by planning, ")
    assert "strength" not in result.title


def test_a_repeated_sweep_reuses_its_runs(swept):
    folder, first, _ = swept
    again = tiny_sweep(folder, over=[Axis("strength", (0, 4))], minimise=True)
    assert (again.status.done, again.status.found) == (0, 4)
    assert again.scores == first.scores
    assert again.best == min(first.scores, key=lambda score: score.mean)
    assert (again.report, list(again.reporting_seeds)) == (None, [])


def test_a_search_leaves_out_what_cannot_be_run(tmp_path, caplog):
    pytest.importorskip("optuna")
    result = tiny_sweep(
        tmp_path, over=["skills=3,4"], skills=None, seeds=1, trials=3, plot=tmp_path / "p.svg"
    )
    assert {score.point["skills"] for score in result.scores} <= {4}
    if len(result.scores) < 3:
        assert any(m.startswith("left out {'skills': 3}: only one") for m in caplog.messages)
    assert (tmp_path / "search.db").is_file()
    assert result.plot is None or result.plot.read_bytes().startswith(b"<?xml")


def test_a_sweep_without_a_scored_point_has_no_best(tmp_path, monkeypatch):
    def fail(self, progress):
        raise ZeroDivisionError("no")

    monkeypatch.setattr("skillfocus.runs.discovery_run.Discovery.execute", fail)
    result = tiny_sweep(tmp_path, over=["strength=1"], seeds=1)
    assert (result.scores, result.best, result.plot) == ([], None, None)
    assert len(result.status.failures) == 1
    assert result.as_json()["best"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name what to sweep over"),
        ({"over": ["strength=1,2"], "strength": 4.0}, "strength=4.0 has no effect"),
        ({"over": ["world=four-rooms"]}, "world is swept over"),
        ({"over": ["strength=1"], "study": "mine"}, "belong to a search; add --trials"),
        ({"over": ["strength=1..2"], "trials": 0}, "trials is 0"),
        ({"over": ["strength=1"], "seed": 5}, "seed 5 is a reporting seed"),
        ({"over": ["strength=1"], "report": 2000}, "is a tuning seed"),
        ({"over": ["strength=1"], "metric": "focos"}, "did you mean 'focus'"),
        ({"over": ["strength=1"], "plot": "plot.gif"}, ".png"),
    ],
)
def test_mistakes_are_errors_before_anything_runs(tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        tiny_sweep(tmp_path / "out", **options)
    assert not list(tmp_path.glob("out/*.parquet"))


def test_axes_of_the_paper_come_first():
    axes = sweep_axes(["gamma=0.9", Axis("rounds", (1, 2))], ["lambda"], "focused-lsd", "planning")
    assert [(axis.setting, axis.values) for axis in axes] == [
        ("strength", (1, 2, 8, 10)), ("gamma", (0.9,)), ("rounds", (1, 2)),
    ]  # fmt: skip
