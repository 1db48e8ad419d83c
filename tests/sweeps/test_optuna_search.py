from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from datetime import timedelta

import pytest

from skill_sets import TINY
from skillfocus.errors import UserError
from skillfocus.sweeps.grid import Axis
from skillfocus.sweeps.optuna_search import (
    BATCH,
    _active_trials,
    open_study,
    search,
    sqlite_url,
)
from skillfocus.sweeps.scores import Score, SweepSpec

optuna = pytest.importorskip("optuna")
AXES = (
    Axis("strength", low=0.5, high=16.0, log=True),
    Axis("rounds", low=1, high=9),
    Axis("rate", (0.3, 0.5, 0.7)),
)
SPEC = SweepSpec(TINY, AXES, (1000, 1001), "focus", minimise=False)


def score_by_distance(points):
    """Best at strength 4 and rate 0.5; a point with strength above 15 fails."""
    scores = []
    for point in points:
        value = -abs(point["strength"] - 4) - abs(point["rate"] - 0.5)
        failed = point["strength"] > 15
        scores.append(None if failed else Score(point, value, value, value, (value, value)))
    return scores


@pytest.fixture
def study(tmp_path):
    """study(name): opened, and closed when the test is over."""
    with ExitStack() as stack:
        yield lambda name="s": stack.enter_context(open_study(sqlite_url(tmp_path), name, SPEC))


def found(scores):
    return [(score.point, score.mean) for score in scores]


@pytest.mark.slow
def test_a_search_gets_better_and_stays_in_range(study):
    scores = search(study(), SPEC, trials=30, seed=1000, score=score_by_distance)
    assert 25 <= len(scores) <= 30
    assert len({score.point["strength"] for score in scores[:8]}) == 8
    assert max(score.mean for score in scores[10:]) > max(score.mean for score in scores[:5])
    for score in scores:
        strength = score.point["strength"]
        assert isinstance(strength, int | float)
        assert 0.5 <= strength <= 15
        assert isinstance(score.point["rounds"], int)
        assert 1 <= score.point["rounds"] <= 9
        assert score.point["rate"] in (0.3, 0.5, 0.7)


def test_equal_seeds_search_equally_and_other_seeds_otherwise(study):
    made = [
        found(search(study(name), SPEC, trials=14, seed=seed, score=score_by_distance))
        for name, seed in (("a", 1000), ("b", 1000), ("c", 1001))
    ]
    assert made[0] == made[1]
    assert made[0] != made[2]


@pytest.mark.parametrize("stop_at", [1, 3, 4])
def test_a_search_cut_anywhere_ends_as_if_it_had_not_been(study, stop_at):
    whole = search(study("whole"), SPEC, trials=15, seed=1000, score=score_by_distance)
    calls = []

    def cut(points):
        calls.append(points)
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return score_by_distance(points)

    with pytest.raises(KeyboardInterrupt):
        search(study("cut"), SPEC, trials=15, seed=1000, score=cut)
    abandon(study("cut"))
    ended = search(study("cut"), SPEC, trials=15, seed=1000, score=score_by_distance)
    assert found(ended) == found(whole)
    assert len(_active_trials(study("cut"))) == 15


