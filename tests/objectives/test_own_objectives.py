"""Objectives in files of the user's, by `FILE.py:NAME`."""

from __future__ import annotations

import pytest

import skillfocus as sf
from probes import corridor
from skillfocus.objectives.registry import from_dict, make_objective, own_objective_digest

FILE = """
import skillfocus as sf


def at_its_value(component, start, value):
    return 1.0 if value == component else 0.0


reach = sf.Objective("reach", sf.Reward("reach", at_its_value, uses_start=False))


def rotate(rate=0.5):
    return sf.vic(rate)


def raises():
    raise RuntimeError("no")


def needs(something):
    return reach


focused_reach = sf.focused(reach)
number = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(FILE)
    return tmp_path


def test_an_objective_in_a_file(folder):
    skills = sf.discover(corridor(), "focused-my.py:reach", seed=0, targets={"tool_1": 2})
    # Component 1 of the tool is its value 1: the second skill fetches it, the first leaves it.
    assert [e.changes_target for e in sf.metrics.side_effects(skills)] == [0.0, 1.0]
    assert "focused-reach" in repr(skills)
    absolute = make_objective(f"{folder}/my.py:reach")
    assert absolute is make_objective("my.py:reach"), "a file is run once"


def test_variants_and_settings():
    assert make_objective("my.py:reach").name == "reach"
    assert make_objective("focused-my.py:rotate").name == "focused-vic"
    assert make_objective("my.py:rotate", rate=0.25).reward.estimate.rate == 0.25
    focused = make_objective("focused-my.py:rotate", rate=0.25, strength=7.0)
    assert (focused.penalty.strength, focused.reward.estimate.rate) == (7.0, 0.25)
    assert make_objective("my.py:focused_reach", strength=3.0).penalty.strength == 3.0
    weighted = make_objective("dusdi-my.py:rotate", weight=0.5)
    assert weighted.weight == 0.5
    assert make_objective("scattered-focused-my.py:rotate").modes == "scattered"
    assert make_objective("focused-vic", strength=2.0) == make_objective(
        "focused-vic", strength=2.0
    )


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("my.py:raech", {}, "unknown name in my.py 'raech': did you mean 'reach'"),
        ("none.py:reach", {}, "there is no file none.py"),
        ("my.py:number", {}, "must be an Objective, or a function that returns one"),
        ("my.py:raises", {}, r"my.py:raises does not work \(line 17\): RuntimeError: no"),
        ("my.py:needs", {}, "cannot be called with no arguments"),
        ("my.py:reach", {"rate": 0.5}, "is an objective already, so it takes no rate"),
        ("my.py:reach", {"strength": 2.0}, "has no penalty, so it takes no strength"),
        ("dusdi-my.py:reach", {}, "needs an objective with a discriminator"),
        ("focused-my.py:focused_reach", {}, "already gives skills targets"),
    ],
)
def test_mistakes_are_named(name, settings, message):
    with pytest.raises(sf.UserError, match=message):
        make_objective(name, **settings)


def test_skills_files_cannot_name_files():
    """What a file says must not run another one."""
    with pytest.raises(sf.UserError, match="a file of your own, which is not run"):
        from_dict({"name": "focused-my.py:reach", "rate": 0.0})


def test_a_run_changes_with_its_file(folder):
    first = sf.Discovery("four-rooms", "focused-my.py:reach", 0)
    assert first.id == sf.Discovery("four-rooms", "focused-my.py:reach", 0).id
    assert own_objective_digest("focused-vic") is None
    assert sf.Discovery("four-rooms", "focused-vic", 0).settings()["objective_file"] is None
    (folder / "my.py").write_text(FILE.replace("1.0 if", "2.0 if"))
    assert sf.Discovery("four-rooms", "focused-my.py:reach", 0).id != first.id
