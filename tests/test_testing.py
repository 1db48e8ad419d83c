"""The checks that users put their worlds and objectives through find what is wrong."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.objectives.objective import FunctionEstimate
from skillfocus.testing import check_objective, check_world
from skillfocus.worlds.adapters import from_object
from skillfocus.worlds.four_rooms import FourRooms


class Pair(sf.World):
    id, actions = "Pair-v0", ("first", "second")
    space = sf.Space((sf.Variable("a", (0, 1)), sf.Variable("b", (0, 1))))

    def states(self):
        return itertools.product(range(2), range(2))

    def transition(self, state, action):
        flipped = [1 - v if j == action else v for j, v in enumerate(state)]
        return [sf.Outcome(1.0, tuple(flipped))]


def test_good_worlds_pass():
    for name in ("four-rooms", "forage-world", "mud-world"):
        assert check_world(sf.make(name)).n_states
    assert check_world(Pair()).n_states == 4


def broken(**changes):
    return type("Broken", (Pair,), changes)()


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        (7, "is not a World"),
        (broken(id=None), "needs id, a str"),
        (broken(actions=["a", "b"]), "needs actions, a tuple"),
        (broken(actions=("a", "a")), "two actions share a name"),
        (broken(step_limit=0), "step limit is 0"),
        (broken(states=lambda self: []), "names no state to start from"),
        (broken(states=lambda self: [(0, 5)]), "is not a state"),
        (broken(transition=lambda self, s, a: [sf.Outcome(0.5, s)]), "sum to 1"),
        (broken(transition=lambda self, s, a: [sf.Outcome(1.0, (9, 9))]), "is not a state"),
        (broken(draw=lambda self, s: 1 / 0), "draw fails in"),
        (broken(draw=lambda self, s: None), "draw returns None"),
        (broken(goals=("c",)), "goals names 'c', which is not a variable"),
        (broken(default_target="c"), "default_target names 'c'"),
        (broken(fixed=("c",)), "fixed names 'c'"),
        (broken(settings={"a": object()}), "cannot be stored as JSON"),
        (broken(transition=lambda self, s, a: [sf.Outcome(1.0, (1 - s[0], s[1]))]),
         "no action changes b"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_world_is_said(world, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        check_world(world)


def test_chance_in_a_transition_is_found():
    rng = np.random.default_rng(0)
    world = broken(transition=lambda self, s, a: [sf.Outcome(1.0, (int(rng.integers(2)), s[1]))])
    with pytest.raises(sf.UserError, match="returns other outcomes when it is asked again"):
        check_world(world)


class Dial:
    variables = {"dial": (0, 1, 2)}
    actions = ("turn",)

    def __init__(self):
        self.dial = 0

    def get(self):
        return {"dial": self.dial}

    def set(self, state):
        self.dial = state["dial"]

    def step(self, action):
        self.dial = (self.dial + 1) % 3


def test_set_then_get_is_the_identity():
    class Forgetful(Dial):
        broken = False

        def set(self, state):
            self.dial = 0 if self.broken else state["dial"]

    world = from_object(thing := Forgetful())
    thing.broken = True
    with pytest.raises(sf.UserError, match="set, then get, is not the identity"):
        check_world(world)


def test_steps_that_seeds_do_not_decide_are_found():
    class Loose(Dial):
        rng = np.random.default_rng(0)

        def step(self, action):
            if self.rng.random() < 0.5:
                super().step(action)

    with pytest.raises(sf.UserError, match="equal seeds give different steps"):
        check_world(from_object(Loose(), samples=200))


def test_settings_that_make_another_world_are_found():
    class Slippery(FourRooms):
        @property
        def settings(self):
            return {**super().settings, "slip": 0.5}

    with pytest.raises(sf.UserError, match="its settings recreate another world"):
        check_world(Slippery())


@pytest.mark.parametrize("objective", [sf.vic(), sf.diayn(), sf.lsd(), sf.dusdi(sf.vic())])
def test_good_objectives_pass(objective):
    check_objective(objective)


def reward(params, values, skill, start, value):
    return 1.0 if value == skill else 0.0


def undefined(params, values, skill, start, value):
    return np.log(value * 1.0) if start == 0 else 0.0


def divided(params, values, skill, start, value):
    return 1.0 / value


def left(params, values, skill, start, value):
    return 1.0 if value != start else 0.0


def explode(params, values, skill, start, value, rate):
    params[0, 0, 0] = params[0, 0, 0] * 1e30 + 1e30


def text(params, values, skill, start, value):
    return str(value)


def own(function, uses_start=True, **settings):
    """An objective whose reward is one function of its own parameters."""
    estimate = FunctionEstimate(function, **settings)
    return sf.Objective("own", sf.Reward("own", lambda r: r, estimate, uses_start=uses_start))


CALLS = itertools.count()


def unequal(n, n_starts, values, rng):
    return np.full((1, 1, 1), next(CALLS), dtype=np.float32)


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        (own(undefined), "is -inf at first; it must be a finite number"),
        (own(reward, update=explode), "infinite or undefined"),
        (own(text), "cannot be compiled"),
        (own(lambda params, values: 0.0), "cannot be compiled"),
        (own(divided), "fails: division by zero"),
        (own(left, uses_start=False), "depends on where a skill started"),
        ("vic", "is no Objective"),
        (own(reward, init=lambda *_: np.zeros((2, 2))), "float32 array of three"),
        (own(reward, init=unequal), "not the same for equal generators"),
        (own(reward, rate=object()), "cannot be described in JSON"),
    ],
)
def test_what_is_wrong_with_an_objective_is_said(objective, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        check_objective(objective)


def test_an_objective_of_ones_own_passes():
    check_objective(own(reward, uses_start=False))
