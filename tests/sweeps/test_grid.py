from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

import skillfocus as sf
from skill_sets import CORRIDOR, TINY
from skillfocus.errors import UserError
from skillfocus.metrics.coverage import coverage
from skillfocus.metrics.statistics import mean_interval
from skillfocus.metrics.summary import overall, records_of, rows_of, skill_records
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.runs.scheduler import run_all
from skillfocus.skills.skills import Skills
from skillfocus.sweeps.grid import (
    Axis,
    Score,
    best_of,
    grid,
    parse_axis,
    reporting_seeds,
    runs_of,
    score,
    tuning_seeds,
    values_of,
)
from skillfocus.sweeps.paper_grids import PAPER_GRIDS, paper_axis
from skillfocus.sweeps.sensitivity import draw_sensitivity, sensitivity_figure, slice_through

# ------------------------------------------------------------------ the run


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("store"))
    runs = [TINY.changed({"seed": seed, "strength": s}) for seed in (1000, 1001) for s in (1, 4)]
    run_all(runs, made, executor=ThreadPoolExecutor(1))
    return made


def test_defaults_named_or_not_are_the_same_run():
    plain = Discovery("four-rooms", "focused-vic", 0)
    assert plain.id == "9b727aca118df476", "stored runs of this kind would not be found again"
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
    other = plain.changed(changes)
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
        ({"seed": -1}, "seed is -1"),
        ({"step_limit": 0}, "step limit is 0"),
        ({"world_settings": "nope"}, "must be a JSON object"),
        ({"world_settings": "[]"}, "must be a JSON object"),
        ({"skills": 3}, "only one skill targets position"),
    ],
)
def test_mistakes_are_errors_before_anything_runs(changes, message):
    with pytest.raises(UserError, match=message):
        TINY.changed(changes)


def test_the_run_s_skills_are_discover_s(store):
    world = sf.make("four-rooms", **json.loads(CORRIDOR))
    alone = sf.discover(
        world, sf.focused(sf.vic()), seed=1001, learner=sf.Planning(rounds=3), n_skills=4
    )
    kept = store.skills(TINY.changed({"seed": 1001}))
    assert kept == alone
    assert isinstance(kept, Skills)


def test_the_record_comes_back_from_the_table(store):
    run = TINY.changed({"seed": 1001})
    record = run.record(store.frame())
    again = skill_records(store.skills(run))
    assert record["skills"] == again
    assert type(again[0]["starts"]) is type(record["skills"][0]["starts"])
    assert record["strength"] == 4
    assert record["seed"] == 1001


def test_coverage_is_measured_when_asked_and_is_another_run(tmp_path):
    run = TINY.changed({"coverage": True})
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


def test_records_without_starts_and_odd_names_come_back():
    nothing = {"changes_target": None, "side_effects": None, "side_effects_interval": None,
               "steps": None, "side_effects_by_variable": {"a/b": None, "starts": 0.5, "targets": 0.25},
               "mean_change_by_variable": {"a/b": None}, "starts": 0, "exact": False}  # fmt: skip
    record = {"skill": 0, "targets": ["a/b", "c"], **nothing, "all_starts": nothing}
    assert records_of(rows_of([record]), [["a/b", "c"]]) == [record]


def test_a_run_in_three_numbers():
    def skill(targets, changes, effects, starts=1):
        return {
            "targets": targets,
            "changes_target": changes,
            "side_effects": effects,
            "starts": starts,
        }

    records = [
        skill(["a"], 0.2, 0.1),
        skill(["a"], 0.9, 0.3),
        skill(["b"], 0.5, 0.2),
        skill(["c"], None, None, 0),
    ]
    numbers = {name: value for name, _, value in overall(records)}
    assert numbers["control"] == pytest.approx((0.9 + 0.5) / 2)
    assert numbers["mean_side_effects"] == pytest.approx(0.2)
    assert numbers["focus"] == pytest.approx(0.5)
    plain = {name: value for name, _, value in overall([skill([], None, 0.4)])}
    assert plain == {"control": None, "mean_side_effects": 0.4, "focus": None}


@pytest.mark.parametrize(
    ("objective", "learner", "control", "effects", "steps"),
    [
        ("focused-vic", sf.Planning(rounds=3), 1.0, 0.0023530383, 0.2884468831),
        ("focused-lsd", sf.Planning(rounds=3), 0.875, 0.0023530383, 1.7192501143),
        ("dusdi-vic", sf.Planning(rounds=3), 1.0, 0.3761558785, 0.5765127267),
        ("focused-vic", sf.QLearning(episodes=2000), 1.0, 0.0034691097, 1.0036579790),
    ],
)
def test_results_do_not_change_without_a_new_version(objective, learner, control, effects, steps):
    """If results change on purpose, raise Discovery.version with these numbers: runs that are
    stored under the old version must not be taken for new ones."""
    assert Discovery.version == 4
    run = Discovery("four-rooms", objective, 1000, learner, skills=4, world_settings=CORRIDOR)
    rows = {(metric, step): value for metric, step, value in run.execute(lambda *_: None).rows}
    found = rows["control", None], rows["mean_side_effects", None], rows["steps", 3]
    assert found == pytest.approx((control, effects, steps), rel=1e-6)


