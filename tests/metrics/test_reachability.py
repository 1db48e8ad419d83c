from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import Button, RandomWorld, corridor, tiny_mud
from reference import best_focus_plainly
from skillfocus.metrics import best_focus, fair_starts, reachability, round_trips, shortest_steps
from skillfocus.metrics.reachability import (
    fresh_starts,
    isolated_change_chances,
    max_fair_starts,
    max_starts,
    other_variables,
    possible_starts,
    sample_starts,
)
from skillfocus.worlds.four_rooms import FourRooms


def test_round_trips_by_hand():
    mdp = sf.tabulate(corridor(slip=0.1))
    starts = np.array([mdp.number((cell, 0)) for cell in range(3)])
    assert shortest_steps(mdp, starts[:1])[0, mdp.number((2, 1))] == 2
    # From the tool's own cell: one step away and back in picks it up.
    assert round_trips(mdp, [1], starts).tolist() == [4, 2, 2]
    # 0.945 from the middle with three steps (see test_best_focus.py), 0.81 with two.
    assert fair_starts(mdp, [1], 2, default_target=0).tolist() == []
    assert fair_starts(mdp, [1], 3, default_target=0).tolist() == [starts[1], starts[2]]
    assert fair_starts(mdp, [1], 6, default_target=0).tolist() == starts.tolist()
    mirrored = sf.tabulate(FourRooms("#####\n#T..#\n#####"))
    starts = np.array([mirrored.number((cell, 0)) for cell in range(3)])
    assert round_trips(mirrored, [1], starts).tolist() == [2, 2, 4]
    gone = np.array([mdp.number((0, 1))])
    assert round_trips(mdp, [1], gone).tolist() == [np.inf]


class Countdown(RandomWorld):
    """Fuel runs from its last value down to its first."""

    def transition(self, state, action):
        return [sf.Outcome(1.0, (state[0], max(state[1] - action, 0)))]


def test_untouched_is_where_nothing_leads(four_rooms_table):
    mdp = sf.tabulate(Countdown(0, sizes=(2, 3)))
    assert fair_starts(mdp, [1], 5, default_target=0).tolist() == [
        s for s in range(6) if mdp.state(s)[1] == 2
    ]
    assert four_rooms_table.pristine[four_rooms_table.number((0, 0, 1, 0, 0))].tolist() == [
        True, True, False, True, True,
    ]  # fmt: skip


def test_the_mud_errand_is_as_long_as_it_looks():
    """From beside the puddle at (3, 7): 4 steps to the treasure through (3, 4), 4 to the puddle
    at (4, 8), 2 home."""
    world = sf.make("mud-world")
    mdp = sf.tabulate(world)
    start = np.array([mdp.number((world.map.index[(3, 7)], 0, 0, 0))])
    assert round_trips(mdp, [2], start).tolist() == [10]


def test_few_fair_starts_among_many_are_looked_for(monkeypatch):
    """With a short limit few starts are fair; more samples are drawn until enough are found."""
    mdp = sf.tabulate(FourRooms())
    every = fair_starts(mdp, [1], 6, 0)
    monkeypatch.setattr(reachability, "MAX_PAIRS", 200 * 1664)
    some = fair_starts(mdp, [1], 6, 0)
    assert 0 < len(every) < 100
    assert np.array_equal(some, every)  # all ten samples together are all starts


@pytest.mark.parametrize("name", ["four-rooms", "forage-world", "mud-world"])
@pytest.mark.parametrize("longer", [1.0, 1.5])
def test_fair_starts_of_the_paper_are_those_of_three_quarters(name, longer):
    """The published results judge skills from starts whose round trip, without slips, takes at most
    three quarters of the step limit. The probability picks the same, for every set of targets and
    both step limits of the experiments."""
    world = sf.make(name)
    mdp, limit = sf.tabulate(world), round(longer * world.step_limit)
    home = mdp.space.index(world.default_target)
    sets = [[home], *([mdp.space.index(goal)] for goal in world.goals)]
    if name == "four-rooms":
        sets += [[home, mdp.space.index(goal)] for goal in world.goals]
    for targets in sets:
        possible = possible_starts(mdp, targets, home)
        short = possible[round_trips(mdp, targets, possible) <= 0.75 * limit]
        assert fair_starts(mdp, targets, limit, home).tolist() == short.tolist()


def test_starts_from_which_chance_decides_are_fair():
    """A button that works with probability 0.4: five presses suffice with 0.92, four with 0.87."""
    mdp = sf.tabulate(Button())
    unlit = [mdp.number((0, dial)) for dial in range(3)]
    assert fair_starts(mdp, [0], 5, 1).tolist() == sorted(unlit)
    assert fair_starts(mdp, [0], 4, 1).tolist() == []


def test_chances_of_change_alone_by_hand():
    """The button's lamp, from the three states in which it is off; the dial, from all six."""
    chances = isolated_change_chances(sf.tabulate(Button()), 2)
    assert chances == pytest.approx({"lamp": 0.64, "dial": 1.0})


@given(st.integers(0, 200))
def test_chances_of_change_alone_are_those_of_a_plain_version(seed):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=2, one_way=seed % 2 == 0))
    expected = {}
    for j, name in enumerate(mdp.space.names):
        others = [k for k in range(3) if k != j]
        values = best_focus_plainly(mdp, [j], others, 3)[mdp.can_change[:, j] & ~mdp.absorbing]
        expected[name] = values.mean() if len(values) else None
    assert isolated_change_chances(mdp, 3) == pytest.approx(expected)


