from __future__ import annotations

import json

import pytest

from skillfocus.errors import UserError
from skillfocus.tasks.solving import solve, solve_all
from skillfocus.tasks.task import task_of


@pytest.fixture(scope="module")
def records(focused_vic):
    return solve_all([focused_vic], episodes=500, task="proxy", seed=3, seeds=2)


def test_every_agent_and_seed_has_a_record(records):
    about = [(r["objective"], r["seed"], r["learning_seed"]) for r in records]
    assert about == [
        ("focused-vic", 0, 3), ("focused-vic", 0, 4), ("primitives", None, 3), ("primitives", None, 4),
    ]  # fmt: skip
    assert json.dumps(records)


def test_records_are_those_of_solve(records, focused_vic):
    from skillfocus.tasks.solving import SMDPQLearning

    task = task_of(focused_vic.world, focused_vic.mdp)
    settings = SMDPQLearning(episodes=500)
    for record, skills in ((records[0], focused_vic), (records[2], None)):
        expected = solve(focused_vic.mdp, task, skills, seed=3, reward="proxy", settings=settings)
        assert record["curve"]["steps"] == expected.steps.tolist()
        assert record["steps"] == expected.steps[-1]
        assert record["success"] == record["proxy_return"] == expected.proxy_return[-1]
        assert (record["task"], record["reward"]) == ("tools", "proxy")


def test_one_agent_without_skills_per_world(focused_vic):
    records = solve_all([focused_vic, focused_vic], episodes=100)
    assert [record["objective"] for record in records] == ["focused-vic"] * 2 + ["primitives"]


def test_mistakes_are_named(focused_vic):
    with pytest.raises(UserError, match="seeds is 0"):
        solve_all(focused_vic, seeds=0)
    with pytest.raises(UserError, match="seeds is 1000000000; it must be 1 to 10,000"):
        solve_all(focused_vic, seeds=10**9)
    with pytest.raises(UserError, match="episodes must be up to 1,000,000,000"):
        solve_all(focused_vic, episodes=10**12)
    with pytest.raises(UserError, match="name at least one file"):
        solve_all([])
