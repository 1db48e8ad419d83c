"""The run behind `discover` and sweeps."""

from __future__ import annotations

import json
import pickle

import pytest

import skillfocus as sf
from skill_sets import CORRIDOR, TINY
from skillfocus import discovery
from skillfocus.discovery import Discovery, format_settings
from skillfocus.errors import UserError
from skillfocus.learners.registry import make_learner
from skillfocus.metrics.summary import skill_records
from skillfocus.progress import no_progress
from skillfocus.runs import Store, run_all


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("store"))
    run_all([TINY.with_settings({"seed": seed}) for seed in (1000, 1001)], made)
    return made


def test_defaults_named_or_not_are_the_same_run():
    plain = Discovery("four-rooms", "focused-vic", 0)
    named = Discovery(
        "FourRooms-v0", "focused-vic", 0, sf.Planning(rounds=40), skills=16, rate=0.05, strength=4,
        step_limit=40, world_settings='{"slip": 0.1}', penalty="weighted-norm", baseline="start",
    )  # fmt: skip
    assert plain.id == named.id


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"strength": 2}, {"rate": 0.5}, {"gamma": 0.9}, {"rounds": 41}, {"skills": 18},
     {"targets": "tool_1=2"}, {"step_limit": 39}, {"world_settings": '{"slip": 0.2}'},
     {"start_where_controllable": False}, {"penalty": "path-norm"}, {"baseline": "stepwise"}],
)  # fmt: skip
def test_whatever_decides_the_result_decides_the_identity(changes):
    plain = Discovery("four-rooms", "focused-vic", 0)
    other = plain.with_settings(changes)
    assert other.id != plain.id
    assert other.label != plain.label


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strenght": 1}, "did you mean 'strength'"),
        ({"alpha": 0.1}, "unknown setting 'alpha'"),
        ({"strength": "much"}, "strength cannot be 'much'"),
        ({"rounds": 2.5}, "rounds cannot be 2.5; it is of type int"),
        ({"strength": -1.0}, "strength must be 0 to .*, got -1.0"),
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
    run = TINY.with_settings({"seed": 1001})
    assert sf.Skills.load(store.skills_path(run)) == alone
    assert store.document(run)["skills"] == skill_records(alone)


def test_coverage_is_measured_when_asked(tmp_path):
    run, store = TINY.with_settings({"coverage": True}), Store(tmp_path)
    run_all([run], store)
    expected = sf.metrics.coverage(sf.Skills.load(store.skills_path(run)))
    record = store.document(run)
    assert record["coverage"] == expected.curve.tolist()
    assert record["auc"] == expected.auc
    assert record["coverage_exact"] is True
    found = {name for name in store.frame()["metric"] if "interval" not in name}
    assert found <= set(run.metrics())


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
    assert Discovery.version == 6
    rate = 0.7 if "vic" in objective else None
    run = Discovery(
        "four-rooms", objective, 1000, learner, skills=4, rate=rate, world_settings=CORRIDOR
    )
    rows = {(metric, step): value for metric, step, value in run.execute(no_progress).rows}
    found = rows["control", None], rows["mean_side_effects", None], rows["steps", 3]
    assert found == pytest.approx((control, effects, steps), rel=1e-6)


def test_non_default_settings_are_in_the_label():
    run = Discovery("four-rooms", "focused-vic", 7, sf.Planning(rounds=3), strength=2)
    assert run.non_default_settings() == {"strength": 2.0, "rounds": 3}
    assert run.label == "FourRooms-v0_focused-vic_planning_strength=2_rounds=3_seed7"
    assert format_settings({"gamma": 0.95, "rounds": 3}) == ["gamma=0.95", "rounds=3"]
    assert Discovery("four-rooms", "focused-vic", 7, strength=4).non_default_settings() == {}


def test_the_learner_of_a_name_depends_on_the_actions():
    assert make_learner("neural", sf.make("two-rooms")) == sf.Actor()
    assert make_learner("neural", sf.make("four-rooms")) == sf.Neural()
    run = Discovery("two-rooms", "focused-vic", 0, sf.Actor(steps=2), targets="agent=2")
    assert run.non_default_settings() == {
        "steps": 2,
        "targets": run.settings()["targets"],
        "skills": 2,
    }


def test_the_problem_is_built_once_and_not_sent_to_workers(monkeypatch):
    problems = []
    made = discovery.make_problem
    monkeypatch.setattr(
        discovery, "make_problem", lambda *a, **k: problems.append(made(*a, **k)) or problems[-1]
    )
    run = Discovery("four-rooms", "focused-vic", 0, strength=2)
    for _ in range(2):
        assert run.stem.startswith(run.label)
        assert run.settings()["skills"] == len(run.problem.skills)
        assert "steps" in run.metrics()
    assert len(problems) == 2, "the run's, and that of its default settings"
    sent = pickle.dumps(run)
    assert b"Problem" not in sent
    assert pickle.loads(sent).id == run.id


def test_with_settings_reaches_the_learner():
    run = Discovery("four-rooms", "focused-vic", 0).with_settings({"gamma": 0.9, "skills": 18})
    assert (run.learner.gamma, run.skills) == (0.9, 18)
    assert run.learner.rounds == sf.Planning().rounds