# ------------------------------------------------------------------ seeds


def test_tuning_and_reporting_seeds_cannot_overlap():
    assert list(tuning_seeds(3)) == [1000, 1001, 1002]
    assert list(reporting_seeds(3)) == [0, 1, 2]
    assert list(reporting_seeds(1, 999)) == [999]
    with pytest.raises(UserError, match="seed 999 is a reporting seed"):
        tuning_seeds(3, first=999)
    with pytest.raises(UserError, match="seed 1000 is a tuning seed"):
        reporting_seeds(2, first=999)
    with pytest.raises(UserError, match="at least 1"):
        tuning_seeds(0)


@given(st.integers(1, 5000), st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 5000))
def test_no_two_ranges_that_are_allowed_meet(n, first, m, other):
    try:
        tuning, reporting = tuning_seeds(n, first), reporting_seeds(m, other)
    except UserError:
        return
    assert not set(tuning) & set(reporting)


# ------------------------------------------------------------------ axes and grids


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("gamma=0.9,0.99", Axis("gamma", (0.9, 0.99))),
        ("rounds = 1, 20", Axis("rounds", (1, 20))),
        ("walk=true,false", Axis("walk", (True, False))),
        ("objective=vic,lsd", Axis("objective", ("vic", "lsd"))),
        ("rate=0.1..0.7", Axis("rate", low=0.1, high=0.7)),
        ("strength=1e-1..20:log", Axis("strength", low=0.1, high=20, log=True)),
    ],
)
def test_axes_are_read(text, axis):
    read = parse_axis(text)
    assert (read.setting, read.values, read.log) == (axis.setting, axis.values, axis.log)
    if not axis.values:
        assert (read.low, read.high) == (axis.low, axis.high)


@pytest.mark.parametrize(
    ("text", "message"),
    [("gamma", "NAME=VALUE"), ("=1", "NAME=VALUE"), ("a=", "NAME=VALUE"), ("a=1,1", "twice"),
     ("a=x..y", "two numbers"), ("a=2..1", "LOW must be below HIGH"), ("a=0..1:log", "positive"),
     ("a=0..1:lin", "ends in :log"), ("a=nan..1", "two numbers")],
)  # fmt: skip
def test_axes_that_cannot_be_read_say_so(text, message):
    with pytest.raises(UserError, match=message):
        parse_axis(text)


def test_a_grid_is_every_combination():
    points = grid([Axis("a", (1, 2)), Axis("b", ("x", "y", "z"))])
    assert len(points) == 6
    assert points[:2] == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]
    for axes, message in (
        ([], "name what to sweep over"),
        ([Axis("a", low=0, high=1)], "--trials"),
        ([Axis("a", (1,)), Axis("a", (2,))], "a is swept over twice"),
        ([Axis("seed", (1, 2))], "seeds are not swept over"),
    ):
        with pytest.raises(UserError, match=message):
            grid(axes)


@pytest.mark.parametrize("name", PAPER_GRIDS)
def test_ready_sweeps_hold_the_paper_s_choice(name):
    """What the appendix settled on is among what it searched, and its runs can be built."""
    chosen = {"gamma": 0.99, "alpha": 0.1, "decay": 0.0005, "skills": 16}
    by_objective = {
        "ewma": {"vic": 0.7, "diayn": 0.05}, "sgd": {"lsd": 0.1}, "dusdi-weight": {"dusdi-vic": 0.1, "dusdi-diayn": 0.1},
        "lambda": {"focused-vic": 4, "focused-diayn": 4, "focused-lsd": 2},
    }  # fmt: skip
    learner = sf.QLearning() if PAPER_GRIDS[name].learner else sf.Planning()
    for objective, value in by_objective.get(name, {"vic": chosen.get(name)}).items():
        setting, values = paper_axis(name, objective, learner.name)
        assert value in values
        base = Discovery("four-rooms", objective, 1000, learner)
        assert len(
            {run.id for v in values for run in runs_of(base, {setting: v}, [1000], "steps")}
        ) == len(values)


def test_a_ready_sweep_out_of_place_says_so():
    with pytest.raises(UserError, match="did you mean 'gamma'"):
        paper_axis("gama", "vic", "planning")
    with pytest.raises(UserError, match="belongs to --learner q-learning"):
        paper_axis("alpha", "vic", "planning")
    with pytest.raises(UserError, match="has no meaning for vic; it is for focused-vic"):
        paper_axis("lambda", "vic", "planning")


