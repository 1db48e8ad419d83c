from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

import skillfocus as sf

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def four_rooms():
    return sf.make("FourRooms-v0")


@pytest.fixture(scope="session")
def four_rooms_table(four_rooms):
    return sf.tabulate(four_rooms)


@pytest.fixture(scope="session")
def focused_vic(four_rooms):
    """Focused VIC skills in FourRooms, planned for fewer rounds than by default."""
    return sf.discover(four_rooms, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=30))


@pytest.fixture
def rng():
    return np.random.default_rng(0)
