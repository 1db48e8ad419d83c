from __future__ import annotations

import copy
import pickle

import pytest

from probes import RandomWorld
from skillfocus.core.trajectory import Trajectory, join_names
from skillfocus.core.world import WorldState

WORLD = RandomWorld(0, sizes=(3, 2, 2))


def run(*states, skill=4, targets=("v0",)):
    return Trajectory(states, WORLD, skill, targets)


def test_equals_the_plain_list_and_holds_world_states():
    states = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    trajectory = run(*states)
    assert trajectory == states
    assert all(type(state) is WorldState for state in (*trajectory, trajectory[0]))
    trajectory.append((2, 1, 0))
    assert type(trajectory[-1]) is WorldState


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
