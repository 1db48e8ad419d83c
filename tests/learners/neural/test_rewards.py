"""Rewards of networks against those of tabular learners, on the same estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.errors import UserError
from skillfocus.learners.planning.problem import tabular_problem
from skillfocus.learners.planning.rewards import group_reward
from skillfocus.learners.problem import make_problem
from skillfocus.mdp import tabulate

pytest.importorskip("jax")

from skillfocus.learners.cost_network.rewards import (
    LinearReward,
    NetworkReward,
    TableReward,
    make_rewards,
)
from skillfocus.learners.cost_network.training import make_model
from skillfocus.skills.network import LOWEST, Group, SkillModel

OBJECTIVES = [
    sf.focused(sf.vic()),
    sf.focused(sf.diayn()),
    sf.focused(sf.lsd()),
    sf.focused(sf.reach()),
    sf.dusdi(sf.vic()),
    sf.dusdi(sf.diayn()),
    sf.vic(),
    sf.diayn(),
    sf.lsd(),
    sf.scattered(sf.focused(sf.vic())),
    sf.scattered(sf.focused(sf.lsd())),
]


def named(objective):
    return objective.name


@pytest.mark.parametrize("objective", OBJECTIVES, ids=named)
def test_tables_of_rewards_are_those_of_tabular_learners(objective):
    world = RandomWorld(3, sizes=(4, 3, 2))
    problem = make_problem(world, objective, n_skills=6)
    tabular = tabular_problem(problem)
    model = make_model(problem)
    params = tabular.initial_params(np.random.default_rng(0))
    rewards = make_rewards(model, 0.5, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    first, last = rng.integers(tabular.mdp.n_states, size=(2, 50))
    for place, (group, reward) in enumerate(zip(model.groups, rewards, strict=True)):
        assert isinstance(reward, TableReward)
        theirs = tabular.groups[place]
        assert group.variables == theirs.variables
        assert reward.params.shape == params[place].shape
        reward.params = params[place]
        found = model.reward(
            group, reward.predict(), tabular.mdp.values[first], tabular.mdp.values[last]
        )
        for k in range(group.n_components):
            table = group_reward(tabular, params, place, k, np.arange(theirs.starts.size))
            expected = table[theirs.values.of_state[last], theirs.starts.of_state[first]]
            np.testing.assert_allclose(found[:, k], expected, rtol=1e-6)


def hand_set(strength: float = 3.0) -> tuple[SkillModel, dict]:
    """Two skills on the corridor's tool; only the second may own "picked up"."""
    problem = make_problem(
        corridor(), sf.focused(sf.vic(), strength=strength), targets={"tool_1": 2}
    )
    model = make_model(problem)
    table = np.full((2, 2, 2), math.log(2 * 0.9), np.float32)
    table[1, 0, 0] = table[0, 0, 1] = math.log(2 * 0.1)
    return model, {
        "strength": np.float32(strength),
        "unit": np.ones(2, np.float32),
        "groups": [{"table": table}],
    }


def test_losses_worked_out_by_hand():
    model, weights = hand_set()
    starts = np.array([[0, 0], [0, 0], [0, 0], [2, 0]])
    states = np.array([[0, 0], [1, 0], [0, 1], [0, 1]])
    # log 9 where the other skill's value is kept; 3 times half or all of the corridor's length
    log_nine = math.log(9)
    expected = [[0, log_nine], [1.5, 1.5 + log_nine], [log_nine, 0], [3 + log_nine, 3]]
    np.testing.assert_allclose(model.losses(weights, starts, states), expected, rtol=1e-6)


def test_what_only_moves_on_is_paid_for_when_it_changes():
    problem = make_problem(corridor(), sf.focused(sf.vic(), strength=3.0), targets={"position": 2})
    model = make_model(problem)
    assert model.reversible.tolist() == [True, False]
    weights = {"strength": np.float32(3.0)}
    now, then = np.array([[1, 0], [2, 1]]), np.array([[2, 1], [1, 1]])
    paid = model.penalties(weights, now, then, ~model.reversible)
    assert paid.tolist() == [[3.0, 3.0], [0.0, 0.0]]


def test_a_discriminator_network_is_a_distribution_with_a_floor():
    rng = np.random.default_rng(0)
    world = RandomWorld(0, sizes=(5, 4, 3))
    model = make_model(make_problem(world, sf.vic(), n_skills=3))
    group = model.groups[0]
    reward = NetworkReward(model, group, rng)
    states = tabulate(world).values
    log_q = model.log_q(group, reward.network, states, states)
    np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1.0, rtol=1e-5)
    steep = {name: 1e3 * array for name, array in reward.network.items()}
    log_q = model.log_q(group, steep, states, states)
    assert log_q.min() == pytest.approx(math.log(LOWEST))
    parts = {**reward.predict(), "network": reward.network}
    reached = model.bound(group, parts) - model.reward(group, parts, states, states)
    assert (reached >= 0).all()
    assert model.bound(group, parts).tolist() == pytest.approx([math.log(3)] * 3)


def test_a_linear_reward_is_the_table_of_it():
    world = RandomWorld(0, sizes=(5, 4))
    model = make_model(make_problem(world, sf.lsd(), n_skills=3))
    (table,) = make_rewards(model, 0.5, np.random.default_rng(0))
    from skillfocus.learners.planning.estimators import LinearMap

    linear = LinearReward(model, model.groups[0], LinearMap(), np.random.default_rng(0))
    linear.params = table.params
    states = tabulate(world).values
    starts = np.roll(states, 3, axis=0)
    one, two = (
        model.reward(model.groups[0], reward.predict(), starts, states)
        for reward in (table, linear)
    )
    np.testing.assert_allclose(one, two, atol=1e-5)
    for reward in (table, linear):
        for k, i in ((0, 0), (2, 1)):
            reward.update(k, starts[i : i + 1], states[i : i + 1], 0.1)
    np.testing.assert_allclose(table.params, linear.params, atol=1e-6)
    bound = model.bound(model.groups[0], linear.predict())
    assert (two <= bound + 1e-5).all()


def test_estimates_that_only_tables_supply_are_refused_in_large_groups(monkeypatch):
    reach = sf.Objective("reach", sf.Reward("reach", lambda k, start, value: 1.0 * (k == value)))
    model = make_model(make_problem(RandomWorld(0), reach, n_skills=2))
    monkeypatch.setattr(Group, "is_table", False)
    with pytest.raises(UserError, match=r"reach needs a table of all values of .*too many"):
        make_rewards(model, 0.5, np.random.default_rng(0))
