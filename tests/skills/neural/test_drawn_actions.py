"""Skills whose actions are drawn, because costs that are nearly tied would lead them in circles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax")

import jax

from neural_skills import neural_skills, small_room
from skillfocus.skills.network import NeuralPolicy
from skillfocus.tasks.option_learning import options_of
from skillfocus.worlds.jax.world import JaxWorld


def with_costs(costs: Sequence[float], temperature: float):
    """Skills that cost the same everywhere and never stop."""
    skills = neural_skills(small_room())
    policies = skills.policies
    assert isinstance(policies, NeuralPolicy)
    model, weights = policies.model, dict(policies.weights)
    network = {name: 0 * array for name, array in weights["q_params"].items()}
    network["b2"] = np.tile(np.array(costs, np.float32), model.n_outputs // len(costs))
    weights["q_params"], weights["temperature"] = network, np.float32(temperature)
    weights["groups"] = [{"table": 0 * part["table"] - 100.0} for part in weights["groups"]]
    for part in weights["groups"]:
        part["table"][:, :, -1] = 100.0  # the best, which is never reached in what follows
    return replace(skills, policies=NeuralPolicy(model, weights, tuple(policies.n_modes), None))


def chosen(skills, draws):
    states = np.zeros((len(draws), 3), int)
    skill, mode = np.zeros(len(draws), int), np.zeros(len(draws), int)
    drawn = np.array(draws)[:, None]
    return skills.policies.act(skill, mode, states, states, draws=drawn).tolist()


def test_probabilities_fall_off_with_costs():
    # exp(-C / 0.1) of 0, 0.1 ln 2, 0.1 ln 4 and 1: shares 4/7, 2/7, 1/7 and next to nothing
    skills = with_costs([0.0, 0.1 * np.log(2), 0.1 * np.log(4), 1.0], 0.1)
    assert chosen(skills, [0.0, 0.56, 0.58, 0.85, 0.87, 0.9999]) == [0, 0, 1, 1, 2, 2]
    many = list(np.linspace(0.0, 0.9999, 70))  # by JAX, and not by NumPy
    found = chosen(skills, many)
    assert [found.count(action) for action in range(4)] == [40, 20, 10, 0]


def test_without_temperature_the_least_cost_decides():
    skills = with_costs([0.2, 0.1, 0.1001, 1.0], 0.0)
    assert chosen(skills, [0.0, 0.5, 0.99]) == [1, 1, 1]


def test_a_rollout_draws_from_its_own_generator():
    skills = with_costs([0.0, 0.0, 0.0, 0.0], 0.1)
    start = np.array([skills.world.state(position=(1, 1))] * 30)
    z = np.zeros(30, int)
    one, two = (skills.run(z, start, np.random.default_rng(7)) for _ in "12")
    assert np.array_equal(one.values, two.values)
    assert {0, 1, 2, 3} <= set(one.actions.ravel().tolist())
    assert (
        max(len(set(actions[:8].tolist())) for actions in one.actions) > 2
    )  # not one draw for all
    others = [skills.run(z, start, np.random.default_rng(seed)) for seed in range(9)]
    assert len({tuple(other.actions[0].tolist()) for other in others}) > 1


def test_without_a_draw_and_in_options_it_is_the_same_distribution():
    skills = with_costs([0.0, 0.1 * np.log(3), 5.0, 5.0], 0.1)
    start = skills.world.state(position=(1, 1))
    assert skills.action(0, start, start) == skills.world.actions[0]  # the likeliest
    assert isinstance(skills.world, JaxWorld)
    options = options_of(skills.world, skills)
    assert options.draws_actions
    values = jax.numpy.zeros((4000, 3), int)
    drawn = np.asarray(options.actions(jax.random.key(0), values, values))[:, 0]
    assert (drawn == 0).mean() == pytest.approx(0.75, abs=0.03)
    assert (drawn == 1).mean() == pytest.approx(0.25, abs=0.03)
