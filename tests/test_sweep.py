"""Sweeps: grids and searches on tuning seeds."""

from __future__ import annotations

import pytest

import skillfocus as sf
from skill_sets import CORRIDOR
from skillfocus.errors import UserError
from skillfocus.runs import Store
from skillfocus.sweep import Axis, parse_axis, reporting_seeds, sweep, tuning_seeds

pytest.importorskip("optuna")
FIXED = {"world_settings": CORRIDOR, "skills": 4, "learner": sf.Planning(rounds=2)}


def test_tuning_and_reporting_seeds_never_overlap():
    assert tuning_seeds(3) == range(1000, 1003)
    assert reporting_seeds(1000) == range(1000)
    with pytest.raises(UserError, match="seed 7 is a reporting seed"):
        tuning_seeds(3, 7)
    with pytest.raises(UserError, match="seed 1000 is a tuning seed"):
        reporting_seeds(1001)


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("strength=1,2.5", Axis("strength", (1, 2.5))),
        ("objective = vic, lsd", Axis("objective", ("vic", "lsd"))),
        ("memory=true,false", Axis("memory", (True, False))),
        ("strength=0.5..16", Axis("strength", low=0.5, high=16)),
        ("strength=0.5..16:log", Axis("strength", low=0.5, high=16, log=True)),
    ],
)
def test_axes_in_text(text, axis):
    assert repr(parse_axis(text)) == repr(axis)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("strength", "write NAME=VALUE"), ("a b=1", "write NAME=VALUE"), ("a=1,1", "a value twice"),
        ("a=x..2", "must be two numbers"), ("a=2..1", "LOW must be below HIGH"),
        ("a=0..1:log", "must be positive"), ("a=1..2:lin", "ends in :log"),
    ],
)  # fmt: skip
def test_axes_that_cannot_be_read(text, message):
    with pytest.raises(UserError, match=message):
        parse_axis(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"over": []}, "name what to sweep over"),
        ({"over": ["strength=1", "strength=2"]}, "swept over twice"),
        ({"over": ["seed=1,2"]}, "seeds are not swept over"),
        ({"over": ["strength=1,2"], "strength": 3.0}, "strength=3.0 has no effect"),
        ({"over": ["strength=1..2"]}, "a grid needs values"),
        ({"over": ["strenght=1"]}, "did you mean 'strength'"),
        ({"over": ["strength=1"], "metric": "stepz"}, "did you mean 'steps'"),
        ({"over": ["strength=1"], "seed": 0}, "reporting seed"),
        ({"over": ["strength=1"], "trials": 0}, "trials must be at least 1"),
    ],
)
def test_mistakes_are_errors_before_anything_runs(arguments, message, tmp_path):
    with pytest.raises(UserError, match=message):
        sweep("four-rooms", "focused-vic", out=tmp_path, **FIXED, **arguments)
    assert not list(tmp_path.iterdir())


def test_a_grid_scores_every_point_and_reports_the_best(tmp_path):
    result = sweep(
        "four-rooms", "focused-vic", over=["strength=0,4", "gamma=0.9,0.99"], seeds=2, report=2,
        metric="mean_side_effects", minimize=True, out=tmp_path, **FIXED,
    )  # fmt: skip
    points = [score.point for score in result.scores]
    assert points == [{"strength": s, "gamma": g} for s in (0, 4) for g in (0.9, 0.99)]
    assert result.best.mean == min(score.mean for score in result.scores)
    frame = Store(tmp_path).frame()
    for score in result.scores:
        rows = frame.filter(
            (frame["strength"] == score.point["strength"])
            & (frame["gamma"] == score.point["gamma"])
            & (frame["metric"] == "mean_side_effects") & (frame["seed"] >= 1000)
        )  # fmt: skip
        assert rows["value"].to_list() == list(score.values)
        assert score.mean == pytest.approx(rows["value"].mean())
    assert result.report.point == result.best.point
    assert result.status.done == 4 * 2 + 2
    assert result.plot.read_bytes().startswith(b"\x89PNG")
    document = result.as_json()
    assert (document["tuning_seeds"], document["reporting_seeds"]) == ([1000, 1001], [0, 1])


def test_a_search_resumes_with_the_runs_that_are_there(tmp_path):
    """Drawn again, the points are the same, so an interrupted search goes on where it was."""

    def search(trials, out):
        return sweep(
            "four-rooms", "focused-vic", over=["strength=0.1..10:log", "rounds=1..3"], seeds=1,
            trials=trials, metric="mean_side_effects", out=tmp_path / out,
            world_settings=CORRIDOR, skills=4,
        )  # fmt: skip

    first, whole = search(4, "a"), search(6, "a")
    assert whole.scores[:4] == first.scores
    assert (whole.status.found, whole.status.done) == (4, 2)
    assert search(6, "b").scores == whole.scores
    assert all(0.1 <= float(str(score.point["strength"])) <= 10 for score in whole.scores)
    assert all(score.point["rounds"] in (1, 2, 3) for score in whole.scores)
