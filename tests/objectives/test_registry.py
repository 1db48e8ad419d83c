"""Objectives by name."""

from __future__ import annotations

import skillfocus as sf
from commands import command
from skill_sets import CORRIDOR
from skillfocus.objectives.registry import ALGORITHMS, make_objective, objective_names


def test_names_are_algorithms_with_their_variants():
    assert objective_names() == (
        "vic", "diayn", "lsd", "dusdi-vic", "dusdi-diayn",
        "focused-vic", "focused-diayn", "focused-lsd", "focused-reach",
        "focused-change",
    )  # fmt: skip


def test_variants_are_applied_from_the_inside_out():
    assert make_objective("focused-vic", strength=3.0) == sf.focused(sf.vic(), strength=3.0)
    assert make_objective("dusdi-diayn", weight=0.3) == sf.dusdi(sf.diayn(), weight=0.3)
    scattered = make_objective("scattered-focused-lsd", rate=0.2)
    assert scattered == sf.scattered(sf.focused(sf.lsd(0.2)))
    assert scattered.reward.estimate.rate == 0.2


def visit(rate: float = 0.0) -> sf.Objective:
    """Skill k is to end at value k."""
    del rate
    return sf.Objective(
        "visit",
        sf.Reward("visit", lambda component, start, value: 1.0 * (value == component)),
    )


def test_one_entry_adds_an_algorithm_everywhere(monkeypatch, tmp_path):
    """As CONTRIBUTING.md says: a file with a factory, and one entry of ALGORITHMS."""
    monkeypatch.setitem(ALGORITHMS, "visit", visit)
    assert {"visit", "focused-visit"} <= set(objective_names())
    assert "dusdi-visit" not in objective_names()  # it has no discriminator
    assert make_objective("focused-visit").penalty.strength == 4.0
    listed = command("list", cwd=tmp_path)
    assert "focused-visit" in listed.stdout
    run = sf.Discovery(
        "four-rooms", "focused-visit", 0, sf.Planning(rounds=1), targets="tool_1=2",
        world_settings=CORRIDOR,
    )  # fmt: skip
    rows = {(m, s): v for m, s, v in run.execute(lambda *_: None).rows}
    assert rows["changes_target", 1] > 0.9
    assert rows["changes_target", 0] == 0.0
