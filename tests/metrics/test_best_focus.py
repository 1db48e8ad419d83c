"""The highest probability of a focused change, by hand, against a plain version and by rollouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import Button, RandomWorld, corridor
from reference import best_focus_plainly
from skillfocus.metrics import best_focus, best_plan
from skillfocus.metrics.reachability import restored_variables

POSITION, TOOL = 0, 1


def test_a_button_that_works_sometimes_by_hand():
    """It works with probability 0.4: within t presses with 1 - 0.6^t."""
    mdp = sf.tabulate(Button())
    start = np.array([mdp.number((0, 1))])
    for steps, chance in ((0, 0.0), (1, 0.4), (2, 0.64), (5, 0.92224)):
        assert best_focus(mdp, [0], start, steps)[0] == pytest.approx(chance)
    assert best_focus(mdp, [1], start, 1)[0] == 1.0, "the dial turns for certain"
    assert best_focus(mdp, [0, 1], start, 2)[0] == pytest.approx(0.4), "one press, one turn"
    lit = np.array([mdp.number((1, 1))])
    assert best_focus(mdp, [0], lit, 9)[0] == 0.0, "it never goes out"


def test_a_slippery_corridor_by_hand():
    """Three cells, the tool in the third; a move slips with probability 0.1, sideways or back, and
    stays where it is if a wall is there.

    From the middle, there and back: 0.9 * 0.9 in two steps. In three: after the first step right
    (0.9), two tries to return, 0.9 + 0.1 * 0.9 = 0.99; after a slip into the wall (2 of 3 slips),
    0.81 is left; after a slip to the left, nothing. 0.9 * 0.99 + 0.0667 * 0.81 = 0.945.
    """
    mdp = sf.tabulate(corridor(slip=0.1))
    middle = np.array([mdp.number((1, 0))])
    assert best_focus(mdp, [TOOL], middle, 1)[0] == 0.0
    assert best_focus(mdp, [TOOL], middle, 2)[0] == pytest.approx(0.81)
    assert best_focus(mdp, [TOOL], middle, 3)[0] == pytest.approx(0.945)
    assert best_focus(mdp, [POSITION, TOOL], middle, 1)[0] == pytest.approx(0.9)


def test_what_cannot_be_changed_back_may_be_free():
    """To fetch the treasure leaves tracks, which stay; feet can be washed at the puddle."""
    world = sf.make("mud-world", slip=0.0)
    mdp = sf.tabulate(world)
    treasure, tracks = mdp.space.index("treasure"), mdp.space.index("muddy_cells")
    assert tracks in restored_variables(mdp, [treasure], "all")
    assert tracks not in restored_variables(mdp, [treasure], "reversible")
    start = np.array([mdp.number((world.map.index[(3, 7)], 0, 0, 0))])
    assert best_focus(mdp, [treasure], start, 20, "all")[0] == 0.0
    # 10 steps: see test_reachability.py.
    assert best_focus(mdp, [treasure], start, 9, "reversible")[0] == 0.0
    assert best_focus(mdp, [treasure], start, 10, "reversible")[0] == 1.0


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["all", "reversible"]))
def test_values_are_those_of_a_plain_version(seed, one_way, restore):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=2, one_way=one_way))
    starts, limit = np.arange(mdp.n_states), seed % 5
    for targets in ([0], [2], [0, 1]):
        restored = restored_variables(mdp, targets, restore)
        expected = best_focus_plainly(mdp, targets, restored, limit)
        found = best_focus(mdp, targets, starts, limit, restore)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["all", "reversible"]))
def test_values_to_be_reached_are_those_of_a_plain_version(seed, one_way, restore):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=2, one_way=one_way))
    starts, limit = np.arange(mdp.n_states), seed % 5
    for targets, wanted in (([0], [2]), ([2], [seed % 2]), ([1, 0], [1, 0])):
        restored = restored_variables(mdp, targets, restore)
        expected = best_focus_plainly(mdp, targets, restored, limit, wanted)
        found = best_focus(mdp, targets, starts, limit, restore, wanted)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        plan = best_plan(mdp, targets, seed % mdp.n_states, limit, restore, wanted)
        assert plan.probability == pytest.approx(expected[seed % mdp.n_states], abs=1e-12)


def test_a_dial_at_a_value_by_hand():
    """The dial turns 0, 1, 2, 0 for certain; the lamp goes on with 0.4 and never out."""
    mdp = sf.tabulate(Button())
    starts = np.array([mdp.number((0, dial)) for dial in range(3)])
    for steps, reached in ((0, [0, 0, 1]), (1, [0, 1, 1]), (2, [1, 1, 1])):
        assert best_focus(mdp, [1], starts, steps, values=[2]).tolist() == reached
    assert best_focus(mdp, [1], starts, 1).tolist() == [1, 1, 1], "any other value"
    assert best_focus(mdp, [0], starts, 2, values=[1]).tolist() == pytest.approx([0.64] * 3)
    assert best_focus(mdp, [0], starts, 0, values=[0]).tolist() == [1, 1, 1], "as it is"
    # The lamp on and the dial at 2, within two steps: two presses, a press and a turn, too short.
    both = best_focus(mdp, [0, 1], starts, 2, values=[1, 2])
    assert both.tolist() == pytest.approx([0.0, 0.4, 0.64])


@pytest.mark.parametrize(
    ("values", "message"),
    [([1, 2], "one value per target, 1, got 2"), ([3], "dial has no value number 3; .* 0 to 2")],
)
def test_values_that_there_are_not(values, message):
    mdp = sf.tabulate(Button())
    with pytest.raises(sf.UserError, match=message):
        best_focus(mdp, [1], np.array([0]), 3, values=values)
    with pytest.raises(sf.UserError, match=message):
        best_plan(mdp, [1], 0, 3, values=values)


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_values_of_a_room_are_those_of_a_plain_version(slip):
    """With projection, blocks and, without slips, the kernel for certain outcomes."""
    world = sf.make("four-rooms", drawing="#####\n#T..#\n#..T#\n#####", slip=slip, step_limit=7)
    mdp = sf.tabulate(world)
    starts = np.arange(mdp.n_states)
    for targets, restore in itertools.product(([0], [1], [1, 2]), ("all", "reversible")):
        restored = restored_variables(mdp, targets, restore)
        for limit in (3, 7):
            found = best_focus(mdp, targets, starts, limit, restore)
            expected = best_focus_plainly(mdp, targets, restored, limit)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_plan_attains_the_value():
    """The distribution of the plan's last state, propagated step by step."""
    world = sf.make("four-rooms", drawing="#####\n#T..#\n#..T#\n#####", slip=0.2, step_limit=6)
    mdp = sf.tabulate(world)
    for start in (0, 5, 11):
        plan = best_plan(mdp, [TOOL], start, 6)
        assert plan.probability == best_focus(mdp, [TOOL], np.array([start]), 6)[0]
        mass, ended = {start: 1.0}, np.zeros(mdp.n_states)
        for steps in range(7):
            moved: dict[int, float] = {}
            for state, p in mass.items():
                action = plan.action(state, steps)
                if action is None:
                    ended[state] += p
                    continue
                for after, q in zip(
                    mdp.successors[state, action], mdp.probabilities[state, action], strict=True
                ):
                    moved[int(after)] = moved.get(int(after), 0.0) + p * q
            mass = moved
        assert not mass, "it stops at the limit"
        differs = mdp.values != mdp.values[start]
        done = differs[:, TOOL] & (differs.sum(axis=1) == 1)
        assert ended[done].sum() == pytest.approx(plan.probability)


