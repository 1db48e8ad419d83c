from __future__ import annotations

import pytest

from skillfocus.errors import UserError
from skillfocus.mdp import Transition
from skillfocus.worlds.explored import ModelOutcome, exploration_progress, explore


def ladder(values, action):
    """Climb three rungs, the last of which ends the episode; action 1 may slip twice the same way."""
    (rung,) = values
    if action == 0:
        return [ModelOutcome(1.0, (rung + 1,), rung + 1 == 3)]
    return [
        ModelOutcome(0.25, (rung,)),
        ModelOutcome(0.5, (rung + 1,), rung + 1 == 3),
        ModelOutcome(0.25, (rung,)),
        ModelOutcome(0.0, (99,)),
    ]


def test_keys_tell_whether_the_episode_has_ended():
    graph = explore("Ladder", 2, [(0,)], ladder, limit=10)
    assert graph.states == [((0,), False), ((1,), False), ((2,), False), ((3,), True)]
    assert graph.n_starts == 1


def test_equal_outcomes_are_merged_and_impossible_ones_dropped():
    graph = explore("Ladder", 2, [(0,)], ladder, limit=10)
    assert graph.transitions[0] == [
        [Transition(1.0, 1, -1, 1)],
        [Transition(0.5, 0, -1, 0), Transition(0.5, 1, -1, 1)],
    ]


def test_no_action_leaves_a_final_state():
    graph = explore("Ladder", 2, [(0,)], ladder, limit=10)
    assert graph.transitions[3] == [[Transition(1.0, 3, -1, 3)]] * 2


def test_the_limit_names_the_setting():
    with pytest.raises(UserError, match=r"Ladder has more than 3 states: .*limit=…"):
        explore("Ladder", 2, [(0,)], ladder, limit=3)


def test_progress_goes_to_the_callback_of_the_context():
    fractions = []
    token = exploration_progress.set(lambda fraction, activity: fractions.append(fraction))
    try:
        explore("Ladder", 2, [(0,)], ladder, limit=10)
    finally:
        exploration_progress.reset(token)
    assert fractions == [0.0, 1 / 2, 2 / 3, 3 / 4]
    explore("Ladder", 2, [(0,)], ladder, limit=10)
    assert len(fractions) == 4
