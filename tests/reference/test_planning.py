from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.reference.planning import focused_vic, solve


def test_values_by_hand():
    """The corridor's second cell: a reward of 1 for the tool, a step away, is worth gamma there; a
    loss that is a step away is worth more than it costs."""
    mdp = sf.tabulate(corridor())
    s, tool = mdp.number((1, 0)), mdp.number((2, 1))
    reward = np.zeros(mdp.n_states)
    reward[tool] = 1.0
    values, actions = solve(mdp, reward, 0.9)
    assert values[s] == pytest.approx(0.9)
    assert values[mdp.number((0, 0))] == pytest.approx(0.81)
    assert mdp.actions[actions[s]] == "right"
    assert actions[tool] == mdp.n_actions
    reward = np.full(mdp.n_states, -3.0)
    reward[tool] = -1.0
    values, _ = solve(mdp, reward, 0.9)
    assert values[s] == pytest.approx(-1.0 / 0.9)


def test_a_penalty_on_the_way_counts_against_the_move():
    mdp = sf.tabulate(corridor())
    s, tool = mdp.number((1, 0)), mdp.number((2, 1))
    reward = np.zeros(mdp.n_states)
    reward[tool] = 1.0
    costs = np.where(mdp.successors == tool, 2.0, 0.0)
    values, actions = solve(mdp, reward, 0.9, costs=costs)
    assert values[s] == 0.0
    assert actions[s] == mdp.n_actions


def test_a_lean_of_the_discriminator_becomes_a_focused_skill(rng):
    """Where the second of two skills is a little likelier to have taken the tool, it goes and takes
    it and comes home, from every start; the first ends at once; and that is what is then told."""
    mdp = sf.tabulate(corridor())
    d = {1: np.array([[[0.5, 0.5], [0.4, 0.5]], [[0.5, 0.5], [0.6, 0.5]]])}
    pi, _ = focused_vic(mdp, [1, 1], 6, rng, rollouts=50, max_steps=6, d=d)
    for cell in range(2):
        for z in range(2):
            s_0 = s = mdp.number((cell, 0))
            steps = 0
            while pi[z, s_0, s] != mdp.n_actions and steps < 6:
                s, steps = int(mdp.successors[s, pi[z, s_0, s], 0]), steps + 1
            assert mdp.state(s) == (cell, z)
            assert steps == 2 * z * (2 - cell)
    assert d[1][1, 1, 0] > 0.95
    assert d[1][0, 0, 0] > 0.95
