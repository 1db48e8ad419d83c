"""Credit: each action dimension follows the components that it influences most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from skillfocus.learners.continuous import make_continuous_problem
from skillfocus.learners.neural.continuous.credit import (
    STEPS,
    action_influence,
    credit_weights,
)
from skillfocus.learners.neural.continuous.train import init_training, make_trainer, train
from skillfocus.objectives.skill_layout import lay_out
from skillfocus.skills.continuous.actor import ActorModel
from sliders import Sliders


class LongSliders(Sliders):
    """Sliders that no action brings to an end within the measurement: it moves them freely."""

    action_low, action_high = (-0.01,) * 3, (0.01,) * 3

    def reset(self, key):
        return jnp.zeros(3)


DUSDI = sf.dusdi(sf.diayn())
TARGETS = {"a": 2, "b": 2, "c": 2}
TINY = sf.Actor(rounds=2, environments=8, hidden=8, judge_hidden=8, batch=32, stretch=1)


def problem_of(world, objective=DUSDI):
    return make_continuous_problem(world, objective, targets=TARGETS)


def test_influence_is_measured_by_intervention():
    problem = problem_of(LongSliders())
    model = ActorModel(problem.world, DUSDI, problem.layout, problem.step_limit)
    found = action_influence(model, jax.random.key(0))
    # two uniform draws from -0.01 to 0.01 are 0.02 / 3 apart; the scale is 2
    one = STEPS * 0.02 / 3 / 2
    expected = one * np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert found == pytest.approx(expected, rel=0.05)
    assert found[0, 2] == found[1, 0] == 0.0  # everything else is drawn alike


INFLUENCE = np.array([[0.3, 0.1, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.2]], np.float32)


def test_weights_by_hand():
    layout = lay_out(Sliders.space, DUSDI, TARGETS)
    # shares of the first dimension: 1 of a and 1/4 of b; of the second: 3/4 of b
    (weights,) = credit_weights(INFLUENCE, layout, np.zeros((1, 3)), 2.0)
    assert weights[0].tolist() == pytest.approx([1.0, 1 / 16, 0.0, 0.0])
    assert weights[1].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert weights[2].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_a_dimension_minds_the_penalty_for_what_it_influences():
    objective = sf.focused(sf.diayn())
    layout = lay_out(Sliders.space, objective, {"a": 2, "b": 2})
    assert layout.kinds == ((0,), (1,))
    watched = np.array([[0, 1, 1], [1, 0, 1]])
    of_a, of_b = credit_weights(INFLUENCE, layout, watched, 2.0)
    assert of_a.tolist() == [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    assert of_b.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_components_of_no_single_variable_are_everybody_s():
    layout = lay_out(Sliders.space, sf.diayn(), None, n_skills=4)
    found = credit_weights(INFLUENCE, layout, np.zeros((1, 3)), 2.0)
    assert found.tolist() == [[[1.0, 0.0]] * 3]


def test_a_dimension_learns_from_its_own_advantages():
    settings = replace(TINY, credit=1.0, entropy=0.0)
    problem = problem_of(Sliders())
    trainer = make_trainer(settings, problem)
    carry, fixed = init_training(trainer, np.random.default_rng(0), 0.0)
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
    kind = jnp.zeros(1, jnp.int32)
    credited = trainer._credited(jnp.ones((1, 1, 4)).at[..., 2].set(5.0), fixed, kind)
    assert credited.shape == (1, 1, 3)
    assert float(credited[0, 0, 2]) == pytest.approx(5.0)  # c's own; DUSDi has no penalty


def test_training_with_credit_repeats_itself_and_differs():
    problem = problem_of(Sliders(), sf.focused(sf.diayn()))
    actors = [
        train(settings, problem, [np.random.default_rng(0)], lambda *_: None)[0].weights["actor"]
        for settings in (replace(TINY, credit=2.0), replace(TINY, credit=2.0), TINY)
    ]
    assert np.array_equal(actors[0]["w0"], actors[1]["w0"])
    assert not np.array_equal(actors[0]["w0"], actors[2]["w0"])
