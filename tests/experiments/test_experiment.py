from __future__ import annotations

import pytest

from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.registry import select_experiments
from skillfocus.report.document import Page


def experiment(**fields):
    return Experiment("a-b", "A and B", lambda setup, seeds: [], lambda frame: Analysis(), **fields)


@pytest.mark.parametrize(
    ("fields", "page"),
    [({}, "a-b"), ({"page": "figure-1"}, "figure-1"), ({"page": "my page/x"}, "my_page_x"),
     ({"page": "../"}, "_"), ({"page": "con"}, "_con")],
)  # fmt: skip
def test_an_experiment_has_a_page_of_its_own_unless_it_names_one(fields, page):
    assert experiment(**fields).page_name == page
    Page(experiment(**fields).page_name, "T", [])


def test_figures_have_distinct_names():
    experiments = select_experiments(["all"])
    names = [e.figure_name or e.name for e in experiments if e.figure]
    assert len(set(names)) == len(names) == 9
    assert [e.name for e in experiments if e.figure is None] == ["controls"]
    assert [e.name for e in experiments if e.illustration] == ["trajectories"]


def test_experiments_that_say_nothing_new_with_best_settings():
    experiments = select_experiments(["all"])
    assert {e.name for e in experiments if e.presets == ("paper",)} == {
        "ablation", "skill-count", "side-effects", "controls", "reading-study",
    }  # fmt: skip
    assert {e.name: e.seed_share for e in experiments if e.seed_share != 1} == {
        "ablation": 0.1, "skill-count": 0.1, "controls": 0.1,
    }  # fmt: skip
