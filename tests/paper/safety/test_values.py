from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillfocus as sf
from paper.safety.penalties import optimal_values, reachability
from paths import ROOT
from probes import RandomWorld, corridor


def plain_reachability(mdp, gamma, target):
    """Value iteration in plain Python, until nothing changes."""
    values = np.zeros(mdp.n_states)
    while True:
        new = gamma * (mdp.probabilities * values[mdp.successors]).sum(axis=2).max(axis=1)
        new[target] = 1.0
        if np.abs(new - values).max() < 1e-10:
            return new
        values = new


def test_reachability_by_hand():
    """A corridor of three cells, states 2 · cell + tool: the tool in the third cell is picked up
    for good. From the first cell without the tool, the third with it is two steps away."""
    mdp = sf.tabulate(corridor())
    reach = reachability(mdp, 0.5)
    number = {(cell, tool): mdp.number((cell, tool)) for cell in range(3) for tool in (0, 1)}
    assert reach[number[0, 0], number[2, 1]] == pytest.approx(0.25)
    assert reach[number[0, 0], number[0, 1]] == pytest.approx(0.5**4), "there and back"
    assert reach[number[0, 1], number[0, 0]] == 0.0, "never again without the tool"
    assert (np.diag(reach) == 1.0).all()
    assert reach.dtype == np.float32


def test_reachability_of_a_move_that_slips_by_hand():
    """One move to the right succeeds with 0.7, and otherwise (up, down, or left against the wall)
    the agent stays: R = gamma (0.7 + 0.3 R), so R = 0.35 / 0.85 with gamma = 0.5."""
    mdp = sf.tabulate(corridor(slip=0.3))
    targets = np.array([mdp.number((1, 0))])
    reach = reachability(mdp, 0.5, targets)
    assert reach.shape == (6, 1)
    assert reach[mdp.number((0, 0)), 0] == pytest.approx(0.35 / 0.85, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.3, 0.97))
def test_reachability_equals_plain_value_iteration(seed, gamma):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2), n_actions=2, one_way=True))
    reach = reachability(mdp, gamma)
    for target in range(mdp.n_states):
        expected = plain_reachability(mdp, gamma, target)
        np.testing.assert_allclose(reach[:, target], expected, atol=1e-4)
    assert (reach >= 0).all()
    assert (reach <= 1).all()


def test_values_by_hand():
    """Reward 1 in the third cell alone: V = gamma^distance there and on the way."""
    mdp = sf.tabulate(corridor())
    rewards = (mdp.values[:, :1] == 2).astype(float)
    values = optimal_values(mdp, rewards, 0.5)[:, 0]
    expected = 0.5 ** (2 - mdp.values[:, 0])
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_values_do_not_depend_on_the_other_rewards():
    mdp = sf.tabulate(RandomWorld(3))
    rewards = np.random.default_rng(0).random((mdp.n_states, 300))
    together = optimal_values(mdp, rewards, 0.9)
    alone = optimal_values(mdp, rewards[:, 280:281], 0.9)
    np.testing.assert_allclose(together[:, 280:281], alone, atol=1e-4)


def test_the_docs_state_the_memory_of_all_pairs():
    sizes = [
        sf.make(name).space.n_combinations for name in ("four-rooms", "forage-world", "mud-world")
    ]
    megabytes = [round(4 * n**2 / 1e6) for n in sizes]
    assert megabytes == [11, 27, 108]
    text = (ROOT / "docs" / "safety.md").read_text()
    assert "11, 27 and 108 MB" in text
    mdp = sf.tabulate(sf.make("vase"))
    assert reachability(mdp).nbytes == 4 * mdp.n_states**2