# ------------------------------------------------------------------ scores


def test_mean_interval_by_hand():
    # mean 2, s = 1, t(0.95, 2) = 2.9199856: half width 2.9199856 / sqrt 3
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2 - 1.6858545, 2 + 1.6858545))
    assert mean_interval([5.0]) == (5.0, -math.inf, math.inf)
    with pytest.raises(UserError):
        mean_interval([])


def test_mean_interval_is_scipy_s(rng):
    values = rng.normal(size=12)
    expected = t.interval(0.9, 11, loc=values.mean(), scale=values.std(ddof=1) / 12**0.5)
    assert mean_interval(values)[1:] == pytest.approx(expected)


def test_nine_in_ten_intervals_hold_the_mean(rng):
    for n in (2, 3, 10):
        held = 0
        for _ in range(4000):
            _, low, high = mean_interval(rng.normal(3.0, 2.0, size=n))
            held += low <= 3.0 <= high
        assert held / 4000 == pytest.approx(0.9, abs=0.02)


def test_scores_average_within_a_run_first():
    runs = runs_of(TINY, {}, [1000, 1001], "steps")
    frame = pl.DataFrame(
        {"run": [runs[0].id] * 2 + [runs[1].id], "metric": ["steps"] * 3, "step": [0, 1, 0],
         "value": [1.0, 3.0, 5.0]}
    )  # fmt: skip
    made = score(values_of(frame, "steps"), runs, {"a": 1})
    assert made is not None
    assert (made.mean, made.values) == (3.5, (2.0, 5.0))
    half = values_of(frame.filter(pl.col("run") == runs[0].id), "steps")
    assert score(half, runs, {}) is None
    assert values_of(frame.clear(), "steps") == {}
    with pytest.raises(UserError, match="choose another --metric"):
        score({run.id: None for run in runs}, runs, {})


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
        runs_of(TINY, {}, [1000], "stepz")


def test_plain_objectives_have_no_focus():
    with pytest.raises(UserError, match="vic skills have no targets"):
        runs_of(TINY, {"objective": "vic"}, [1000], "focus")
    assert runs_of(TINY, {"objective": "vic"}, [1000], "steps")[0].objective == "vic"


def test_the_best_is_the_largest_or_the_smallest():
    scores = [
        Score({"a": i}, mean, mean, mean, (mean,)) for i, mean in enumerate([1.0, 3.0, 3.0, 2.0])
    ]
    assert best_of(scores, minimise=False).point == {"a": 1}
    assert best_of(scores, minimise=True).point == {"a": 0}


# ------------------------------------------------------------------ the figure


def scores_of(points):
    return [
        Score({"a": a, "b": b}, m, m - 0.1, m + 0.1, (m - 0.05, m + 0.05)) for a, b, m in points
    ]


def test_a_panel_shows_one_setting_with_the_others_at_their_best():
    scores = scores_of([(2, "x", 0.1), (1, "x", 0.4), (1, "y", 0.9), (2, "y", 0.7)])
    best = best_of(scores, minimise=False)
    axes = [Axis("a", (1, 2)), Axis("b", ("x", "y"))]
    assert [s.mean for s in slice_through(axes[0], scores, best)] == [0.9, 0.7]
    assert [s.mean for s in slice_through(axes[1], scores, best)] == [0.4, 0.9]
    figure = sensitivity_figure("t", "focus", axes, scores, best)
    first = figure.axes[0]
    bars = first.containers[0]
    assert bars.lines[0].get_ydata().tolist() == [0.9, 0.7]
    segments = bars.lines[2][0].get_segments()
    assert [tuple(s[:, 1]) for s in segments] == [
        pytest.approx((0.8, 1.0)),
        pytest.approx((0.6, 0.8)),
    ]
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["x", "y"]


def test_a_search_s_panels_show_every_trial():
    scores = scores_of([(0.1, "x", 0.1), (1.0, "y", 0.4), (2.0, "x", 0.3)])
    axes = [Axis("a", low=0.1, high=3.0), Axis("b", ("x", "y"))]
    figure = sensitivity_figure("t", "focus", axes, scores, scores[1])
    first, second = (panel.containers[0].lines[0].get_xydata().tolist() for panel in figure.axes)
    assert first == [[0.1, 0.1], [1.0, 0.4], [2.0, 0.3]]
    assert second == [[0, 0.1], [1, 0.4], [0, 0.3]]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_figure_is_written(tmp_path, suffix):
    scores = scores_of([(0.1, "x", 0.1), (1.0, "x", 0.4)])
    path = tmp_path / f"plot.{suffix}"
    draw_sensitivity(
        path, "t", "focus", [Axis("a", low=0.1, high=1.0, log=True)], scores, scores[0]
    )
    assert path.stat().st_size > 1000