class Latch(Button):
    """The button also works for certain if it is held for two steps, which turns the dial and turns
    it back."""

    def transition(self, state, action):
        lamp, dial = state
        if action == 1:
            return [sf.Outcome(1.0, (lamp or dial, 1 - dial))]
        return super().transition(state, action)

    space = sf.Space((sf.Variable("lamp", (0, 1)), sf.Variable("dial", (0, 1))))

    def states(self):
        return [(0, 0)]


def test_a_plan_depends_on_the_time_left():
    """With two steps left it holds the button, with one it presses: 0.4 is better than nothing."""
    plan = best_plan(sf.tabulate(Latch()), [0], 0, 2)
    assert plan.probability == 1.0
    assert [plan.action(0, steps) for steps in range(3)] == [1, 0, None]


def test_no_skill_does_better():
    """An upper bound of what any policy attains, here of random ones."""
    from skill_sets import random_skills

    for effects in sf.metrics.side_effects(random_skills(3, corridor(slip=0.1))):
        assert effects.best is not None
        assert (effects.alone <= effects.best[:, 0] + 1e-9).all()
        assert (effects.best[:, 0] <= effects.best[:, 1] + 1e-12).all()


def test_the_frozen_lake_by_hand():
    """From the corner, `left` slips down with 1/3 and otherwise stays: 1 - (2/3)^t within t steps.
    Its likeliest outcome never moves."""
    mdp = sf.tabulate(sf.make("gymnasium:FrozenLake-v1"))
    corner = np.array([mdp.number((0, 0))])
    for steps in (1, 2, 3):
        chance = best_focus(mdp, [mdp.space.index("row")], corner, steps)[0]
        assert chance == pytest.approx(1 - (2 / 3) ** steps)
    starts = np.arange(mdp.n_states)
    expected = best_focus_plainly(mdp, [0], (1,), 12)
    np.testing.assert_allclose(best_focus(mdp, [0], starts, 12), expected, rtol=0, atol=1e-12)


def test_a_tireworld_is_judged_by_its_chances():
    """A tire may go flat on every road."""
    pytest.importorskip("pyRDDLGym")
    mdp = sf.tabulate(sf.make("rddl:TriangleTireworld_MDP_ippc2014/1"))
    starts = np.arange(mdp.n_states)
    for name in ("vehicle-at", "hasspare"):
        target = mdp.space.index(name)
        restored = restored_variables(mdp, [target])
        found = best_focus(mdp, [target], starts, 3)
        np.testing.assert_allclose(
            found, best_focus_plainly(mdp, [target], restored, 3), atol=1e-12
        )
        assert 0 < found.mean() < 1
