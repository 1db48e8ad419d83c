from __future__ import annotations

import polars as pl
import pytest

import skillfocus as sf
from frames import results
from paths import ROOT
from probes import CORRIDOR
from skillfocus.errors import UserError
from skillfocus.experiments import (
    coverage,
    reproduction,
)
from skillfocus.experiments.cases import Setup, costs
from skillfocus.experiments.cases import results as results_of
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.pipeline import Pipeline, Primitives
from skillfocus.experiments.presets import OBJECTIVES, PRESETS, task_learner
from skillfocus.experiments.reduce import reduce_results
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import settings_of
from skillfocus.runs.run_file import Header, encode


def test_every_experiment_is_in_the_file_its_name_suggests():
    for name, module in reproduction.EXPERIMENTS.items():
        assert module.__name__.endswith("." + name.replace("-", "_"))


def test_every_experiment_s_cases_can_be_made():
    for setup in reproduction.SETUPS:
        made = reproduction.cases(setup, list(reproduction.EXPERIMENTS), range(5))
        same = [case for case in made if case.variant == "no strength"]
        assert len(same) == (9 if setup == Setup() else 0)
        assert [case.seed for case in made] == sorted(case.seed for case in made)
        main = [case for case in made if case.variant == "" and case.agent in OBJECTIVES]
        assert {(c.world, c.agent, c.seed) for c in main} >= {
            (w, a, s) for w in reproduction.downstream.WORLDS for a in OBJECTIVES for s in range(2)
        }
        seeds = {agent: {c.seed for c in main if c.agent == agent} for agent in OBJECTIVES}
        planned = setup.learner == "planning"
        assert seeds["vic"] == seeds["lsd"] == set(range(2 if planned else 5))
        assert seeds["diayn"] == seeds["focused-lsd"] == set(range(5))
    few = reproduction.cases(Setup(), ["ablation"], range(50))
    assert {case.seed for case in few} == set(range(10))
    assert {case.seed for case in reproduction.cases(Setup(), ["ablation"], range(1))} == {0}
    with pytest.raises(UserError, match=r"unknown experiment 'coverge'.*coverage"):
        reproduction.check_experiments(["coverge"])


def test_presets_share_the_runs_in_which_they_do_not_differ():
    paper, best = (Setup(preset).case("mud-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id == best.id
    paper, best = (Setup(preset).case("forage-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id != best.id
    letter, ours = (
        Setup(preset, "q-learning").case("mud-world", "vic", 0).run for preset in PRESETS
    )
    assert letter.id != ours.id


def test_stored_pipelines_do_not_outlive_their_settings():
    """How tasks are learned is no part of a pipeline's settings: raise Pipeline.version with it."""
    assert (Pipeline.version, Primitives.version) == (401, 402)
    learners = [
        task_learner(p, w, "vic") for p in PRESETS for w in ("FourRooms-v0", "ForageWorld-v0")
    ]
    assert [(h.epsilon_decay, h.alpha_decay, h.intra_option) for h in learners] == [
        (0.001, 0.0, False), (0.0005, 0.0, False), (0.0002, 0.0001, True), (0.0002, 0.0001, True),
    ]  # fmt: skip


def test_whoever_has_a_penalty_explores_as_the_paper_s_focused_skills_do():
    agents = ("focused-vic", "permuted-focused-vic", "focused-oracle", "dusdi-vic", "primitives")
    decays = [task_learner("paper", "ForageWorld-v0", agent).epsilon_decay for agent in agents]
    assert decays == [0.001, 0.001, 0.001, 0.0005, 0.0005]
    assert task_learner("paper", "forage-world", "vic").epsilon_decay == 0.0005


SMALL = '{"text": "' + CORRIDOR.replace("\n", "\\n") + '", "slip": 0.0, "step_limit": 6}'


@pytest.mark.slow
def test_a_pipeline_measures_all_there_is(tmp_path):
    """In a corridor of three cells with the tool in the last, the task takes two steps."""
    import inspect

    from skillfocus.worlds.four_rooms import FourRooms

    name = next(iter(inspect.signature(FourRooms).parameters))
    run = Pipeline(
        "four-rooms", "focused-vic", 0, sf.Planning(rounds=3), skills=4,
        world_settings=SMALL.replace('"text"', f'"{name}"'), coverage=True,
    )  # fmt: skip
    result = run.execute(lambda *_: None)
    assert result.skills is None
    rows = {(metric, step): value for metric, step, value in result.rows}
    assert rows["paper/true/steps", 20_000] == rows["best/true/steps", 20_000] == 2.0
    assert rows["best/true/true_return", 20_000] == 1.0
    assert ("paper/proxy/steps", 20_000) not in rows  # the same as the true reward here
    assert rows["path/0", 0] == run.make_mdp().number((0, 0))
    assert 0 < rows["auc", None] <= 4
    names = ("run", "metric", "step", "value")
    frame = pl.DataFrame([(run.id, *row) for row in result.rows], schema=names, orient="row")
    record = run.record(frame)
    assert [skill["skill"] for skill in record["skills"]] == [0, 1, 2, 3]
    assert len(record["coverage"]) == 5


@pytest.mark.slow
def test_primitives_know_the_optimum():
    rows = {m: v for m, _, v in Primitives("mud-world", 0).execute(lambda *_: None).rows}
    assert rows["optimum/true/steps"] == pytest.approx(22.5, abs=0.06)
    assert rows["optimum/proxy/steps"] == pytest.approx(21.0, abs=0.06)
    assert rows["optimum/true/success"] == pytest.approx(0.962, abs=0.001)
    assert rows["optimum/true/success"] <= rows["optimum/true/return"] <= 1
    assert {"paper/true/steps", "best/proxy/true_return"} <= set(rows)


def test_condensing_keeps_what_is_asked_for():
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
    small = reduce_results(pl.DataFrame(rows, schema=results([]).schema, orient="row"), made)
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


def test_two_runs_under_one_name_are_refused(monkeypatch):
    twice = [Setup().case("mud-world", "vic", 0), Setup().case("mud-world", "vic", 0, skills=8)]
    monkeypatch.setattr(coverage, "cases", lambda setup, seeds: twice)
    with pytest.raises(ValueError, match="two different runs"):
        reproduction.cases(Setup(), ["coverage"], range(1))


def test_results_and_costs_are_joined_to_the_labels_of_finished_cases(tmp_path):
    store = Store(tmp_path)
    made = [
        Setup(preset).case("mud-world", "primitives", seed) for preset in PRESETS for seed in (0, 1)
    ]
    store.prepare()
    assert results_of(store, made).is_empty()
    assert costs(store, made).is_empty()
    run = made[1].run
    record = {"python": "3", "skillfocus": "0", "numpy": "2", "numba": "0", "cpu_seconds": 2.5,
              "peak_memory_mb": None, "host": "somewhere"}  # fmt: skip
    header = Header(run.id, "Primitives", run.version, settings_of(run), record)
    store.add(run, encode(header, [("auc", None, 1.5), ("task", 2, 3.0)]), None)
    frame = results_of(store, made)
    assert frame.filter(pl.col("metric") == "auc").rows() == [
        (preset, "planning", "mud-world", "primitives", "", 1, "auc", None, 1.5)
        for preset in PRESETS
    ]
    assert costs(store, made)["cpu_seconds"].to_list() == [2.5, 2.5]


def test_deviations_are_the_page_s():

    page = (ROOT / "docs" / "deviations.md").read_text()
    assert page.count("\n1. ") == 1
    numbers = [int(line.split(".")[0]) for line in page.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(DEVIATIONS) + 1))
