from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import skillfocus as sf
from paper.rooms import BestInRooms, SkillsInRooms, ToolStarts, draw_starts, plan, tool_rows
from skillfocus.progress import no_progress
from skillfocus.skills.policy import Policy
from skillfocus.worlds.jax.rooms import Rooms, ToolRooms

CORRIDOR = Rooms("#######\n#...T.#\n####T##\n#######", slip=0.0, step_limit=8)
"""Five cells in a row, the tool 0 in the fourth; the tool 1 below it."""


class PlannedPolicy(Policy):
    """The best skill of every tool, from any cell, while no other tool is picked up."""

    def __init__(self, world: Rooms) -> None:
        self.world = world
        self.plans = [plan(world, tool) for tool in range(len(world.tools))]
        self.context_variables = (("position",),) * len(world.tools)

    def actions(self, skill, starts, states, mode=0):
        cells, picked = states[:, 0], states[:, 1 + skill]
        return self.plans[skill].actions[picked * len(self.world.map.cells) + cells, starts[:, 0]]


def test_starts_are_cells_and_flags():
    starts = ToolStarts(0, (1,), np.array([1, 4]))
    assert starts.values(CORRIDOR).tolist() == [[1, 0, 1], [4, 0, 1]]


def test_fair_starts_leave_time_and_clear_ones_can_avoid_other_tools():
    # Of 8 steps, 6 are fair: the tool may be three cells away. The way to tool 1 leads over tool 0.
    ahead = ToolStarts(0, (), np.arange(5)).masks(CORRIDOR)
    assert ahead["fair"].tolist() == [True] * 5
    behind = ToolStarts(1, (), np.arange(5)).masks(CORRIDOR)
    assert behind["fair"].tolist() == [False, True, True, True, True]
    assert not behind["clear"].any()
    assert ToolStarts(1, (0,), np.arange(5)).masks(CORRIDOR)["clear"].tolist() == [
        False, True, True, True, True,
    ]  # fmt: skip


def test_rows_are_averages_over_the_starts_of_a_tool():
    starts = [ToolStarts(tool, (), np.array([0, 2])) for tool in (0, 1)]
    changes = np.array([1.0, 0.5, 0.25, 0.75])
    effects = np.array([0.0, 1.0, 2.0, 1.0])
    rows = {
        (name, tool): value for name, tool, value in tool_rows(CORRIDOR, starts, changes, effects)
    }
    assert rows["all/changes", 0] == 0.75
    assert rows["all/tool_effects", 1] == 1.5
    assert rows["fair/changes", 1] == 0.75  # cell 0 is too far from tool 1
    assert rows["fair/starts", 1] == 1
    assert rows["clear/changes", 1] is None
    assert rows["clear/starts", 1] == 0


def test_drawn_starts_are_the_same_for_everybody_and_begin_with_nothing_picked_up():
    world = ToolRooms(tools=6)
    first, second = (draw_starts(world, 3, 10) for _ in range(2))
    assert all(
        a.picked_up == b.picked_up and np.array_equal(a.cells, b.cells)
        for a, b in zip(first, second, strict=True)
    )
    assert [each.tool for each in first] == np.repeat(np.arange(6), 3).tolist()
    assert all(not each.picked_up for each in first[::3])
    assert any(each.picked_up for each in first)
    for each in first:
        assert each.tool not in each.picked_up
        assert all(a < b for a, b in pairwise(each.cells))


def test_sampled_effects_of_the_planned_skills_are_those_of_the_plan(monkeypatch):
    pytest.importorskip("jax")
    settings = '{"tools": 3, "slip": 0.0}'
    exact = BestInRooms("tool-rooms", draws=1, cells=12, world_settings=settings)
    world = ToolRooms(tools=3, slip=0.0)
    skills = sf.Skills(
        world, PlannedPolicy(world), tuple((name,) for name in world.goals), world.step_limit
    )
    sampled = SkillsInRooms(
        "tool-rooms", "focused-vic", 0, draws=1, cells=12, world_settings=settings
    )
    measured = sampled.measure(skills, no_progress).rows
    expected = exact.execute(no_progress).rows
    assert [row[:2] for row in measured] == [row[:2] for row in expected]
    assert [row[2] for row in measured] == pytest.approx([row[2] for row in expected], abs=1e-5)
