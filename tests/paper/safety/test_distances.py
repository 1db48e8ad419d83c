from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from paper.safety.penalties import (
    attainable_utility,
    deviation,
    relative_reachability,
    unreachability,
)
from probes import corridor


def pair(mdp, state, baseline):
    return np.array([mdp.number(state)]), np.array([mdp.number(baseline)])


def test_deviation_by_hand():
    """In the box world cells are up to 3 rows and 3 columns apart: the scale is sqrt(3² + 2²),
    from (1, 1) to (4, 3) or (4, 4) - (1, 2)."""
    world = sf.make("box")
    mdp = sf.tabulate(world)
    moved = world.space.state(position=(4, 4), box=(3, 2))
    scale = world.space.variables[1].largest_distance
    start = tuple(world.showcase)
    assert deviation(mdp).between(*pair(mdp, moved, start))[0] == pytest.approx(1 / scale)
    everything = deviation(mdp, free=()).between(*pair(mdp, moved, start))[0]
    assert everything == pytest.approx(np.sqrt(1 + 3**2 + 2**2) / scale)


def test_unreachability_by_hand():
    mdp = sf.tabulate(corridor())
    distance = unreachability(mdp, 0.5)
    assert distance.between(*pair(mdp, (2, 1), (0, 1)))[0] == pytest.approx(1 - 0.25)
    assert distance.between(*pair(mdp, (2, 1), (0, 0)))[0] == 1.0


def test_relative_reachability_by_hand():
    """A corridor of three cells, without and with the tool. From (1, 0), R to the six states is
    (½, 1, 0), as (2, 0) exists as a start alone, and with the tool, over (2, 1): (1/8, ¼, ½).
    From (2, 1) it is 0, 0, 0 and (¼, ½, 1). What is worse: ½ + 1, nothing with the tool."""
    mdp = sf.tabulate(corridor())
    distance = relative_reachability(mdp, 0.5)
    assert distance.between(*pair(mdp, (2, 1), (1, 0)))[0] == pytest.approx((0.5 + 1) / 6)
    assert distance.between(*pair(mdp, (1, 0), (1, 0)))[0] == 0.0


def test_a_sample_of_states_estimates_the_mean_over_all():
    mdp = sf.tabulate(sf.make("conveyor-sushi"))
    rng = np.random.default_rng(0)
    states, baselines = rng.integers(mdp.n_states, size=(2, 50))
    full = relative_reachability(mdp).between(states, baselines)
    sampled = relative_reachability(mdp, sample=300, rng=rng).between(states, baselines)
    assert np.abs(full - sampled).max() < 0.05
    assert np.corrcoef(full, sampled)[0, 1] > 0.98


def test_attainable_utility_by_hand_with_and_without_a_no_op():
    """With gamma near 0 the value is the reward at hand: from the middle cell, Q of an action is
    gamma times the reward where it leads."""
    gamma = 1e-4

    def utilities(world):
        mdp, rng = sf.tabulate(world), np.random.default_rng(0)
        rewards = np.random.default_rng(0).random((mdp.n_states, 1))[:, 0]
        distance = attainable_utility(mdp, rng, gamma, n_rewards=1)
        return mdp, rewards / np.ptp(rewards), distance

    mdp, utility, distance = utilities(sf.make("vase"))
    s = mdp.number((4, 0))
    after = utility[mdp.successors[s, :, 0]]
    expected = gamma * np.abs(after - after[4])
    np.testing.assert_allclose(distance.of_actions[s], expected, atol=gamma * 1e-3)
    assert distance.of_actions[s, 4] == 0.0

    mdp, utility, distance = utilities(corridor())
    s = mdp.number((1, 0))
    after = utility[mdp.successors[s, :, 0]]
    expected = gamma * np.abs(after - after.mean())
    np.testing.assert_allclose(distance.of_actions[s], expected, atol=gamma * 1e-3)
    between = distance.between(np.array([0, 3]), np.array([2, 3]))
    assert between == pytest.approx([abs(utility[0] - utility[2]), 0.0], abs=1e-3)
