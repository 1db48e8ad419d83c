"""Results of runs: collected, reduced, saved and read again."""

from __future__ import annotations

import polars as pl
import pytest

import skillfocus as sf
from frames import make_costs, make_results, sample_results
from paper.agents import Setup
from paper.results import (
    RESULTS,
    collect_costs,
    collect_results,
    load_results,
    reduce_results,
    save_results,
    skill_roles,
)
from paper.settings import PRESETS
from skillfocus.errors import UserError


def test_results_and_costs_are_joined_to_the_labels_of_finished_cases(tmp_path, monkeypatch):
    """A run that two presets share appears under both."""
    made = [
        Setup(preset).case("mud-world", "primitives", seed) for preset in PRESETS for seed in (0, 1)
    ]
    store = sf.Store(tmp_path)
    assert collect_results(store, made).is_empty()
    assert collect_costs(store, made).is_empty()
    quick = sf.Result([("auc", None, 1.5), ("task", 2, 3.0)])
    monkeypatch.setattr(type(made[1].run), "execute", lambda run, progress: quick)
    sf.run_all([made[1].run], store)
    frame = collect_results(store, made)
    assert frame.filter(pl.col("metric") == "auc").rows() == [
        (preset, "planning", "mud-world", "primitives", "", 1, "auc", None, 1.5)
        for preset in PRESETS
    ]
    costs = collect_costs(store, made)
    assert costs["python"].null_count() == 0
    assert len(costs) == 2


def test_kept_results_are_read_again(tmp_path):
    frame = sample_results()
    save_results(tmp_path, frame, make_costs(frame))
    found, taken = load_results(tmp_path)
    assert found.schema == frame.schema
    assert found["value"].to_list() == pytest.approx(frame["value"].to_list())
    assert taken["cpu_seconds"].sum() == 24 * 3600
    with pytest.raises(UserError, match=r"no results.parquet in .*; name a folder such as results"):
        load_results(tmp_path / "elsewhere")
    (tmp_path / "results.parquet").write_bytes(b"nothing")
    with pytest.raises(UserError, match="does not hold saved results"):
        load_results(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "results.parquet")
    with pytest.raises(UserError, match="does not hold saved results"):
        load_results(tmp_path)


def test_results_of_another_version_are_not_mixed(tmp_path):
    frame = sample_results()
    save_results(tmp_path, frame, make_costs(frame))
    (tmp_path / "version.json").write_text('{"results": 3}')
    with pytest.raises(UserError, match="are of version 3, and these of version"):
        save_results(tmp_path, frame, make_costs(frame))
    save_results(tmp_path, frame, make_costs(frame), [Setup()])  # all of them, so nothing is mixed


# -------------------------------------------------------------------- reducing


def test_results_are_reduced_by_hand():
    """Two goals' skills and two for the position; each preset its own way to learn the task."""
    made = [
        Setup(p).case("four-rooms", "focused-vic", s, skills=10) for p in PRESETS for s in (0, 1)
    ]
    rows = []
    for case in made:
        effects = [("side_effects", z, float(z)) for z in range(10)]
        effects += [("changes_target", z, z / 10) for z in range(10)]
        task = [(f"{p}/true/steps", n, 10.0 * k) for k, p in enumerate(PRESETS) for n in (1, 2)]
        others = [("path/0", 0, 3.0), ("auc", None, 1.5), ("starts", 0, 9.0)]
        rows += [(*case.labels, *row) for row in [*effects, *task, *others]]
    small = reduce_results(pl.DataFrame(rows, schema=make_results([]).schema, orient="row"), made)
    paper = small.filter((pl.col("preset") == "paper") & (pl.col("seed") == 1))
    kept = {(m, s): v for m, s, v in paper.select("metric", "step", "value").iter_rows()}
    assert kept == pytest.approx({
        ("goal/side_effects", None): 3.5, ("goal/worst/side_effects", None): 7.0,
        ("roam/side_effects", None): 8.5, ("roam/worst/side_effects", None): 9.0,
        ("goal/changes_target", None): 0.35, ("roam/changes_target", None): 0.85,
        ("goal/control", None): 0.4,  # the mean of 0.1, 0.3, 0.5, 0.7
        ("task/true/steps", 1): 0.0, ("task/true/steps", 2): 0.0, ("auc", None): 1.5,
    })  # fmt: skip
    assert small.filter(pl.col("metric") == "path/0")["seed"].unique().to_list() == [0]
    best = small.filter((pl.col("preset") == "best") & (pl.col("metric") == "task/true/steps"))
    assert set(best["value"]) == {10.0}


@pytest.fixture
def case():
    """FourRooms with ten skills: two for each of four tools, two for the position."""
    return Setup().case("four-rooms", "focused-vic", 0, skills=10)


def reduced(case, rows):
    frame = pl.DataFrame([(*case.labels, *row) for row in rows], schema=RESULTS, orient="row")
    kept = reduce_results(frame, [case])
    return {(m, s): v for m, s, v in kept.select("metric", "step", "value").iter_rows()}


def test_other_metrics_are_kept_and_only_declared_ones_dropped(case):
    rows = [("novelty", 3, 0.5), ("novelty", None, 1.0), ("paper/other/curve", 200, 2.0)]
    assert reduced(case, rows) == {(metric, step): value for metric, step, value in rows}
    assert reduced(case, [("focus", None, 1.0), ("all_starts/steps", 0, 3.0)]) == {}
    assert reduced(case, []) == {}


def test_roles_follow_from_targets(case):
    roles = skill_roles([case]).sort("step")
    assert roles["role"].to_list() == ["goal"] * 8 + ["roam"] * 2
    assert roles["target"].n_unique() == 5
    plain = skill_roles([Setup().case("four-rooms", "vic", 0)])
    assert set(plain["role"]) == {"any"}
    assert skill_roles([Setup().case("four-rooms", "primitives", 0)]).is_empty()


def test_by_role_by_hand(case):
    """Tools' skills 0 to 7 and position's 8 and 9; a missing value does not count."""
    rows = [("side_effects_by_variable/x", z, float(z)) for z in range(9)]
    rows += [("side_effects_by_variable/x", 9, None)]
    assert reduced(case, rows) == {
        ("goal/side_effects_by_variable/x", None): 3.5,
        ("roam/side_effects_by_variable/x", None): 8.0,
    }


def test_skills_without_a_known_role_are_kept_as_they_are():
    case = Setup().case("four-rooms", "primitives", 0)
    assert reduced(case, [("side_effects", 2, 0.5)]) == {("side_effects", 2): 0.5}


def test_curves_of_other_presets_are_dropped():
    case = Setup("best").case("mud-world", "primitives", 0)
    rows = [("paper/true/steps", 200, 60.0), ("best/true/steps", 200, 30.0)]
    assert reduced(case, rows) == {("task/true/steps", 200): 30.0}


def test_a_reading_keeps_the_task_that_it_learns_its_own_way():
    rows = [
        ("mud-world", "vic", f"reading={reading}", f"{way}/true/steps", 20_000, [steps])
        for reading in ("paper", "memory=none", "ties=random")
        for way, steps in (("paper", 1), ("ties=random", 2))
    ]
    reduced = reduce_results(make_results(rows), [])
    assert dict(reduced.select("variant", "value").iter_rows()) == {
        "reading=paper": 1, "reading=memory=none": 1, "reading=ties=random": 2,
    }  # fmt: skip
