"""Skill sets and pages, made once."""

from __future__ import annotations

import pytest

import skillfocus as sf
from pages import READY, WORLDS, quick
from skillfocus.tasks.solving import SMDPQLearning, solve
from skillfocus.tasks.task import task_of
from skillfocus.viewer.page import write_page
from skillfocus.viewer.payload import SkillSetView


@pytest.fixture(scope="session")
def sets():
    """Focused VIC and DIAYN skills of the three worlds, not learned well."""
    worlds = [sf.make(name) for name in WORLDS]
    return [quick(world, sf.focused(make())) for world in worlds for make in (sf.vic, sf.diayn)]


@pytest.fixture(scope="session")
def rooms(focused_vic, four_rooms, four_rooms_table):
    """Focused and plain skills of FourRooms, and a task learned with the first."""
    task = task_of(four_rooms, four_rooms_table)
    found = solve(
        four_rooms_table, task, focused_vic, seed=0,
        settings=SMDPQLearning(episodes=4000, final_runs=10),
    )  # fmt: skip
    return [
        SkillSetView(focused_vic, task=task, solution=found, coverage=[0.1, 0.2, 0.3, 0.4, 0.5]),
        SkillSetView(quick(four_rooms, sf.diayn())),
    ]


@pytest.fixture(scope="session")
def rooms_page(rooms, tmp_path_factory):
    return write_page(rooms, tmp_path_factory.mktemp("page") / "rooms.html")


@pytest.fixture
def opened(page, rooms_page):
    """The page of FourRooms, not moving."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(READY)
    return page
