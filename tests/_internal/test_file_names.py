from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillfocus._internal.file_names import file_name


@given(st.text(), st.sampled_from(["", "_0123456789abcdef", ".png"]))
def test_every_text_becomes_a_name_for_every_file_system(text, ending):
    name = file_name(text, ending)
    assert re.fullmatch(r"[A-Za-z0-9.+=_-]+", name)
    assert not name.endswith(".")
    assert name.endswith(ending)
    assert len(name) <= 101 + len(ending)


@pytest.mark.parametrize("text", ["con", "NUL", "com1", "Lpt9.txt", "aux."])
def test_names_that_windows_reserves_are_changed(text):
    assert file_name(text) == "_" + text.rstrip(".")
    assert file_name(text, "_0") != file_name(text)


def test_stored_runs_keep_their_names():
    label = "FourRooms-v0_focused-vic_planning_rounds=3_gamma=0.95_seed0"
    assert file_name(label, "_0123456789abcdef") == f"{label}_0123456789abcdef"
    rddl = 'rddl:Elevators_MDP/1_vic_planning_world_settings={"limit": 5}_seed1'
    assert file_name(rddl, "_ff") == (
        "rddl_Elevators_MDP_1_vic_planning_world_settings=_limit_5_seed1_ff"
    )
    assert file_name("x" * 99 + ".5", "_ff") == "x" * 99 + "._ff"
