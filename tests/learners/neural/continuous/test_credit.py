"""Credit: each action dimension follows the components that it influences most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from skillfocus.learners.actor.credit import STEPS, action_influence, credit_weights
from skillfocus.learners.actor.training import init_training, make_trainer, train_actor
from skillfocus.learners.problem import make_problem
from skillfocus.objectives.kinds import make_kinds
from skillfocus.skills.actor import ActorModel, make_code
from sliders import Sliders


class LongSliders(Sliders):
    """Sliders with noise that stay within their bounds throughout the measurement."""

    action_low, action_high = (-0.01,) * 3, (0.01,) * 3

    def reset(self, key):
        return jnp.zeros(3)

    def step(self, key, state, action):
        return super().step(key, state, action) + 0.01 * jax.random.normal(key, (3,))


DUSDI = sf.dusdi(sf.diayn())
TARGETS = {"a": 2, "b": 2, "c": 2}
TINY = sf.Actor(
    steps=2 * 8 * 12, environments=8, hidden=8, estimator_hidden=8, batch=32, rounds_per_jit=1
)


def problem_of(world, objective=DUSDI):
    return make_problem(world, objective, targets=TARGETS)


def code_of(objective, targets, n_skills=None):
    return make_code(make_kinds(Sliders(), objective, n_skills, targets), 3)


def test_influence_is_measured_by_intervention():
    problem = problem_of(LongSliders())
    model = ActorModel(problem.world, DUSDI, make_code(problem.kinds, 3), problem.step_limit)
    found = action_influence(model, jax.random.key(0))
    # two uniform draws from -0.01 to 0.01 are 0.02 / 3 apart; the scale is 2
    one = STEPS * 0.02 / 3 / 2
    expected = one * np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert found == pytest.approx(expected, rel=0.05)  # the noise is the same both times


INFLUENCE = np.array([[0.3, 0.1, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.2]], np.float32)


def test_weights_by_hand():
    code = code_of(DUSDI, TARGETS)
    # shares of the first dimension: 1 of a and 1/4 of b; of the second: 3/4 of b
    (weights,) = credit_weights(INFLUENCE, code, np.zeros((1, 3)), 2.0)
    assert weights[0].tolist() == pytest.approx([1.0, 1 / 16, 0.0, 0.0])
    assert weights[1].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert weights[2].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_penalty_counts_only_for_dimensions_that_influence_it():
    objective = sf.focused(sf.diayn())
    code = code_of(objective, {"a": 2, "b": 2})
    assert code.kinds == ((0,), (1,))
    watched = np.array([[0, 1, 1], [1, 0, 1]])
    of_a, of_b = credit_weights(INFLUENCE, code, watched, 2.0)
    assert of_a.tolist() == [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    assert of_b.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_what_was_never_seen_to_move_counts_for_all_dimensions():
    code = code_of(sf.focused(sf.diayn()), {"a": 2, "c": 2})
    still = INFLUENCE * [1, 1, 0]
    of_a, of_c = credit_weights(still, code, np.array([[0, 0, 1], [1, 0, 0]]), 2.0)
    assert of_c[:, 1].tolist() == [1.0] * 3
    assert of_a[:, -1].tolist() == [1.0] * 3  # the penalty on c
    assert of_c[:, -1].tolist() == [1.0, 0.0, 0.0]


def test_untargeted_components_count_for_all_dimensions():
    code = code_of(sf.diayn(), None, 4)
    found = credit_weights(INFLUENCE, code, np.zeros((1, 3)), 2.0)
    assert found.tolist() == [[[1.0, 0.0]] * 3]


def test_a_dimension_learns_from_its_own_advantages():
    settings = replace(TINY, credit=1.0, entropy=0.0)
    problem = problem_of(Sliders())
    trainer = make_trainer(settings, problem)
    carry, _ = init_training(trainer, np.random.default_rng(0), 0.0)
    n, inputs = 16, trainer.model.n_inputs
    x = jax.random.normal(jax.random.key(1), (n, inputs))
    u = jax.random.normal(jax.random.key(2), (n, 3))
    advantage = jnp.zeros((n, 3)).at[:, 1].set(1.0)
    critic = jnp.concatenate([x, jnp.zeros((n, 1))], axis=1)
    returns = jnp.zeros((n, trainer.rule.n_heads))
    some = (x, critic, u, jnp.zeros((n, 3)), advantage, returns, jnp.ones(n))
    gradient = jax.grad(lambda nets: trainer._loss(nets, some, jax.random.key(3))[0])(carry.nets)
    of_means = np.abs(gradient["actor"]["b2"][:3])
    assert of_means[1] > 0
    assert of_means[0] == of_means[2] == 0.0


def test_advantages_are_weighted_by_the_kind_of_each_skill():
    problem = problem_of(Sliders(), sf.focused(sf.diayn()))
    trainer = make_trainer(replace(TINY, credit=1.0), problem)
    _, fixed = init_training(trainer, np.random.default_rng(0), 4.0)
    advantage = jax.random.normal(jax.random.key(4), (3, 2, 4))
    found = trainer._policy_advantages(advantage, fixed, jnp.array([0, 2]))
    for n, kind in enumerate((0, 2)):
        expected = np.asarray(advantage[:, n]) @ np.asarray(fixed.credit[kind]).T
        assert np.asarray(found[:, n]) == pytest.approx(expected, abs=1e-5)
    assert not np.array_equal(fixed.credit[0], fixed.credit[2])


def test_training_with_credit_repeats_itself_and_differs():
    problem = problem_of(Sliders(), DUSDI)
    actors = [
        train_actor(settings, problem, np.random.default_rng(0), lambda *_: None).weights["actor"]
        for settings in (
            replace(TINY, credit=1.0),
            replace(TINY, credit=1.0),
            replace(TINY, credit=4.0),
        )
    ]
    assert np.array_equal(actors[0]["w0"], actors[1]["w0"])
    assert not np.array_equal(actors[0]["w0"], actors[2]["w0"])
