"""Agents over continuous skills: what they choose, and a task that they learn."""

from __future__ import annotations

import math

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from neural_skills import skills_of
from skillfocus.errors import UserError
from skillfocus.learners.problem import make_problem
from skillfocus.objectives.kinds import make_kinds
from skillfocus.skills.actor import ActorModel, ActorPolicy, make_code
from skillfocus.skills.network import init_network
from skillfocus.tasks.continuous import LOG_SIGMA, SkillAgent, SkillChoice, learn_skill_task
from skillfocus.tasks.task import jax_tasks_of
from skillfocus.worlds.jax.continuous_tasks import ContinuousTask, TaskStep
from sliders import Sliders

WORLD = Sliders()


def choice(targets, objective=None):
    kinds = make_kinds(WORLD, objective or sf.focused(sf.diayn()), None, targets)
    return SkillChoice(make_code(kinds, 3))


def test_probabilities_of_choices_by_hand():
    mine = choice({"a": 2, "c": sf.Sphere(2)})
    outputs = jnp.array([[math.log(3.0), 0.0, math.log(4.0), 0.0, 0.5, -0.5]])
    # kind a with 3/4, its first value with 4/5; directions do not count
    sampled = jnp.array([[1.0, 0.0, 9.0, 9.0]])
    first = mine.log_probability(outputs, jnp.array([0]), sampled)
    assert float(first[0]) == pytest.approx(math.log(3 / 4 * 4 / 5))
    # kind c with 1/4, then a normal density at its mean, in two dimensions
    sampled = jnp.array([[1.0, 0.0, 0.5, -0.5]])
    second = mine.log_probability(outputs, jnp.array([1]), sampled)
    density = -2 * LOG_SIGMA - math.log(2 * math.pi)
    assert float(second[0]) == pytest.approx(math.log(1 / 4) + density, rel=1e-5)
    # 3/4 log 4/3 + 1/4 log 4, and with probability 3/4 that of a's values
    values = 4 / 5 * math.log(5 / 4) + 1 / 5 * math.log(5)
    kinds = 3 / 4 * math.log(4 / 3) + 1 / 4 * math.log(4)
    assert float(mine.entropy(outputs)[0]) == pytest.approx(kinds + 3 / 4 * values, rel=1e-5)


def test_choices_are_skills():
    mine = choice({"a": 2, "c": sf.Sphere(2)})
    outputs = jnp.tile(jnp.array([[0.0, 0.0, 0.0, 2.0, 0.3, 0.4]]), (500, 1))
    sampled = mine.sample(jax.random.key(0), outputs)
    assert set(np.asarray(sampled.kind)) == {0, 1}
    of_a = np.asarray(sampled.kind) == 0
    z = np.asarray(sampled.z)
    assert (z[of_a, :2].sum(axis=1) == 1).all()
    assert not z[of_a, 2:].any()
    assert not z[~of_a, :2].any()
    assert np.linalg.norm(z[~of_a, 2:], axis=1) == pytest.approx(1.0, abs=1e-4)
    assert z[of_a, 1].mean() == pytest.approx(1 / (1 + math.exp(-2)), abs=0.06)
    likeliest = mine.sample(jax.random.key(1), outputs[:1].at[0, 1].set(1.0), True)
    assert np.asarray(likeliest.z)[0] == pytest.approx([0, 0, 0.6, 0.8], abs=1e-5)


class Reach(ContinuousTask):
    """Bring slider a to the right; the true reward wants c on the left besides."""

    name, world, episode_length, skill_steps, observation_size = "reach", Sliders, 36, 12, 1
    best_return = 3.0

    def reset(self, key, observation):
        return jnp.int32(0)

    def step(self, key, state, before, after):
        reward = (after[0] > 0.5).astype(jnp.float32)
        return TaskStep(state + 1, reward, reward * (after[2] < 0))

    def observation(self, state):
        return jnp.zeros(1)


def pushing_skills():
    """Skills that push a to an end: the second of them to the right."""
    objective = sf.dusdi(sf.diayn())
    problem = make_problem(WORLD, objective, targets={"a": 2, "c": 2})
    model = ActorModel(WORLD, objective, make_code(problem.kinds, 3), 12)
    actor = init_network([model.n_inputs, 4, 4, model.n_outputs], np.random.default_rng(0))
    actor = {name: 0 * array for name, array in actor.items()}
    actor |= {"g0": actor["g0"] + 1, "g1": actor["g1"] + 1}
    first = 3 + 3  # observation and mask come before z
    actor["w0"][first, 0] = actor["w0"][first + 1, 1] = 5.0
    actor["w1"][0, 0] = actor["w1"][1, 1] = 1.0
    actor["w2"][0, 0], actor["w2"][1, 0] = -9.0, 9.0
    weights = {
        "actor": actor, "shift": np.zeros(3, np.float32), "scale": np.ones(3, np.float32),
        "estimators": {},
    }  # fmt: skip
    return skills_of(problem, ActorPolicy(model, weights, problem.kinds.skills))


def test_an_agent_finds_the_skill_that_pays():
    skills = pushing_skills()
    done = skills[{"a": 1, "c": 0}].run(0, 20, np.random.default_rng(0))
    assert done.values[:, -1, 0] == pytest.approx(1.0)
    settings = SkillAgent(rounds=20, environments=32, hidden=16, batch=48, rounds_per_jit=10)
    result, again = learn_skill_task([skills, skills], Reach(), [0, 0], settings, episodes=50)
    assert result.returns[0] < 2.0
    # at most 1 per skill, less the steps to the place: from anywhere it takes 0 to 8 of 12
    assert result.last_returns.mean() > 2.6
    assert result.last_true_returns.mean() < 0.8 * result.last_returns.mean()
    assert result.decisions == 20 * 32 * 3
    assert np.array_equal(again.last_returns, result.last_returns)


def test_tasks_and_skills_must_fit():
    skills = pushing_skills()
    assert list(jax_tasks_of(sf.make("gunner"))) == ["gunner-unlimited", "gunner-limited"]
    with pytest.raises(UserError, match="is a task of Gunner-v0"):
        learn_skill_task([skills], jax_tasks_of(sf.make("gunner"))["gunner-unlimited"], [0])
    with pytest.raises(UserError, match="give one seed per set"):
        learn_skill_task([skills], Reach(), [])
