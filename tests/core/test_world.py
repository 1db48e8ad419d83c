from __future__ import annotations

import copy
import inspect
import pickle
import textwrap
from typing import Any

import pytest

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.world import World, WorldState, can_pickle


class Pair(sf.World):
    """Two switches."""

    id, actions = "Pair-v0", ("first", "second")
    space = sf.Space((sf.Variable("a", (0, 1)), sf.Variable("b", ("x", "y", "z"))))

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        a, b = state
        return [sf.Outcome(1.0, (1 - a, b) if action == 0 else (a, (b + 1) % 3))]


def test_the_example_in_the_docstring_is_a_world():
    doc = inspect.getdoc(World)
    assert doc is not None
    code = textwrap.dedent(doc.split("::")[1].split("Everything else")[0])
    names: dict[str, Any] = {"sf": sf}
    exec(code, names)
    assert names["Lamp"]().goals == ("bulb",)
    assert len(names["skills"]) == 2


def test_defaults():
    world = Pair()
    assert (world.default_target, world.goals, world.fixed) == ("b", ("a",), ())
    assert (world.step_limit, world.limit, world.n_marks) == (40, 200_000, 0)
    assert (world.settings, world.notes, world.final_states) == ({}, (), frozenset())
    assert world.marks_in((0, 0)) == 0
    assert world.state_graph is None
    assert world.draw((1, 2)) == "a=1\nb=z"


def test_fixed_variables_are_neither_goals_nor_the_default_target():
    world = Pair()
    world.fixed = ("b",)
    assert (world.default_target, world.goals) == ("a", ())
    world.fixed = ("a", "b")  # there must be a target all the same
    assert (world.default_target, world.goals) == ("b", ())


def test_states_by_their_values():
    world = Pair()
    state = world.state(b="z")
    assert type(state) is WorldState
    assert state == (0, 2)
    assert hash(state) == hash((0, 2))
    assert state.labels == {"a": 0, "b": "z"}
    with pytest.raises(sf.UserError, match="b has no value 'q'"):
        world.state(b="q")


def test_states_are_pickled_with_their_world_if_it_can_be():
    state = Pair().state(a=1)
    copied = pickle.loads(pickle.dumps(state))
    assert (type(copied), copied, copied.world.id) == (WorldState, (1, 0), "Pair-v0")
    assert copy.deepcopy(state).world is state.world
    local = Pair()
    local.note = lambda: 0
    assert not can_pickle(local)
    assert type(pickle.loads(pickle.dumps(local.state()))) is tuple


def test_repr_names_actions_and_variables_without_tabulating():
    assert repr(Pair()) == "<Pair-v0: 2 actions, a (2) × b (3)>"
    assert repr(corridor()) == "<FourRooms-v0: 4 actions, position (3) × tool_1 (2)>"
    many = RandomWorld(0, sizes=(2,) * 7)
    assert (
        repr(many) == "<Random-v0: 2 actions, v0 (2) × v1 (2) × v2 (2) × v3 (2) × v4 (2) × 2 more>"
    )

    assert repr(sf.make("four-rooms")) == (
        "<FourRooms-v0: 4 actions, position (104) × tool_1 (2) × tool_2 (2) × tool_3 (2) × "
        "tool_4 (2)>"
    )


def test_repr_of_a_world_that_is_not_initialized():
    class Late(RandomWorld):
        def __init__(self):
            self.early = repr(self)
            super().__init__(0)

    assert "Late object at" in Late().early


def test_outcomes_default_to_no_mark():
    assert sf.Outcome(1.0, (0,)) == (1.0, (0,), -1, None)
