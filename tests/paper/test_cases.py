from __future__ import annotations

import pytest

from paper.agents import SETUPS, Setup, first_seeds, main_cases, memory_cases
from paper.settings import PRESETS


def test_presets_share_the_runs_in_which_they_do_not_differ():
    paper, best = (Setup(preset).case("mud-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id == best.id
    paper, best = (Setup(preset).case("forage-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id != best.id


@pytest.mark.parametrize(
    ("n", "share", "expected"),
    [(50, 0.2, 10), (5, 0.2, 2), (1, 0.2, 1), (50, 1.0, 50), (5, 0.4, 2)],
)
def test_a_share_of_the_seeds_is_at_least_two(n, share, expected):
    assert list(first_seeds(range(n), share)) == list(range(expected))


def test_q_learning_gets_a_share_of_the_seeds():
    for learner, expected in (
        ("planning", (50, 50)),
        ("q-learning", (20, 10)),
        ("literal", (20, 10)),
    ):
        made = main_cases(Setup(learner=learner), ["four-rooms", "mud-world"], ["vic"], range(50))
        counts = tuple(sum(c.world == w for c in made) for w in ("four-rooms", "mud-world"))
        assert counts == expected
        assert [c.seed for c in made] == sorted(c.seed for c in made)


def test_plain_agents_with_memory_are_agents_of_their_own():
    made = memory_cases(Setup(), ["mud-world"], range(10))
    assert {(c.agent, c.seed) for c in made} == {
        (agent, seed) for agent in ("vic-with-memory", "lsd-with-memory") for seed in (0, 1)
    }
    assert all(c.run.learner.sees_start for c in made)
    assert not Setup().case("mud-world", "vic", 0).run.learner.sees_start
    assert memory_cases(Setup(), ["mud-world"], range(5)) == []


def test_a_case_is_labelled_and_changes_its_run():
    case = Setup("best").case("four-rooms", "focused-vic-on-two", 3, "strength=10", strength=10.0)
    assert case.labels == (
        "best", "planning", "four-rooms", "focused-vic-on-two", "strength=10", 3,
    )  # fmt: skip
    assert (case.run.objective, case.run.strength, case.run.coverage) == ("focused-vic", 10.0, True)
    assert case.run.targets.startswith("tool_1+position=4")
    assert not Setup().case("mud-world", "vic", 0).run.coverage


def test_the_columns_of_the_report():
    assert [(s.preset, s.learner) for s in SETUPS] == [
        ("paper", "literal"), ("paper", "q-learning"), ("paper", "planning"), ("best", "planning"),
    ]  # fmt: skip
