from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

from skillfocus.errors import UserError
from skillfocus.worlds.adapters.stepping import list_actions, state_reader, to_python


class Bare:
    """An environment that says nothing about its states."""


class Decoding:
    def decode(self, state):
        return divmod(state, 4)


class Pose(NamedTuple):
    x: int
    y: int


def test_actions_of_discrete_spaces():
    assert list_actions(Discrete(3, start=2), "w") == ([2, 3, 4], ["2", "3", "4"])


def test_actions_of_composite_spaces_are_all_combinations():
    codes, names = list_actions(MultiDiscrete([2, 3]), "w")
    assert names == ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
    assert codes[5].tolist() == [1, 2]
    codes, names = list_actions(MultiDiscrete([2, 2], start=[5, -1]), "w")
    assert names == ["5,-1", "5,0", "6,-1", "6,0"]
    codes, names = list_actions(MultiBinary((1, 2)), "w")
    assert names == ["0,0", "0,1", "1,0", "1,1"]
    assert codes[1].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Box(0, 1), "w has actions Box.*; only a finite number"),
        (MultiBinary(20), "w has more than 10,000 actions"),
    ],
)
def test_action_spaces_that_cannot_be_listed(space, message):
    with pytest.raises(UserError, match=message):
        list_actions(space, "w")


@pytest.mark.parametrize(
    ("env", "state", "names", "values"),
    [
        (Bare(), {"a": 1, 2: np.float64(0.5)}, ("a", "2"), (1, 0.5)),
        (Bare(), Pose(3, 4), ("x", "y"), (3, 4)),
        (Bare(), (3, [1, 2]), ("part_1", "part_2"), (3, (1, 2))),
        (Bare(), np.array([[1, 2]]), ("part_1", "part_2"), (1, 2)),
        (Decoding(), 6, ("part_1", "part_2"), (1, 2)),
    ],
)
def test_states_with_parts(env, state, names, values):
    found, read = state_reader(env, state, None, "w")
    assert (found, read(state)) == (names, values)


def test_names_and_functions_of_the_user():
    names, read = state_reader(Bare(), (1, 2), ("row", "column"), "w")
    assert (names, read((5, 6))) == (("row", "column"), (5, 6))
    names, read = state_reader(Bare(), 7, {"half": lambda s: np.int64(s // 2)}, "w")
    assert (names, read(7)) == (("half",), (3,))
    with pytest.raises(UserError, match="states of w have 2 parts, but 1 names are given"):
        state_reader(Bare(), (1, 2), ("row",), "w")


def test_single_values_need_a_meaning():
    with pytest.raises(UserError, match="the states of w are single values such as 7: say what"):
        state_reader(Bare(), 7, None, "w")


def test_numpy_values_become_python_values():
    value = to_python([np.int64(1), (np.bool_(True), np.array([0.5]))])
    assert value == (1, (True, (0.5,)))
    assert isinstance(value, tuple)
    assert [type(value[0]), type(value[1][0])] == [int, bool]
