"""States and trajectories: plain tuples and lists that know their world."""

from __future__ import annotations

import copy
import pickle

import pytest

import skillfocus as sf
from drawings import fetch, walk
from probes import RandomWorld
from skillfocus.errors import join_names
from skillfocus.rollout import Trajectory
from skillfocus.world import WorldState


def ended(before, after, targets, skill: int | None = 3):
    """A way that changes a and b from state to state; c stays."""
    world = RandomWorld(0)
    world.space = sf.Space(tuple(sf.Variable(name, (0, 1)) for name in "abc"))
    return Trajectory([(*before, 0), (*after, 0)], world, skill, targets)


@pytest.mark.parametrize(
    ("after", "targets", "verdict"),
    [
        ((1, 0), "a", "✓ Focused: it changed a, and everything else is as it was."),
        ((1, 1), "ab", "✓ Focused: it changed a and b, and everything else is as it was."),
        ((1, 1), "a", "✗ It changed a, and as side effects b."),
        ((0, 1), "a", "✗ It did not change a, but b."),
        ((0, 1), "abc", "✗ It did not change a and c, but b."),
        ((0, 0), "a", "○ It changed nothing: a is as it was."),
        ((0, 0), "abc", "○ It changed nothing: a, b and c are as they were."),
        ((1, 1), "", "• Changed a and b. This skill has no target."),
        ((0, 0), "", "• Changed nothing. This skill has no target."),
    ],
)
def test_a_verdict_says_what_a_run_did(after, targets, verdict):
    assert ended((0, 0), after, targets).verdict == verdict
    if not targets:
        bare = ended((0, 0), after, targets, skill=None)
        assert f"{bare.verdict} This skill has no target." == verdict


def test_the_new_types_are_as_good_as_the_plain_ones():
    world = sf.make("FourRooms-v0")
    state, run = world.state(position=(6, 9), tool_3=1), fetch()
    plain = world.space.state(position=(6, 9), tool_3=1)
    assert (state, hash(state), repr(state)) == (plain, hash(plain), repr(plain))
    assert {plain: 1}[state] == 1
    assert world.showcase == world.space.state(position=(6, 9))
    assert state.labels["position"] == (6, 9)
    assert run == [tuple(each) for each in run]
    assert run != run[1:]
    assert all(type(each) is WorldState for each in (run[0], run[-1], *run, world.showcase))
    part = run[1:4]
    assert (type(part), part.targets, part.skill, len(part)) == (Trajectory, ("tool_1",), 3, 3)
    with pytest.raises(sf.UserError, match="unknown variable 'tol_1'"):
        world.state(tol_1=1)


def test_states_and_trajectories_are_pickled_with_their_world_or_without_one_that_cannot_be():
    run = fetch()
    for copied in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert type(copied) is Trajectory
        assert copied == run
        assert (copied.skill, copied.targets) == (3, ("tool_1",))
        assert copied._repr_html_() == run._repr_html_()
    assert pickle.loads(pickle.dumps(run[0]))._repr_html_() == run[0]._repr_html_()
    longer = Trajectory([*run] * 10, run.world)
    for kept in (longer, list(longer)):
        assert len(pickle.dumps(kept)) < 2 * len(pickle.dumps(run[0]))
    taxi = sf.make("gymnasium:Taxi-v4")
    run = walk(taxi, [0], (), taxi.state(destination="red"))
    assert pickle.loads(pickle.dumps(run)) == run
    assert pickle.loads(pickle.dumps(run[1])) == run[1]
    assert copy.deepcopy(run[1]).world is taxi


WORLD = RandomWorld(0, sizes=(3, 2, 2))


def run(*states, skill=4, targets=("v0",)):
    return Trajectory(states, WORLD, skill, targets)


def test_equals_the_plain_list_and_holds_world_states():
    states = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    trajectory = run(*states)
    assert trajectory == states
    assert all(type(state) is WorldState for state in (*trajectory, trajectory[0]))


def test_a_slice_keeps_skill_and_targets():
    part = run((0, 0, 0), (1, 0, 0), (1, 1, 0))[1:]
    assert type(part) is Trajectory
    assert (part, part.skill, part.targets) == ([(1, 0, 0), (1, 1, 0)], 4, ("v0",))
    assert part.changed == ("v1",)


@pytest.mark.parametrize(
    ("end", "targets", "changed", "side_effects", "sign"),
    [
        ((1, 0, 0), ("v0",), ("v0",), (), "✓"),
        ((1, 1, 0), ("v0",), ("v0", "v1"), ("v1",), "✗"),
        ((0, 1, 0), ("v0",), ("v1",), ("v1",), "✗"),
        ((0, 0, 0), ("v0",), (), (), "○"),
        ((1, 1, 0), (), ("v0", "v1"), (), "•"),
        ((1, 1, 0), ("v0", "v1"), ("v0", "v1"), (), "✓"),
        ((1, 0, 0), ("v0", "v1"), ("v0",), (), "✗"),
    ],
)
def test_changes_and_side_effects(end, targets, changed, side_effects, sign):
    trajectory = run((0, 0, 0), (2, 1, 1), end, targets=targets)
    assert trajectory.changed == changed
    assert trajectory.side_effects == side_effects
    assert trajectory.verdict.startswith(sign)


def test_an_empty_trajectory_changed_nothing():
    assert (run().changed, run().side_effects) == ((), ())
    assert run().verdict == "○ It changed nothing: v0 is as it was."


def test_names_and_captions():
    assert run().caption == "skill 4 for v0"
    assert run(targets=("v0", "v1")).caption == "skill 4 for v0 + v1"
    assert Trajectory([], WORLD).caption == "trajectory"
    assert join_names([]) == ""
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"


def test_copies_keep_everything():
    trajectory = run((0, 0, 0), (1, 0, 0))
    for copied in (pickle.loads(pickle.dumps(trajectory)), copy.deepcopy(trajectory)):
        assert type(copied) is Trajectory
        assert (copied, copied.skill, copied.targets) == (trajectory, 4, ("v0",))
    local = RandomWorld(0)
    local.note = lambda: 0  # cannot be pickled, so the states are pickled alone
    assert type(pickle.loads(pickle.dumps(Trajectory([(0, 0)], local)))) is list
