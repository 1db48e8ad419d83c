from __future__ import annotations

import pytest

from skillfocus.experiments.cases import SETUPS, Setup, first_seeds, main_cases
from skillfocus.experiments.presets import PRESETS


def test_presets_share_the_runs_in_which_they_do_not_differ():
    paper, best = (Setup(preset).case("mud-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id == best.id
    paper, best = (Setup(preset).case("forage-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id != best.id
    letter, ours = (
        Setup(preset, "q-learning").case("mud-world", "vic", 0).run for preset in PRESETS
    )
    assert letter.id != ours.id


@pytest.mark.parametrize(
    ("n", "share", "expected"),
    [(50, 0.2, 10), (5, 0.2, 2), (1, 0.2, 1), (50, 1.0, 50), (5, 0.4, 2)],
)
def test_a_share_of_the_seeds_is_at_least_two(n, share, expected):
    assert list(first_seeds(range(n), share)) == list(range(expected))


def test_planned_vic_and_lsd_get_two_fifths_of_the_seeds():
    for learner, expected in (("planning", 4), ("q-learning", 10)):
        made = main_cases(Setup(learner=learner), ["mud-world"], ["vic", "diayn"], range(10))
        counts = {agent: sum(c.agent == agent for c in made) for agent in ("vic", "diayn")}
        assert counts == {"vic": expected, "diayn": 10}
        assert [c.seed for c in made] == sorted(c.seed for c in made)


def test_a_case_is_labelled_and_changes_its_run():
    case = Setup("best").case("four-rooms", "focused-vic-on-two", 3, "strength=10", strength=10.0)
    assert case.labels == (
        "best", "planning", "four-rooms", "focused-vic-on-two", "strength=10", 3,
    )  # fmt: skip
    assert (case.run.objective, case.run.strength, case.run.coverage) == ("focused-vic", 10.0, True)
    assert case.run.targets.startswith("tool_1+position=4")
    assert not Setup().case("mud-world", "vic", 0).run.coverage


def test_setups_come_learner_by_learner():
    assert [(s.preset, s.learner) for s in SETUPS] == [
        ("paper", "planning"), ("best", "planning"),
        ("paper", "q-learning"), ("best", "q-learning"),
    ]  # fmt: skip