def abandon(made):
    """Make running trials look like those of a process that is no more."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for trial in made.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
        owner = f"{dead.pid}@{os.uname().nodename}"
        made._storage.set_trial_user_attr(trial._trial_id, "owner", owner)


def cut_at(monkeypatch, kind, name, call):
    """Interrupt the nth call of a method, once."""
    method, calls = getattr(kind, name), []

    def cut(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return method(*arguments, **options)

    monkeypatch.setattr(kind, name, cut)


def test_a_batch_cut_between_two_verdicts_is_filled_up(study, monkeypatch):
    whole = search(study("whole"), SPEC, trials=14, seed=1000, score=score_by_distance)
    made = study("cut")
    cut_at(monkeypatch, optuna.Study, "tell", 11)
    with pytest.raises(KeyboardInterrupt):
        search(made, SPEC, trials=14, seed=1000, score=score_by_distance)
    ended = search(made, SPEC, trials=14, seed=1000, score=score_by_distance)
    assert {repr(pair) for pair in found(ended)} == {repr(pair) for pair in found(whole)}


def test_a_trial_cut_while_it_was_drawn_is_drawn_the_same(study, monkeypatch):
    whole = search(study("whole"), SPEC, trials=8, seed=1000, score=score_by_distance)
    made = study("cut")
    cut_at(monkeypatch, optuna.Trial, "suggest_int", 6)
    with pytest.raises(KeyboardInterrupt):
        search(made, SPEC, trials=8, seed=1000, score=score_by_distance)
    assert found(search(made, SPEC, trials=8, seed=1000, score=score_by_distance)) == found(whole)


def test_trials_that_nobody_signed_are_given_up_after_a_while(study, monkeypatch):
    made = study()
    made.ask()
    assert len(search(made, SPEC, trials=BATCH, seed=1000, score=score_by_distance)) == BATCH - 1
    monkeypatch.setattr("skillfocus.sweeps.optuna_search.UNSIGNED_TIMEOUT", timedelta(0))
    assert len(search(made, SPEC, trials=BATCH, seed=1000, score=score_by_distance)) == BATCH


def test_a_process_takes_up_what_it_left_itself(study):
    made = study()

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(made, SPEC, trials=BATCH, seed=1000, score=stop)
    assert len(search(made, SPEC, trials=BATCH, seed=1000, score=score_by_distance)) == BATCH


def test_failed_trials_are_tried_again_when_asked(study):
    made = study()
    failing = search(made, SPEC, trials=5, seed=1000, score=lambda points: [None] * len(points))
    assert failing == []
    assert search(made, SPEC, trials=5, seed=1000, score=score_by_distance) == []
    again = search(made, SPEC, trials=5, seed=1000, score=score_by_distance, retry_failed=True)
    assert len(again) == 5


def test_a_living_process_keeps_its_trials(study):
    made = study()
    trial = made.ask()
    trial.set_user_attr("owner", f"1@{os.uname().nodename}")  # the machine's first process
    other = made.ask()
    other.set_user_attr("owner", "1@elsewhere")
    scores = search(made, SPEC, trials=BATCH, seed=1000, score=score_by_distance)
    assert len(scores) == BATCH - 2
    assert trial.number not in [t.number for t in made.get_trials() if t.state.is_finished()]


def test_going_on_with_more_trials_adds_to_them(study):
    first = search(study(), SPEC, trials=5, seed=1000, score=score_by_distance)
    again = search(
        study(), SPEC, trials=5, seed=1000, score=lambda _: pytest.fail("nothing is left to score")
    )
    assert found(first) == found(again)
    more = search(study(), SPEC, trials=9, seed=1000, score=score_by_distance)
    assert found(more)[: len(first)] == found(first)
    assert len(_active_trials(study())) == 9


def test_a_study_answers_one_question(tmp_path):
    def spec(base=TINY, axes=AXES, seeds=(1000,), metric="focus", minimise=False):
        return SweepSpec(base, axes, seeds, metric, minimise)

    others = [
        spec(TINY.with_settings({"skills": 6})), spec(axes=AXES[:1]), spec(metric="steps"),
        spec(seeds=(1001,)), spec(minimise=True),
    ]  # fmt: skip
    assert len({spec().digest, *(other.digest for other in others)}) == 6
    assert spec(TINY.with_settings({"seed": 1005})).digest == spec().digest
    for _ in range(2):
        with open_study(sqlite_url(tmp_path), "s", spec()):
            pass
    for other in others:
        opening = open_study(sqlite_url(tmp_path), "s", other)
        with pytest.raises(UserError, match="the study s searches something else"):
            opening.__enter__()


@pytest.mark.parametrize(
    ("axes", "message"),
    [((), "name what to sweep"), ((AXES[0], AXES[0]), "twice"), ((Axis("seed", (1,)),), "not swept"),
     ((Axis("strenght", (1,)),), "did you mean 'strength'")],
)  # fmt: skip
def test_questions_without_sense_are_refused(axes, message):
    with pytest.raises(UserError, match=message):
        SweepSpec(TINY, axes, (1000,), "focus", minimise=False)


def test_another_program_s_database_is_left_alone(tmp_path):
    path = tmp_path / "search.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE photos (name)")
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"search\.db is not a database of searches; .*--storage"):
        sqlite_url(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////nowhere/at/all.db"])
def test_a_storage_that_cannot_be_opened_is_one_sentence(url):
    with pytest.raises(UserError, match="cannot open the study's storage") as caught:
        open_study(url, "s", SPEC).__enter__()
    assert "\n" not in str(caught.value)
