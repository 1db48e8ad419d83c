"""Tables of some variables alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import Door, RandomWorld, corridor, tiny_mud
from skillfocus.mdp import project


def test_tools_make_no_difference_to_each_other(four_rooms_table):
    """104 cells and one tool; where the tools lie decides nothing about the walk."""
    mdp = four_rooms_table
    assert len(project(mdp, [0]).values) == 104
    projection = project(mdp, [0, 2])
    assert len(projection.values) == 208
    assert len(project(mdp, range(5)).values) == 1664
    rows, starts = projection.of_state, np.arange(mdp.n_states)
    np.testing.assert_array_equal(projection.values[rows][:, [0, 2]], mdp.values[:, [0, 2]])
    followed = mdp.values[mdp.successors[starts, 1]][:, :, [0, 2]]
    alike = projection.values[projection.successors[rows, 1]][:, :, [0, 2]]
    np.testing.assert_array_equal(followed, alike)


def test_what_others_depend_on_is_kept():
    """The tool depends on the position; the door and the light on nothing but the actions."""
    assert len(project(sf.tabulate(corridor()), [1]).values) == 6
    door = sf.tabulate(Door())
    assert len(project(door, [0]).values) == 3
    assert len(project(door, [2]).values) == 2
    assert len(project(door, [0, 2]).values) == 5, "an open door with the light off is no state"


def test_hidden_marks_that_matter_are_kept():
    """How many cells are muddy depends on which of them were; where the agent is does not."""
    mud = sf.tabulate(tiny_mud())
    names = mud.space.names
    tracks = names.index("muddy_cells")
    others = [j for j in range(len(names)) if j != tracks]
    assert len(project(mud, others).values) < mud.n_states
    assert len(project(mud, range(len(names))).values) == mud.n_states


@given(st.integers(0, 500))
def test_a_projection_has_the_distributions_of_the_table(seed):
    """Whatever is left out, the marginal distribution of what is kept is that of the table."""
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2), n_actions=2))
    projection = project(mdp, [0])
    for state in range(mdp.n_states):
        row = projection.of_state[state]
        for action in range(2):
            own, its = np.zeros(3), np.zeros(3)
            np.add.at(own, mdp.values[mdp.successors[state, action], 0],
                      mdp.probabilities[state, action])  # fmt: skip
            np.add.at(its, projection.values[projection.successors[row, action], 0],
                      projection.probabilities[row, action])  # fmt: skip
            assert own == pytest.approx(its)
