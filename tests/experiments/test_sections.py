from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from frames import make_results, sample_results
from skillfocus.experiments.cases import SETUPS, Setup
from skillfocus.experiments.claims import UNDECIDED
from skillfocus.experiments.presets import OBJECTIVES, WORLDS
from skillfocus.experiments.registry import get_experiment, select_experiments
from skillfocus.experiments.sections import all_cases, analyze_results


def test_every_experiment_s_cases_can_be_made():
    for setup in SETUPS:
        made = all_cases(setup, select_experiments(["all"]), range(5))
        same = [case for case in made if case.variant == "no strength"]
        assert len(same) == (9 if setup == Setup() else 0)
        assert [case.seed for case in made] == sorted(case.seed for case in made)
        main = [case for case in made if case.variant == "" and case.agent in OBJECTIVES]
        share = range(5 if setup.learner == "planning" else 2)
        assert {(c.world, c.agent, c.seed) for c in main} == {
            (w, a, s) for w in WORLDS for a in OBJECTIVES for s in share
        }
    few = all_cases(Setup(), [get_experiment("ablation")], range(50))
    assert {case.seed for case in few} == set(range(5))
    assert {case.seed for case in all_cases(Setup(), [get_experiment("ablation")], range(1))} == {0}


def test_two_runs_with_the_same_labels_are_refused():
    twice = [Setup().case("mud-world", "vic", 0), Setup().case("mud-world", "vic", 0, skills=8)]
    experiment = replace(get_experiment("coverage"), cases=lambda setup, seeds: twice)
    with pytest.raises(ValueError, match="two different runs"):
        all_cases(Setup(), [experiment], range(1))


def test_a_report_of_ragged_results_is_written():
    """Whatever is missing, the rest is reported."""
    frame = sample_results()
    cases = frame.select("world", "agent", "seed").unique().sort("world", "agent", "seed")
    rng = np.random.default_rng(0)
    for _ in range(6):
        some = cases.filter(rng.random(len(cases)) < 0.5)
        part = frame.join(some, on=["world", "agent", "seed"], how="semi")
        for section in analyze_results(part, select_experiments(["all"])):
            for claim in section.analysis.claims:
                assert claim.verdict == UNDECIDED or claim.seeds > 1 or claim.source == "aim"


def test_a_setup_of_baselines_alone_is_left_out():
    rows = [("mud-world", agent, "", "auc", None, [1, 1]) for agent in ("primitives", "ideal")]
    frame = pl.concat([sample_results(), make_results(rows, learner="q-learning")])
    coverage = [get_experiment("coverage")]
    assert [s.setup for s in analyze_results(frame, coverage)] == [Setup()]
    best = frame.with_columns(preset=pl.lit("best"))
    assert [s.setup for s in analyze_results(best, coverage)] == [Setup("best")]
    assert analyze_results(best, [get_experiment("controls")]) == []  # the paper's preset alone


def test_a_section_sees_its_setup_alone():
    frame = pl.concat([sample_results(), sample_results().with_columns(preset=pl.lit("best"))])
    for section in analyze_results(frame, [get_experiment("coverage")]):
        assert section.frame["preset"].unique().to_list() == [section.setup.preset]
        assert section.frame.height == frame.height / 2
