from __future__ import annotations

import numpy as np
import pytest

from skillfocus.errors import UserError
from skillfocus.worlds.adapters.stepping import (
    changed_settings,
    environment_notes,
    stepped_model,
)
from skillfocus.worlds.explored import ModelOutcome


class Counting:
    """Counts to 3, where episodes end; action 1 counts with probability 1/4."""

    def __init__(self):
        self.n, self.rng, self.sets = 0, np.random.default_rng(0), 0

    def state(self):
        return (self.n,)

    def reset(self, values, seed=None):
        self.sets += 1
        self.n = values[0]
        if seed is not None:
            self.rng = np.random.default_rng(seed)

    def step(self, action):
        self.n += action == 0 or self.rng.random() < 0.25
        return ModelOutcome(1.0, self.state(), self.n == 3)


def test_a_certain_step_is_one_outcome():
    model = stepped_model(Counting(), samples=1)
    assert model((1,), 0) == [ModelOutcome(1.0, (2,), False)]
    assert model((2,), 0) == [ModelOutcome(1.0, (3,), True)]


def test_frequencies_of_samples_stand_for_probabilities():
    outcomes = stepped_model(Counting(), samples=2000)((2,), 1)
    chances = {(values, ended): p for p, values, ended in outcomes}
    assert sum(chances.values()) == pytest.approx(1.0)
    assert chances[(3,), True] == pytest.approx(0.25, abs=0.05)


def test_setting_and_getting_is_checked_once_per_state():
    env = Counting()
    model = stepped_model(env, samples=1)
    model((1,), 0)
    assert env.sets == 2  # one to check, one to step
    model((1,), 1)
    assert env.sets == 3

    class Deaf(Counting):
        def reset(self, values, seed=None):
            self.n = 0

    with pytest.raises(
        UserError, match=r"setting the state \(2,\) and getting it again gives \(0,\)"
    ):
        stepped_model(Deaf(), samples=1)((2,), 0)


def test_no_samples_are_refused():
    with pytest.raises(UserError, match="samples is 0; it must be 1 to 10,000"):
        stepped_model(Counting(), samples=0)


def test_notes():
    assert list(environment_notes(1, None)) == []
    assert list(environment_notes(2000, None)) == [
        "probabilities are frequencies of 2,000 samples of each action, not exact",
    ]
    (note,) = environment_notes(1, 1000)
    assert "after 1,000 steps (truncation, not termination)" in note


def test_settings_that_are_stored():
    def factory(env, *, seed=0, samples=1, check=True, get_state=None, variables=None, **settings):
        pass

    called = {
        "env": "Lake", "seed": 0, "samples": 9, "check": False, "settings": {"slippery": False},
        "get_state": len, "variables": {"x": len},
    }  # fmt: skip
    stored = {"slippery": False, "samples": 9, "check": False}
    assert changed_settings(factory, called) == stored
    assert changed_settings(factory, {**called, "variables": ["x"]})["variables"] == ["x"]
