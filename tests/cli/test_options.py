from __future__ import annotations

import json
import re

import pytest

import skillfocus as sf
from commands import command
from skillfocus.cli.commands import Discover
from skillfocus.discovery import Discovery
from skillfocus.errors import UserError
from skillfocus.learners.registry import LEARNERS, LearnerEntry


def options(**given):
    return Discover(world="four-rooms", objective="focused-vic", **given)


@pytest.mark.parametrize(
    ("given", "learner"),
    [
        ({}, sf.Planning()),
        ({"rounds": 3, "gamma": 0.9}, sf.Planning(rounds=3, gamma=0.9)),
        ({"learner": "q-learning", "episodes": 5}, sf.QLearning(episodes=5)),
        ({"learner": "q-learning", "preset": "paper"}, sf.paper_q_learning()),
    ],
)
def test_a_learner_from_its_options(given, learner):
    assert options(**given).make_learner() == learner


def test_a_discount_is_the_one_given_whatever_the_learner_s_own():
    given = Discover(world="two-rooms", objective="focused-vic", learner="neural", gamma=0.99)
    assert given.make_learner() == sf.Actor(gamma=0.99) != sf.Actor()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"episodes": 5}, "--episodes belongs to --learner q-learning"),
        ({"preset": "paper"}, "--preset belongs to --learner q-learning"),
        ({"learner": "q-learning", "rounds": 5}, "--rounds belongs to --learner planning"),
    ],
)
def test_options_of_another_learner_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        options(**given).make_learner()


def test_a_learner_is_registered_in_one_place(monkeypatch):
    """An entry in LEARNERS is enough for `make_learner`; names in help are read at import."""
    eager = LearnerEntry("skillfocus:Planning", options=("rounds",))
    monkeypatch.setitem(LEARNERS, "eager", eager)
    assert options(learner="eager", rounds=1).make_learner() == sf.Planning(rounds=1)


def test_defaults_are_those_of_the_library():
    given = options()
    run = Discovery("four-rooms", "focused-vic", 0, given.make_learner(), **given.settings())
    assert run == Discovery("four-rooms", "focused-vic", 0)


def test_the_examples_of_world_settings_work(tmp_path):
    """Help names the world that each example is for."""
    for name in ("describe", "discover"):
        text = " ".join(command(name, "--help", cwd=tmp_path).stdout.replace("│", " ").split())
        settings, world = re.search(r"such as '(\{[^']*\})' for ([a-z-]+)", text).groups()
        assert (
            sf.make(world, **json.loads(settings)).settings.items() >= json.loads(settings).items()
        )
