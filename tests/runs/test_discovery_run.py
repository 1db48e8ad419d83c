from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import skillfocus as sf
from skill_sets import CORRIDOR, TINY
from skillfocus.errors import UserError
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.summary import skill_records
from skillfocus.runs.discovery_run import Discovery, format_settings
from skillfocus.runs.folder_store import Store
from skillfocus.runs.scheduler import run_all
from skillfocus.skills.skills import Skills
from skillfocus.sweeps.scores import point_runs


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("store"))
    runs = [
        TINY.with_settings({"seed": seed, "strength": s}) for seed in (1000, 1001) for s in (1, 4)
    ]
    run_all(runs, made, executor=ThreadPoolExecutor(1))
    return made


def test_defaults_named_or_not_are_the_same_run():
    plain = Discovery("four-rooms", "focused-vic", 0)
    assert plain.id == "7d2a8c5151d87d06", "stored runs of this kind would not be found again"
    named = Discovery(
        "FourRooms-v0", "focused-vic", 0, sf.Planning(rounds=40), skills=16, rate=0.7, strength=4,
        step_limit=40, world_settings='{"slip": 0.1}',
    )  # fmt: skip
    assert plain.id == named.id
    assert Discovery("forage-world", "vic", 0).settings()["rate"] == 0.5


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"strength": 2}, {"rate": 0.5}, {"gamma": 0.9}, {"rounds": 41}, {"skills": 18},
     {"targets": "tool_1=2"}, {"step_limit": 39}, {"world_settings": '{"slip": 0.2}'},
     {"start_where_controllable": False}],
)  # fmt: skip
def test_whatever_decides_the_result_decides_the_identity(changes):
    plain = Discovery("four-rooms", "focused-vic", 0)
    other = plain.with_settings(changes)
    assert other.id != plain.id
    assert other.label != plain.label


@pytest.mark.parametrize("objective", ["dusdi-vic", "scattered-dusdi-vic"])
def test_dusdi_s_weight_decides_too(objective):
    runs = [Discovery("four-rooms", objective, 0, weight=weight) for weight in (None, 0.1, 0.2)]
    assert runs[0].id == runs[1].id != runs[2].id


def test_other_learners_and_objectives_are_other_runs():
    runs = [
        Discovery("four-rooms", objective, 0, learner)
        for objective in ("vic", "dusdi-vic", "focused-vic", "focused-diayn")
        for learner in (sf.Planning(), sf.QLearning(), sf.paper_q_learning())
    ]
    assert len({run.id for run in runs}) == 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strenght": 1}, "did you mean 'strength'"),
        ({"alpha": 0.1}, "unknown setting 'alpha'"),
        ({"strength": "much"}, "strength cannot be 'much'"),
        ({"rounds": 2.5}, "rounds cannot be 2.5; it is of type int"),
        ({"strength": -1.0}, "strength is -1.0"),
        ({"seed": -1}, "non-negative integer, got -1"),
        ({"step_limit": 0}, "step limit is 0"),
        ({"world_settings": "nope"}, "must be a JSON object"),
        ({"world_settings": "[]"}, "must be a JSON object"),
        ({"skills": 3}, "only one skill targets position"),
    ],
)
def test_mistakes_are_errors_before_anything_runs(changes, message):
    with pytest.raises(UserError, match=message):
        TINY.with_settings(changes)


def test_the_run_s_skills_are_discover_s(store):
    world = sf.make("four-rooms", **json.loads(CORRIDOR))
    alone = sf.discover(
        world, sf.focused(sf.vic()), seed=1001, learner=sf.Planning(rounds=3), n_skills=4
    )
    kept = store.skills(TINY.with_settings({"seed": 1001}))
    assert kept == alone
    assert isinstance(kept, Skills)


