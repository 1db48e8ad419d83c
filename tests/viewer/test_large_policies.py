"""Large policies: the states that a page keeps."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld
from skillfocus.viewer.payload import LEAST_ODDS, known_cells


def odds_of(mdp):
    return mdp.probabilities / mdp.probabilities.max(axis=2, keepdims=True)


def known_in(mdp, policy, contexts, n_modes=1):
    return known_cells(mdp.successors, mdp.again, odds_of(mdp), policy, contexts, n_modes)


def reached(mdp, policy, starts, column):
    """The states with a path of enough odds, best first, in plain Python."""
    best, odds = {}, odds_of(mdp)
    queue = [(-1.0, int(s)) for s in starts]
    while queue:
        negative, s = heapq.heappop(queue)
        if s in best or -negative < LEAST_ODDS:
            continue
        best[s] = -negative
        a = policy[s, column]
        if a < mdp.n_actions:
            for m, share in enumerate(odds[s, a]):
                for targets in (mdp.successors, mdp.again):
                    heapq.heappush(queue, (negative * share, int(targets[s, a, m])))
    return sorted(best)


@given(st.integers(0, 2**32 - 1))
def test_the_states_kept_are_those_with_a_likely_path(seed):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=3))
    rng = np.random.default_rng(seed)
    contexts = rng.integers(3, size=mdp.n_states)
    contexts = np.unique(contexts, return_inverse=True)[1].astype(np.int32)
    width = (contexts.max() + 1) * 2
    policy = rng.integers(mdp.n_actions + 1, size=(mdp.n_states, width)).astype(np.uint8)
    known = known_in(mdp, policy, contexts, 2)
    for column in range(width):
        starts = np.flatnonzero(contexts == column // 2)
        assert np.flatnonzero(known[column]).tolist() == reached(mdp, policy, starts, column)


class Throws(sf.World):
    """So many throws of a die whose first side is shown with `first`, the others equally often."""

    id = "Throws-v0"
    actions = ("throw",)

    def __init__(self, n, sides, first):
        self.n, self.shares = n, (first, *[(1 - first) / (sides - 1)] * (sides - 1))
        counts = tuple(range(n + 1))
        self.space = sf.Space(
            (
                sf.Variable("turn", counts),
                sf.Variable("others", counts),
                sf.Variable("side", (0, 1)),
            )
        )

    def states(self):
        return [(0, 0, 0)]

    def transition(self, state, action):
        turn, others, _ = state
        if turn == self.n:
            return [sf.Outcome(1.0, tuple(state))]
        return [
            sf.Outcome(share, (turn + 1, others + (side > 0), side % 2))
            for side, share in enumerate(self.shares)
        ]


def kept(world):
    """The states that the only policy of a world keeps for its first state."""
    mdp = sf.tabulate(world)
    policy = np.zeros((mdp.n_states, mdp.n_states), np.uint8)
    contexts = np.arange(mdp.n_states, dtype=np.int32)
    return mdp, mdp.values[known_in(mdp, policy, contexts)[mdp.number((0, 0, 0))]]


def test_slips_add_up_until_they_are_left_out():
    """With odds of 1 to 9, eight slips are kept, 2.3e-8, and nine are not, 2.6e-9."""
    mdp, values = kept(Throws(12, 2, 0.9))
    assert mdp.values[:, 1].max() == 12
    assert values[:, 1].max() == 8


def test_many_outcomes_alike_are_all_kept():
    """Each of a hundred sides is improbable, but no more than the others."""
    mdp, values = kept(Throws(8, 100, 0.01))
    assert len(values) == mdp.n_states
