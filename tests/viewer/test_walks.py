"""Policies as walks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld
from skillfocus.viewer.recordings import COST_PER_BIT, outcome_costs, walk_policy


def test_costs_by_hand():
    assert outcome_costs(np.array([1.0, 0.5, 0.25, 0.9])).tolist() == [0, 16, 32, 2]
    assert outcome_costs(np.array([0.0]))[0] > 96 * COST_PER_BIT


def followed(mdp, policy, starts, column, limit):
    """A walk in plain Python: per state it can come to, the least cost; and the order met."""
    costs = outcome_costs(mdp.probabilities)
    queues = {0: list(starts)}
    order = []
    for cost in range(limit + 1):
        queue = queues.get(cost, [])
        while queue:
            s = queue.pop(0)
            if s in order:
                continue
            order.append(s)
            a = policy[s, column]
            if a == mdp.n_actions:
                continue
            for m in range(mdp.successors.shape[2]):
                targets = [mdp.successors[s, a, m]]
                if mdp.marks[s, a, m] >= 0:
                    targets.append(mdp.again[s, a, m])
                for target in targets:
                    queues.setdefault(cost + int(costs[s, a, m]), []).append(int(target))
    return order


@given(st.integers(0, 2**32 - 1))
def test_walks_are_those_of_plain_python(seed):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=3))
    rng = np.random.default_rng(seed)
    contexts = rng.integers(3, size=mdp.n_states)
    contexts = np.unique(contexts, return_inverse=True)[1].astype(np.int32)
    width = (contexts.max() + 1) * 2
    policy = rng.integers(mdp.n_actions + 1, size=(mdp.n_states, width)).astype(np.uint8)
    walked = walk_policy(mdp, policy, contexts, 2, 5)
    ends = np.cumsum(walked.counts)
    for column in range(width):
        starts = np.flatnonzero(contexts == column // 2)
        order = followed(mdp, policy, starts, column, walked.limit)
        noted = walked.actions[ends[column] - walked.counts[column] : ends[column]]
        assert noted.tolist() == policy[order, column].tolist()
    assert walked.left_out <= 1e-5 or walked.limit == 96 * COST_PER_BIT


def alone(mdp, action_where):
    """A policy that is the same in every context, each first state having one of its own."""
    policy = np.repeat(action_where[:, None], mdp.n_states, axis=1).astype(np.uint8)
    return policy, np.arange(mdp.n_states, dtype=np.int32)


class Throws(sf.World):
    """So many throws, each of which shows one of `sides`; the last is gone on from no further."""

    id = "Throws-v0"
    actions = ("throw",)

    def __init__(self, n, sides):
        self.n, self.sides = n, sides
        counts, shown = tuple(range(n + 1)), tuple(range(sides))
        self.space = sf.FactoredSpace((sf.Variable("turn", counts), sf.Variable("shown", shown)))

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        turn = min(state[0] + 1, self.n)
        share = 1 / self.sides
        return [sf.Outcome(share, (turn, shown)) for shown in range(self.sides)]


def test_walks_end_at_24_bits_and_not_before():
    """After 24 throws of a coin every state has cost 24 bits; the 25th would be one too many. All
    the rest is left out, so the walk must go on to the next limit, 32 bits."""
    mdp = sf.tabulate(Throws(40, 2))
    policy, contexts = alone(mdp, np.zeros(mdp.n_states))
    walked = walk_policy(mdp, policy, contexts, 1, 24)
    assert (walked.limit, walked.left_out, walked.counts[0]) == (24 * COST_PER_BIT, 0.0, 1 + 24 * 2)
    longer = walk_policy(mdp, policy, contexts, 1, 25)
    assert (longer.limit, longer.counts[0]) == (32 * COST_PER_BIT, 1 + 32 * 2)


def test_walks_go_on_until_little_is_left_out():
    """Where every step shows one of a hundred sides, 24 bits are three steps."""
    mdp = sf.tabulate(Throws(8, 100))
    policy, contexts = alone(mdp, mdp.values[:, 0] == 8)
    walked = walk_policy(mdp, policy, contexts, 1, 20)
    assert walked.left_out == 0
    assert walked.counts[0] == mdp.n_states
