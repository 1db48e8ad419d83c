"""Where a page starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from skill_sets import make_skills
from skillfocus.metrics.reachability import round_trips
from skillfocus.viewer.payload import AMPLE_SHARE, choose_start_state


@pytest.mark.parametrize(
    ("name", "trip", "cells"), [("FourRooms", 22, 0), ("ForageWorld", 12, 3), ("MudWorld", 12, 3)]
)
def test_it_begins_where_slips_can_be_made_up_for(name, trip, cells):
    world = sf.make(f"{name}-v0")
    mdp = sf.tabulate(world)
    nothing = np.full(mdp.n_states, mdp.n_actions, np.uint8)
    skills = make_skills(world, mdp, ((),), ((),), nothing, world.step_limit)
    start = choose_start_state(skills)
    goals = [[mdp.space.index(goal)] for goal in world.goals]
    assert max(round_trips(mdp, goal, np.array([start]))[0] for goal in goals) == trip
    assert trip <= AMPLE_SHARE * world.step_limit
    (here, *others), (usual, *as_usual) = mdp.state(start), world.showcase
    assert others == as_usual
    (row, column), (usual_row, usual_column) = world.map.cells[here], world.map.cells[usual]
    assert abs(row - usual_row) + abs(column - usual_column) == cells
    hasty = replace(skills, step_limit=2)  # nowhere is near enough
    assert choose_start_state(hasty) == mdp.number(world.showcase)
