from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.worlds.explored import (
    constant_variables,
    distinguishing_parts,
    sort_values,
    value_columns,
)

NAMES = ("a", "b", "c")
STATES = [((0, "x", 5), False), ((1, "x", 5), False), ((1, "y", 5), True)]


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["at(x1,y1)", "at(x1,y2)", "at(x2,y1)"], ["x1,y1", "x1,y2", "x2,y1"]),
        (["floor(e0,f0)", "floor(e0,f1)"], ["f0", "f1"]),
        (["red_on", "blue_on"], ["red", "blue"]),
        (["lamp", "lamp_2"], ["lamp", "lamp_2"]),
        (["door"], ["door"]),
    ],
)
def test_what_tells_names_apart(names, parts):
    assert distinguishing_parts(names) == parts


def test_columns_hold_the_values_of_each_variable():
    assert value_columns(NAMES, STATES, {}) == {
        "a": [0, 1, 1],
        "b": ["x", "x", "y"],
        "c": [5, 5, 5],
    }


def test_ended_is_added_only_if_values_do_not_tell_states_apart():
    states = [*STATES, ((0, "x", 5), True)]
    assert value_columns(NAMES, states, {})["ended"] == [False, False, True, True]
    with pytest.raises(UserError, match="the name ended is reserved"):
        value_columns(("a", "b", "ended"), states, {})


def test_a_group_takes_the_place_of_its_first_member():
    columns = value_columns(NAMES, STATES, {"ac": ["a", "c"]})
    assert list(columns) == ["ac", "b"]
    assert columns["ac"] == [(0, 5), (1, 5), (1, 5)]
    assert list(value_columns(NAMES, STATES, {"bc": ["c", "b"]})) == ["a", "bc"]


def test_a_group_of_flags_names_those_that_are_set():
    states = [((True, False, 0), False), ((True, True, 0), False), ((False, False, 0), False)]
    columns = value_columns(("at_x", "at_y", "n"), states, {"at": "at_*"})
    assert columns == {"at": ["x", "x + y", "none"], "n": [0, 0, 0]}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["a", "z"]}, "unknown variable in the group 'g' 'z'"),
        ({"g": "q*"}, "unknown variable in the group 'g'"),
        ({"c": ["a", "b"]}, "the group 'c' has the name of a variable"),
    ],
)
def test_wrong_groups_are_refused(groups, message):
    with pytest.raises(UserError, match=message):
        value_columns(NAMES, STATES, groups)


def test_constants_are_left_out_unless_declared_or_needed():
    columns = value_columns(NAMES, STATES, {})
    assert constant_variables(columns, {}) == ["c"]
    assert constant_variables(columns, {"c": sf.Variable("c", (5, 6))}) == []
    assert constant_variables({"a": [0, 1], "c": [5, 5]}, {}) == []  # one variable would be left


def test_values_are_sorted_by_type_then_by_value():
    values = {"b", 2, (1, "x"), "a", 10, (0, "y"), None, 1.5}
    assert sort_values(values) == (1.5, 2, 10, "a", "b", (0, "y"), (1, "x"), None)
