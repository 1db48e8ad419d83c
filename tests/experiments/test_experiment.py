from __future__ import annotations

import pytest

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.experiment import UNEXPLAINED, ClaimGroup, Experiment, Explanation
from skillfocus.experiments.registry import select_experiments


def experiment(**fields):
    return Experiment("a-b", "A and B", lambda setup, seeds: [], lambda frame: Analysis(), **fields)


def test_claims_of_no_group_count_under_the_title():
    assert experiment().group_titles == ["A and B"]
    assert experiment().group_title("anything") == "A and B"
    own = experiment(claim_groups=(ClaimGroup("a-", "A"), ClaimGroup("b-", "B")))
    assert own.group_titles == ["A", "B", "A and B"]
    assert [own.group_title(name) for name in ("a-1", "b-1", "c-a-1")] == ["A", "B", "A and B"]


@pytest.mark.parametrize(
    ("claim", "setup", "expected"),
    [("a-1", Setup(), "planned"), ("a-1", Setup("best"), "best"),
     ("a-1", Setup(learner="q-learning"), "all"), ("a-", Setup(), "all"),
     ("b-1", Setup(), UNEXPLAINED), ("xa-1", Setup(), UNEXPLAINED)],
)  # fmt: skip
def test_the_first_explanation_that_matches_applies(claim, setup, expected):
    """A pattern must match the whole id; `only` names a learner or a preset."""
    explanations = (
        Explanation("a-1", "best", "best"),
        Explanation("a-.", "planned", "planning"),
        Explanation("a-.*", "all"),
    )
    assert experiment(explanations=explanations).explain(claim, setup) == expected


def test_figures_have_distinct_names():
    experiments = select_experiments(["all"])
    names = [e.figure_name or e.name for e in experiments if e.figure]
    assert len(set(names)) == len(names) == 7
    assert [e.name for e in experiments if e.figure is None] == ["controls"]
    assert [e.name for e in experiments if e.illustration] == ["trajectories"]


def test_experiments_that_say_nothing_new_with_best_settings():
    experiments = select_experiments(["all"])
    assert {e.name for e in experiments if e.presets == ("paper",)} == {
        "ablation", "skill-count", "side-effects", "controls",
    }  # fmt: skip
    assert {e.name: e.seed_share for e in experiments if e.seed_share != 1} == {
        "ablation": 0.2, "skill-count": 0.2, "controls": 0.2,
    }  # fmt: skip