def test_with_hidden_marks_only_fresh_states_count():
    """Elsewhere, which cells are muddy already is unknown."""
    mud = sf.tabulate(tiny_mud(slip=0.0))
    fresh = fresh_starts(mud, [1, 2, 3])
    expected = best_focus(mud, [0], fresh, 6).mean()
    assert isolated_change_chances(mud, 6, 0)["position"] == pytest.approx(expected)


def test_many_outcomes_mean_fewer_starts(monkeypatch, four_rooms_table):
    """A tool's projection has 208 rows, with 4 actions and 4 outcomes."""
    mdp = replace(four_rooms_table)  # of which nothing is known yet
    assert max_fair_starts(mdp, [1], 40) == max_starts(mdp)
    monkeypatch.setattr(reachability, "MAX_PRODUCTS", 100 * 208 * 16 * 40)
    assert max_fair_starts(mdp, [1], 40) == 100
    assert 50 <= len(fair_starts(mdp, [1], 40, 0)) <= 100
    monkeypatch.setattr(reachability, "MAX_PRODUCTS", 1.0)
    assert max_fair_starts(mdp, [1], 40) == 20, "never fewer"


@given(st.integers(0, 200), st.booleans())
def test_shortest_steps_are_what_a_search_finds(seed, one_way):
    """Against breadth-first search over likeliest outcomes in plain Python."""
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 3), n_actions=2, one_way=one_way))
    steps = shortest_steps(mdp, np.arange(mdp.n_states))
    for start in range(mdp.n_states):
        wanted, frontier, n = {start: 0}, {start}, 0
        while frontier:
            n += 1
            frontier = {
                int(mdp.successors[s, a, mdp.probabilities[s, a].argmax()])
                for s in frontier
                for a in range(2)
            } - set(wanted)
            wanted |= dict.fromkeys(frontier, n)
        assert steps[start].tolist() == [wanted.get(s, np.inf) for s in range(mdp.n_states)]


def test_fresh_starts_by_hand(four_rooms_table):
    """Of the corridor: wherever the agent is, the tool not taken; or only where it starts."""
    mdp = sf.tabulate(corridor())
    position, tool = 0, 1
    assert [mdp.state(s) for s in fresh_starts(mdp, [tool])] == [(0, 0), (1, 0), (2, 0)]
    assert [mdp.state(s) for s in fresh_starts(mdp, [position, tool])] == [(0, 0)]
    assert fresh_starts(mdp, []).tolist() == list(range(6)), "nothing to be fresh"
    assert other_variables(mdp, position) == [tool]
    starts = fresh_starts(four_rooms_table, other_variables(four_rooms_table, 0))
    assert len(starts) == 104
    assert not four_rooms_table.values[starts, 1:].any()


def test_possible_starts_depend_on_what_can_be_seen():
    mdp = sf.tabulate(corridor())
    position, tool = 0, 1
    assert possible_starts(mdp, [tool], position).tolist() == fresh_starts(mdp, [tool]).tolist()
    assert len(possible_starts(mdp, [position], position)) == 6, "a reversible target may differ"
    mud = sf.tabulate(tiny_mud())
    everything_but_position = fresh_starts(mud, [1, 2, 3]).tolist()
    for target in range(4):
        assert possible_starts(mud, [target], 0).tolist() == everything_but_position


def test_samples_of_starts_are_sorted_and_repeatable(monkeypatch, four_rooms_table):
    mdp, every = four_rooms_table, np.arange(1664)
    assert sample_starts(every, mdp) is every
    monkeypatch.setattr(reachability, "MAX_PAIRS", 300 * 1664)
    assert max_starts(mdp) == 300
    some = sample_starts(every, mdp)
    assert len(set(some.tolist())) == 300
    assert (np.diff(some) > 0).all()
    assert np.array_equal(some, sample_starts(every, mdp))
    monkeypatch.setattr(reachability, "MAX_PAIRS", 1)
    assert max_starts(mdp) == 200, "never fewer"


class Pit(Button):
    """At 2 the dial falls into a pit, which no action leaves; with the lamp on, too."""

    def transition(self, state, action):
        if state[1] == 2:
            return [sf.Outcome(0.5, state), sf.Outcome(0.5, state)]
        return super().transition(state, action)


def test_states_that_no_action_leaves_are_no_starts():
    """Of six states two are pits. The lamp goes on within ten presses from the two others in which
    it is off; the dial moves on alone from all four."""
    mdp = sf.tabulate(Pit())
    pits = [mdp.number((0, 2)), mdp.number((1, 2))]
    assert np.flatnonzero(mdp.absorbing).tolist() == sorted(pits)
    chances = isolated_change_chances(mdp, 10)
    assert chances == {"lamp": pytest.approx(1 - 0.6**10), "dial": 1.0}
    skills = sf.discover(Pit(), sf.focused(sf.vic()), seed=0, targets={"lamp": 2})
    everywhere = sf.metrics.side_effects(skills, "all")[0].starts.tolist()
    assert everywhere == sorted([mdp.number((0, 0)), mdp.number((0, 1))])
    assert not set(possible_starts(mdp, [], 0).tolist()) & set(pits)
