"""Forecasts: the arithmetic, not the clock."""

from __future__ import annotations

import math

import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.learners.base import Learner
from skillfocus.learners.discovery import make_problem
from skillfocus.learners.forecast import Forecast, extrapolate, show_duration
from skillfocus.learners.tabular import planning_forecast
from skillfocus.learners.tabular.planning_forecast import (
    PROGRAM_BYTES,
    count_bytes,
    count_updates,
)

SHORT = sf.Planning(rounds=3)


@pytest.fixture(scope="module")
def mdp():
    return sf.tabulate(corridor())


def test_sweeps_of_cells_are_counted_by_hand(mdp, monkeypatch):
    n = mdp.n_states
    # Ten contexts: 40 sweeps to solve, 2 rounds of 2 sweeps, 40 to solve again.
    assert count_updates(SHORT, mdp, [10], lean=False) == n * (400 + 40 + 400)
    assert count_updates(SHORT, mdp, [10, 10], lean=False) == 2 * n * 840
    # Of 1,000 contexts 500 runs start in 393, which are swept 4 times a round.
    drawn = 1000 * (1 - math.exp(-0.5))
    expected = n * (40 * drawn + 2 * 4 * drawn + 40 * 1000)
    assert count_updates(SHORT, mdp, [1000], lean=False) == pytest.approx(expected)
    assert count_updates(SHORT, mdp, [1000], lean=True) == pytest.approx(expected)
    # Without values from round to round, every round solves.
    monkeypatch.setattr("skillfocus.learners.tabular.lean_model.KEPT_VALUES", 1)
    expected = n * (3 * 40 * drawn + 40 * 1000)
    assert count_updates(SHORT, mdp, [1000], lean=True) == pytest.approx(expected)
    few = sf.Planning(rounds=3, final_sweeps=7, warm_start=False)
    assert count_updates(few, mdp, [10], lean=False) == n * 4 * 7 * 10


def test_memory_is_counted_by_hand(mdp, monkeypatch):
    n, dynamics = mdp.n_states, 40 * mdp.successors.size + 4 * 2 * mdp.n_states
    plain = PROGRAM_BYTES + dynamics + 4 * 10**2 + 5 * n * 30
    assert count_bytes(mdp, [[10, 10, 10]], lean=False) == plain
    monkeypatch.setattr(planning_forecast, "usable_cores", lambda: 2)
    blocks, packed = 2 * 12 * n * 256, n * 320 // 16
    lean = PROGRAM_BYTES + dynamics + 4 * 200**2 + 4 * n * 200 + blocks + packed
    assert count_bytes(mdp, [[60, 60], [200]], lean=True) == lean


def test_a_problem_is_forecast(monkeypatch):
    world = corridor()
    problem = make_problem(world, sf.focused(sf.vic()), targets={"tool_1": 2, "position": 2})
    plain = SHORT.forecast(problem)
    assert plain.states == 6
    skills = sf.discover(
        world, sf.focused(sf.vic()), seed=0, learner=SHORT, targets={"tool_1": 2, "position": 2}
    )
    assert plain.cells == len(skills.tabular.flat_actions)
    assert plain.seconds < 1
    assert not plain.notable
    monkeypatch.setattr("skillfocus.learners.tabular.problem_builder.MAX_CELLS", 10)
    assert SHORT.forecast(problem).cells == plain.cells
    without = sf.Planning(rounds=3, memory=False).forecast(problem)
    assert without.cells == 4 * 6


def test_the_rate_is_measured_if_it_matters(monkeypatch):
    problem = make_problem(corridor(), sf.focused(sf.vic()), targets={"tool_1": 2})
    monkeypatch.setattr(planning_forecast, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(planning_forecast, "usable_cores", lambda: 1)
    times = iter([9.0, 99.0, 100.0, 102.0, 200.0, 201.0])  # the first run compiles; 2 s, then 1 s
    monkeypatch.setattr(planning_forecast.time, "thread_time", lambda: next(times))
    updates = count_updates(SHORT, problem.mdp, [problem.mdp.n_states // 2] * 2, lean=False)
    got = SHORT.forecast(problem)
    contexts = got.cells // 6 // 2
    updates = count_updates(SHORT, problem.mdp, [contexts] * 2, lean=False)
    assert got.seconds == pytest.approx(updates / (6 * 256))


def test_learners_without_a_forecast_have_none():
    problem = make_problem(corridor(), sf.focused(sf.vic()), targets={"tool_1": 2})
    assert sf.QLearning().forecast(problem) is None
    assert Learner.forecast(SHORT, problem) is None


@pytest.mark.parametrize(("seconds", "text"), [
    (45.2, "45 seconds"), (89, "89 seconds"), (95, "2 minutes"), (3600, "60 minutes"),
    (9000, "2.5 hours"),
])  # fmt: skip
def test_durations_read_well(seconds, text):
    assert show_duration(seconds) == text


def test_a_forecast_is_one_line():
    made = Forecast(17_344, 2_644_000_000, 1_234_000_000, 222.0)
    assert str(made) == (
        "17,344 states, 2,644 million cells of policy, about 1.2 GB of memory, about 4 minutes"
    )
    assert made.notable
    assert not Forecast(1, 1, 1, 30.0).notable
    assert extrapolate(3.0, 0.05) == pytest.approx(60.0)
