from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld
from skill_sets import walkers
from skillfocus.envs import SkillEnv
from skillfocus.tasks.task import as_task, parse_values

QUICK = sf.SMDPQLearning(episodes=50, evaluations=2)


@pytest.fixture(scope="module")
def skills():
    return walkers()


def test_the_same_task_in_every_form(skills, tmp_path, monkeypatch):
    """Walkers live in a corridor of three cells with one tool, at its end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(
        "def goal(state): return state['tool_1'] == 1\nvalues = {'tool_1': 1}\n"
    )
    forms = ["tool_1=1", " tool_1 = 1 ", {"tool_1": 1}, lambda s: s["tool_1"] == 1, "my.py:goal",
             "my.py:values"]  # fmt: skip
    made = [as_task(form, skills.mdp, skills.world) for form in forms]
    for goal in made:
        assert goal.task.true.tolist() == (skills.mdp.values[:, 1] == 1).tolist()
        assert (goal.task.start, goal.reward) == (0, "true")
        assert goal.task.max_episode_steps == 8 * skills.world.step_limit
    solutions = [sf.solve(skills, form, seed=0, settings=QUICK) for form in forms]
    by_hand = sf.make_task(skills.mdp, "t", (0, 0), made[0].task.max_episode_steps, forms[3])
    expected = sf.solve(skills.mdp, by_hand, skills, seed=0, settings=QUICK)
    for solution in solutions:
        assert (solution.q == expected.q).all()
        assert (solution.steps == expected.steps).all()


def test_names_are_the_world_s_own_task(skills):
    for name, reward in (("true", "true"), ("proxy", "proxy"), ("tools", "true")):
        goal = as_task(name, skills.mdp, skills.world)
        own = sf.task_of(skills.world, skills.mdp)
        assert goal.reward == reward
        assert (goal.task.name, goal.task.start) == (own.name, own.start)
        assert goal.task.max_episode_steps == own.max_episode_steps
        assert np.array_equal(goal.task.true, own.true)
    moved = as_task("true", skills.mdp, skills.world, start="tool_1=1", max_episode_steps=9).task
    assert moved.start == skills.mdp.number((0, 1))
    assert moved.max_episode_steps == 9


def test_a_task_starts_where_it_is_not_accomplished():
    world = RandomWorld(3, sizes=(4, 3))
    mdp = sf.tabulate(world)
    first = world.space.labels(mdp.state(0))["v0"]
    goal = as_task({"v0": first}, mdp, world)
    assert not goal.task.true[goal.task.start]


def test_values_are_read_as_they_are_shown(four_rooms):
    space = four_rooms.space
    position = space.variables[0].values[5]
    assert parse_values(space, f"position={position}") == {"position": position}
    squeezed = str(position).replace(" ", "")
    assert parse_values(space, f"tool_1=1,position={squeezed},tool_2=0") == {
        "tool_1": 1, "position": position, "tool_2": 0,
    }  # fmt: skip
    with pytest.raises(sf.UserError, match="cannot read 'tool_1' in 'tool_1'; write NAME=VALUE"):
        parse_values(space, "tool_1")
    with pytest.raises(sf.UserError, match="unknown value of tool_1 '2'"):
        parse_values(space, "tool_1=2")


def test_environments_take_the_same_forms(skills):
    for form in ("tool_1=1", {"tool_1": 1}, lambda s: s["tool_1"] == 1):
        env = SkillEnv(skills, form, primitives=True)
        env.reset(seed=0)
        *_, terminated, _, info = env.step(0)
        assert (terminated, info["success"]) == (True, True)


def test_code_of_the_user_that_fails_is_one_sentence(skills, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text("def goal(state):\n    return state['tool']\nother = 3\n")
    with pytest.raises(
        sf.UserError, match=r"my.py:goal does not work \(line 2\): KeyError: 'tool'"
    ):
        sf.solve(skills, "my.py:goal", seed=0)
    with pytest.raises(sf.UserError, match="does not work: TypeError"):
        sf.solve(skills, "my.py:other", seed=0)
    with pytest.raises(sf.UserError, match=r"unknown name in my.py 'gaol': did you mean 'goal'"):
        sf.solve(skills, "my.py:gaol", seed=0)
