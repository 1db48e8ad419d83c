from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import Door, RandomWorld, corridor
from skillfocus.errors import UserError
from skillfocus.rollout import mdp_arrays, reset_marks, step
from skillfocus.world import Outcome


def test_a_corridor_by_hand():
    mdp = sf.tabulate(corridor())
    assert mdp.n_states == 6
    start, end = mdp.number((0, 0)), mdp.number((1, 0))
    right = 1
    assert mdp.successors[start, right][mdp.probabilities[start, right] > 0].tolist() == [end]
    assert mdp.state(mdp.successors[end, right, 0]) == (2, 1)


@given(st.integers(0, 30))
def test_tables_say_what_worlds_say(seed):
    world = RandomWorld(seed, sizes=(3, 2, 2), n_actions=3)
    mdp = sf.tabulate(world)
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            expected = {
                mdp.number(o.state): o.probability for o in world.transition(mdp.state(s), a)
            }
            got = dict.fromkeys(expected, 0.0)
            for m in range(mdp.successors.shape[2]):
                if mdp.probabilities[s, a, m]:
                    got[int(mdp.successors[s, a, m])] += mdp.probabilities[s, a, m]
            assert got == pytest.approx(expected)
    assert (mdp.cumulative[:, :, -1] == 1).all()


def test_reversible_is_what_can_come_back(four_rooms_table):
    assert four_rooms_table.reversible.tolist() == [True, False, False, False, False]
    mud = sf.tabulate(sf.make("mud-world"))
    assert mud.reversible.tolist() == [True, True, False, False]


def test_can_change(four_rooms_table):
    mdp = four_rooms_table
    assert mdp.can_change[mdp.number((0, 0, 1, 0, 0))].tolist() == [
        True,
        True,
        False,
        True,
        True,
    ]


def test_the_limit_is_named():
    with pytest.raises(UserError, match=r"more than 1,000 states.*limit"):
        sf.tabulate(sf.make("four-rooms"), limit=1000)


def test_probabilities_that_do_not_sum_to_one_are_refused():
    world = RandomWorld(0)
    world.follows[(0, 0), 1] = [Outcome(0.4, (0, 0))]
    with pytest.raises(UserError, match=r"'a1' in state .* probabilities \[0.4\]"):
        sf.tabulate(world)
    for shares in ([1.5, -0.5], [float("nan"), 1.0]):
        world.follows[(0, 0), 1] = [Outcome(p, (0, 0)) for p in shares]
        with pytest.raises(UserError, match="0 or more and sum to 1"):
            sf.tabulate(world)


@pytest.mark.parametrize("state", [(0,), (3, 0), (0, -1)])
def test_states_that_are_none_are_refused(state):
    world = RandomWorld(0)
    world.follows[(0, 0), 1] = [Outcome(1.0, state)]
    with pytest.raises(UserError, match="is not a state"):
        sf.tabulate(world)


def test_marks_that_cannot_be_are_refused():
    world = RandomWorld(0)
    world.follows[(0, 0), 1] = [Outcome(1.0, (0, 0), mark=0)]
    with pytest.raises(UserError, match="sets mark 0 but has n_marks = 0"):
        sf.tabulate(world)
    mud = sf.make("mud-world")
    mud.marks_in = lambda state: 87
    with pytest.raises(UserError, match="marks_in must be between"):
        sf.tabulate(mud)


def test_no_states_and_no_actions_are_refused():
    world = RandomWorld(0)
    world.actions = ()
    with pytest.raises(UserError, match="0 actions"):
        sf.tabulate(world)
    world = RandomWorld(0)
    world.states = lambda: []
    with pytest.raises(UserError, match="no state to start from"):
        sf.tabulate(world)


def test_fingerprints_tell_worlds_apart():
    prints = {
        sf.tabulate(world).fingerprint
        for world in (corridor(), corridor(slip=0.1), sf.make("forage-world"))
    }
    assert len(prints) == 3
    assert sf.tabulate(corridor()).fingerprint == sf.tabulate(corridor()).fingerprint


def test_steps_have_the_table_s_frequencies(rng):
    mdp = sf.tabulate(sf.make("four-rooms"))
    s = mdp.number((30, 0, 0, 0, 0))
    arrays, marked = mdp_arrays(mdp), np.zeros(0, np.uint8)
    drawn = [step(arrays, s, 2, marked, rng)[0] for _ in range(6000)]
    for m in range(mdp.successors.shape[2]):
        p = mdp.probabilities[s, 2, m]
        share = np.mean(np.array(drawn) == mdp.successors[s, 2, m])
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / 6000) + 1e-12


def test_marks_count_a_cell_once(rng):
    """Walk out of the mud, back and out again: the second time the cell is muddy already."""
    world = sf.make("mud-world", slip=0.0)
    mdp = sf.tabulate(world)
    cell = world.map.index
    s = mdp.number((cell[(3, 5)], 1, 0, 0))
    marked = np.zeros(mdp.n_marks, np.uint8)
    arrays = mdp_arrays(mdp)
    reset_marks(mdp.marks_in, s, marked, rng)
    counts = []
    for action in (1, 3, 1, 1):
        s, _ = step(arrays, s, action, marked, rng)
        counts.append(mdp.state(s)[3])
    assert counts == [1, 1, 1, 2]
    assert marked.sum() == 2


def test_marks_shown_are_set_at_random(rng):
    mdp = sf.tabulate(sf.make("mud-world"))
    s = mdp.number((0, 0, 0, 7))
    seen = np.zeros(mdp.n_marks)
    for _ in range(500):
        marked = np.zeros(mdp.n_marks, np.uint8)
        reset_marks(mdp.marks_in, s, marked, rng)
        assert marked.sum() == 7
        seen += marked
    assert (seen > 0).all()


def test_what_never_changes_and_what_never_comes_back():
    mdp = sf.tabulate(Door())
    assert mdp.fixed == ("wall",)
    assert mdp.irrecoverable_values == {"door": ("locked",), "light": (0,)}
    assert mdp.reversible.tolist() == [True, False, False]


def test_a_world_s_own_limit_counts():
    class Small(Door):
        limit = 9

    with pytest.raises(UserError, match="more than 9 states"):
        sf.tabulate(Small())
    assert sf.tabulate(Small(), limit=10).n_states == 10
