from __future__ import annotations

import json

from commands import command
from skillfocus.learners.registry import LEARNERS
from skillfocus.worlds.registry import BUILT_IN, WORLDS


def test_names_for_programs(tmp_path):
    document = json.loads(command("list", "--json", cwd=tmp_path).stdout)
    names = [world["name"] for world in document["worlds"]]
    assert names[:3] == ["four-rooms", "forage-world", "mud-world"]
    assert names == [*BUILT_IN]
    assert {w["name"]: w["combinations"] for w in document["worlds"]}["box"] == 11 * 11
    tables = [world["table"] for world in document["worlds"]]
    assert tables == [True] * len(WORLDS) + [False] * (len(names) - len(WORLDS))
    assert document["worlds"][-3] == {
        "name": "two-rooms", "id": "TwoRooms-v0", "combinations": None,
        "table": False, "continuous": True, "variables": {"agent": 2, "box": 2, "vase": 1, "lamp": 1},
    }  # fmt: skip
    assert document["learners"] == list(LEARNERS)
    assert {"focused-vic", "dusdi-diayn", "lsd"} <= set(document["objectives"])


def test_names_for_people(tmp_path):
    text = command("list", cwd=tmp_path).stdout
    assert "four-rooms" in text
    assert "combinations of values; skillfocus describe counts the states within reach" in text
    assert "Too large for tables, for networks only: tool-rooms, room-blocks, visible-mud" in text
    assert "particles  Particles-v0  distance_0 … distance_9 (1)" in text
    assert "Learners:    planning, q-learning" in text
