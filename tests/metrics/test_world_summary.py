from __future__ import annotations

import json
from typing import Any

import skillfocus as sf
from probes import Button, Door
from skillfocus.metrics import summary
from skillfocus.metrics.summary import describe, list_values, remarks
from skillfocus.world import Outcome


def test_a_description_says_so():
    found: Any = describe(Door(), sf.tabulate(Door()))
    assert {v["name"]: v["changes"] for v in found["variables"]} == {
        "door": "partly for good", "wall": "never", "light": "for good",
    }  # fmt: skip
    assert found["notes"] == [
        "no action changes wall, so no skill targets it by default",
        "door: once it has left locked it never comes back",
    ]
    assert [v["alone"] for v in found["variables"]] == [0.8, None, 1.0]
    assert (found["states"], found["actions"]) == (10, ["turn", "push"])
    assert list_values((1, 2)) == "1, 2"
    assert list_values(tuple(range(9))) == "0 … 8"


def test_what_never_changes_alone_is_said():
    class Twins(Door):
        """Pushing the door always turns the light, and nothing else does."""

        def transition(self, state, action):
            door, wall, _ = state
            return [Outcome(1.0, (0, wall, 0) if action == 0 else (1 if door == 0 else 2, wall, 1))]

    notes = list(remarks(Twins(), sf.tabulate(Twins())))
    assert any(note.startswith("light never changes alone") for note in notes)
    assert not any(note.startswith("door never") for note in notes)


def test_what_only_moves_on_is_said_if_it_has_stages():
    """A counter from 0 to 2 does; a lamp that is lit for good has nothing between off and on."""

    class Counter(sf.World):
        id, actions = "Counter-v0", ("count", "light")
        space = sf.Space((sf.Variable("count", (0, 1, 2)), sf.Variable("lamp", (0, 1))))

        def states(self):
            return [(0, 0)]

        def transition(self, state, action):
            count, lamp = state
            return [Outcome(1.0, (min(count + 1, 2), lamp) if action == 0 else (count, 1))]

    (note,) = remarks(Counter(), sf.tabulate(Counter()))
    assert note.startswith("count only moves on, so its skills are judged from states in which it")
    assert not any("moves on" in note for note in remarks(Button(), sf.tabulate(Button())))


def test_many_names_are_cut_and_the_world_s_own_notes_come_first(monkeypatch):
    world = Door()
    world.notes = ("a note of its own",)
    alone = {f"v{i}": 0.0 for i in range(7)}
    monkeypatch.setattr(summary, "isolated_change_chances", lambda *_: alone)
    first, _, cut, *_ = remarks(world, sf.tabulate(world))
    assert first == "a note of its own"
    assert cut.startswith("v0, v1, v2, v3, v4, v5, … never change alone")


def test_a_description_fits_into_json(four_rooms, four_rooms_table):
    summary: Any = describe(four_rooms, four_rooms_table)
    assert json.loads(json.dumps(summary)) == summary
    assert summary["variables"][0]["listed"] == "(1, 1) … (11, 11)"
    assert [v["skills"] for v in summary["variables"]] == [8, 2, 2, 2, 2]
