from __future__ import annotations

import json

from commands import command
from skillfocus.learners.registry import LEARNERS
from skillfocus.sweeps.paper_grids import PAPER_GRIDS


def test_names_for_programs(tmp_path):
    document = json.loads(command("list", "--json", cwd=tmp_path).stdout)
    names = [world["name"] for world in document["worlds"]]
    assert names == ["four-rooms", "forage-world", "mud-world"]
    assert document["learners"] == list(LEARNERS) == ["planning", "q-learning", "literal"]
    assert document["sweeps"] == list(PAPER_GRIDS)
    assert {"focused-vic", "dusdi-diayn", "lsd"} <= set(document["objectives"])
    assert "coverage" in document["experiments"]


def test_names_for_people(tmp_path):
    text = command("list", cwd=tmp_path).stdout
    assert "four-rooms" in text
    assert "Learners:    planning, q-learning" in text