def test_the_record_comes_back_from_the_table(store):
    run = TINY.with_settings({"seed": 1001})
    record: Any = run.record(store.frame())
    again = skill_records(store.skills(run))
    assert record["skills"] == again
    assert type(again[0]["starts"]) is type(record["skills"][0]["starts"])
    assert record["strength"] == 4
    assert record["seed"] == 1001


def test_coverage_is_measured_when_asked_and_is_another_run(tmp_path):
    run = TINY.with_settings({"coverage": True})
    assert run.id != TINY.id
    store = Store(tmp_path)
    run_all([run], store, executor=ThreadPoolExecutor(1))
    record = run.record(store.frame())
    expected = coverage(store.skills(run))
    assert record["coverage"] == expected.curve.tolist()
    assert record["auc"] == expected.auc
    assert record["coverage_exact"] is True
    assert record["skills"] == skill_records(store.skills(run))
    assert set(run.metrics()) >= {
        name for name in store.frame()["metric"] if "interval" not in name
    }


@pytest.mark.parametrize(
    ("objective", "learner", "control", "effects", "steps"),
    [
        ("focused-vic", sf.Planning(rounds=3), 1.0, 0.0023117574, 0.2777777778),
        ("focused-lsd", sf.Planning(rounds=3), 0.875, 0.0023530387, 1.7192501110),
        ("dusdi-vic", sf.Planning(rounds=3), 1.0, 0.3750000001, 0.0),
        ("focused-vic", sf.QLearning(episodes=2000), 1.0, 0.0023117574, 0.2777777778),
    ],
)
def test_results_do_not_change_without_a_new_version(objective, learner, control, effects, steps):
    """If results change on purpose, raise Discovery.version with these numbers: runs that are
    stored under the old version must not be taken for new ones."""
    assert Discovery.version == 5
    run = Discovery("four-rooms", objective, 1000, learner, skills=4, world_settings=CORRIDOR)
    rows = {(metric, step): value for metric, step, value in run.execute(lambda *_: None).rows}
    found = rows["control", None], rows["mean_side_effects", None], rows["steps", 3]
    assert found == pytest.approx((control, effects, steps), rel=1e-6)


def test_a_run_has_the_metrics_it_says(store):
    frame = store.frame()
    found = {name for name in frame["metric"] if "interval" not in name}
    known = set(TINY.metrics())
    assert found <= known
    # a target's own change is no side effect, so those metrics are there for other skills
    assert known - found <= {
        f"{p}side_effects_by_variable/{n}"
        for p in ("", "all_starts/")
        for n in ("position", "tool_1")
    }
    with pytest.raises(UserError, match="unknown metric 'stepz': did you mean 'steps'"):
        point_runs(TINY, {}, [1000], "stepz")


def test_settings_in_text():
    assert format_settings({"gamma": 0.95, "rounds": 3}) == ["gamma=0.95", "rounds=3"]


def test_non_default_settings_are_in_the_label():
    run = Discovery("four-rooms", "focused-vic", 7, sf.Planning(rounds=3), strength=2)
    assert run.non_default_settings() == {"strength": 2.0, "rounds": 3}
    assert run.label == "FourRooms-v0_focused-vic_planning_strength=2_rounds=3_seed7"
    assert Discovery("four-rooms", "focused-vic", 7, strength=4).non_default_settings() == {}


def test_only_what_differs_in_nested_settings_is_in_the_label():
    learner = sf.Neural(actor=sf.Actor(rounds=2))
    run = Discovery("two-rooms", "focused-vic", 0, learner, targets="agent=2")
    named = run.non_default_settings()
    assert named.pop("actor_rounds") == 2
    assert not any(name.startswith("actor_") for name in named)


def test_with_settings_reaches_the_learner():
    run = Discovery("four-rooms", "focused-vic", 0).with_settings({"gamma": 0.9, "skills": 18})
    assert (run.learner.gamma, run.skills) == (0.9, 18)
    assert run.learner.rounds == sf.Planning().rounds
