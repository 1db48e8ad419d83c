"""Tasks of worlds without a table, by name, as `solve_all` and the command learn them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import neural_skills, skills_of, small_room
from skillfocus.errors import UserError
from skillfocus.learners.problem import make_problem
from skillfocus.skills.actor import ActorModel, ActorPolicy, make_code
from skillfocus.skills.network import init_network
from skillfocus.tasks import networks as named
from skillfocus.tasks.continuous import SkillAgent, learn_skill_task
from skillfocus.tasks.networks import solve
from skillfocus.tasks.option_learning import OptionLearning
from skillfocus.tasks.solving import solve_all
from skillfocus.tasks.task import household_task, jax_tasks_of
from skillfocus.worlds.jax.two_rooms import TwoRooms
from skillfocus.worlds.jax.world import JaxWorld

SMALL = OptionLearning(
    steps=2_000, environments=16, hidden=16, batch=32, memory=1000, rewarded=200, evaluations=2,
    evaluation_episodes=5, final_episodes=5,
)  # fmt: skip


@pytest.fixture
def in_rooms():
    """Skills of an actor that was never trained."""
    world, objective = TwoRooms(), sf.focused(sf.diayn())
    problem = make_problem(world, objective, targets={"agent": 2}, step_limit=5)
    model = ActorModel(world, objective, make_code(problem.kinds, len(world.space)), 5)
    sizes, n = [model.n_inputs, 4, 4, model.n_outputs], world.observation_size
    weights = {
        "actor": init_network(sizes, np.random.default_rng(0)), "estimators": {},
        "shift": np.zeros(n, np.float32), "scale": np.ones(n, np.float32),
    }  # fmt: skip
    info = {"objective": objective.to_dict(), "seed": 5}
    return skills_of(problem, ActorPolicy(model, weights, problem.kinds.skills), info)


def test_worlds_know_their_tasks():
    assert list(jax_tasks_of(sf.make("installing-a-printer"))) == ["install-printer"]
    assert list(jax_tasks_of(sf.make("gunner"))) == ["gunner-unlimited", "gunner-limited"]
    assert "thaw-fish" in jax_tasks_of(sf.make("thawing-frozen-food"))
    assert jax_tasks_of(sf.make("tool-rooms")) == {}


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
def test_a_continuous_task_is_learned_over_skills(in_rooms):
    (record,) = solve_all(in_rooms, steps=20_000, seed=3)
    (task,) = jax_tasks_of(in_rooms.world).values()
    (expected,) = learn_skill_task([in_rooms], task, [3], SkillAgent(rounds=1))
    assert record["task"] == "carry-box"
    assert record["learned_steps"] == 64 * 300  # 64 episodes of 300 steps
    assert record["curve"]["proxy_return"] == expected.returns.tolist()
    assert record["proxy_return"] == expected.last_returns.mean()
    assert (record["objective"], record["seed"], record["learning_seed"]) == ("focused-diayn", 5, 3)
    assert json.dumps(record)


@pytest.mark.slow
@pytest.mark.usefixtures("unoptimized")
def test_a_household_s_task_is_learned_with_skills_and_without(monkeypatch):
    monkeypatch.setattr(named, "OptionLearning", lambda: SMALL)
    world = sf.make("installing-a-printer")
    assert isinstance(world, JaxWorld)
    skills = neural_skills(world, targets={"printer_on": 2})
    with_skills, alone = solve_all(skills, seed=1)
    expected = solve(world, household_task("install-printer"), skills, SMALL, seed=1)
    assert with_skills["true_return"] == expected.final.true_success.estimate
    assert with_skills["curve"]["learned_steps"] == list(expected.curve)
    assert alone["objective"] == "primitives"
    assert with_skills["learned_steps"] == alone["learned_steps"] == max(expected.curve)


def test_mistakes_are_named(in_rooms):
    with pytest.raises(UserError, match="episodes belongs to tasks of worlds with a table"):
        solve_all(in_rooms, episodes=10)
    with pytest.raises(UserError, match="unknown task 'carry-bocks': did you mean 'carry-box'"):
        solve_all(in_rooms, task="carry-bocks")
    with pytest.raises(UserError, match="a task of your own needs a table"):
        solve_all(in_rooms, task=lambda state: True)
    with pytest.raises(UserError, match="has no task, and a task of your own needs a table"):
        solve_all(neural_skills(small_room()))


def test_one_of_several_tasks_must_be_named():
    skills: Any = SimpleNamespace(world=sf.make("gunner"))
    with pytest.raises(UserError, match="several tasks: name one of gunner-unlimited, gunner-lim"):
        named.named_learner(skills, "true", None, False)


def test_tables_count_episodes(focused_vic):
    with pytest.raises(UserError, match="give episodes, not steps"):
        solve_all(focused_vic, steps=10)
