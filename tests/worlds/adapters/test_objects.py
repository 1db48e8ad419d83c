"""Python objects as worlds."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import skillfocus as sf
from skillfocus.testing import check_world
from skillfocus.worlds.adapters import from_object


class Lamps:
    """With get, set and step."""

    variables = {"hand": (0, 1), "lamp": ("off", "on")}
    actions = ("move", "press")

    def __init__(self):
        self.state = {"hand": 0, "lamp": "off"}

    def get(self):
        return dict(self.state)

    def set(self, state):
        self.state = dict(state)

    def step(self, action):
        if action == "move":
            self.state["hand"] = 1 - self.state["hand"]
        elif self.state["hand"]:
            self.state["lamp"] = "off" if self.state["lamp"] == "on" else "on"


class Chances:
    """With transition."""

    variables = {"hand": (0, 1), "vase": sf.Variable("vase", (0, 1), scale=3.0)}
    actions = ("move", "knock")

    def transition(self, state, action):
        if action == "move":
            return [(1.0, {**state, "hand": 1 - state["hand"]})]
        return [(0.25, {**state, "vase": 1}, True), (0.75, state)]


def test_get_set_step():
    world = from_object(Lamps())
    assert check_world(world).n_states == 4
    assert world.transition((1, 0), 1) == [sf.Outcome(1.0, (1, 1))]
    assert world.transition((0, 0), 1) == [sf.Outcome(1.0, (0, 0))]
    assert list(world.states()) == [(0, 0)]


def test_transition():
    world = from_object(Chances())
    assert check_world(world).n_states == 6
    assert len(list(world.states())) == 4
    assert world.space.variables[1].largest_distance == 3.0
    # a broken vase is met both as a first state and as what ends an episode
    assert world.space.names == ("hand", "vase", "ended")
    assert {o.probability for o in world.transition((0, 0, 0), 1)} == {0.25, 0.75}


def test_starts_of_ones_own():
    class Some(Chances):
        def starts(self):
            return [{"hand": 1, "vase": 0}]

    world = from_object(Some())
    assert list(world.states()) == [(1, 0)]
    assert world.space.names == ("hand", "vase")


def test_a_random_step():
    class Loose(Lamps):
        def __init__(self):
            super().__init__()
            self.seed(0)

        def seed(self, seed):
            self.rng = np.random.default_rng(seed)

        def step(self, action):
            if self.rng.random() < 0.5:
                super().step(action)

    with pytest.raises(sf.UserError, match="raise samples=… or give transition"):
        from_object(Loose())
    world = from_object(Loose(), samples=400)
    assert check_world(world)
    (stay,) = (o.probability for o in world.transition((0, 0), 0) if o.state == (0, 0))
    assert stay == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"variables": None}, "needs variables, as in"),
        ({"actions": "press"}, "needs actions, as in"),
        ({"step": None}, "has no step; give it get, set and step, or transition"),
        (
            {"step": lambda self, action: (0, 0.0, False)},
            "must return whether the episode has ended",
        ),
        ({"set": lambda self, state: None}, "setting the state .* and getting it again gives"),
        ({"get": lambda self: {"hand": 0}}, "is not a state; it needs a value for each of"),
        (
            {"get": lambda self: {"hand": 7, "lamp": "on"}},
            "but hand has only the values .0, 1.: add 7 to them",
        ),
    ],
)
def test_mistakes(changes, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        from_object(type("Broken", (Lamps,), changes)())


@pytest.mark.parametrize(
    "given",
    [{"hand": 0, "vase": 0}, {}, None, [{"hand": 0, "vase": 0}], (1.0, {"hand": 0}), [(0.5,)]],
)
def test_what_transition_must_return(given):
    broken = type("Broken", (Chances,), {"transition": lambda self, state, action: given})()
    with pytest.raises(sf.UserError, match=r"must return a list of \(probability, state\) pairs"):
        from_object(broken)
    bare = type(
        "Generated", (Chances,), {"transition": lambda self, state, action: iter([(1, state)])}
    )
    assert from_object(bare()).transition((0, 0), 0) == [sf.Outcome(1.0, (0, 0))]


def test_a_class_is_not_an_object():
    with pytest.raises(sf.UserError, match=r"Lamps is a class: pass an object, Lamps\(\)"):
        from_object(Lamps)


def test_what_an_object_raises_names_state_and_action():
    def fail(self, *_):
        raise ZeroDivisionError("boom")

    for kind, method in ((Chances, "transition"), (Lamps, "step")):
        place = (
            r"fails in \{'hand': 0, .*\} for 'move': ZeroDivisionError: boom \(test_objects.py, "
        )
        with pytest.raises(sf.UserError, match=rf"object:Failing: {method} {place}"):
            from_object(type("Failing", (kind,), {method: fail})())

    def late(self, state, action):
        yield 1.0, state
        fail(self)

    with pytest.raises(sf.UserError, match=r"transition fails in .* for 'move': ZeroDivisionError"):
        from_object(type("Failing", (Chances,), {"transition": late})())


def test_an_environment_of_gymnasium_is_told_its_adapter():
    with pytest.raises(
        sf.UserError, match=r"a Gymnasium environment: use from_gymnasium, .*FILE.py"
    ):
        from_object(gymnasium.make("Taxi-v4"))
    with pytest.raises(sf.UserError, match=r"is not a World: .*adapters.from_gymnasium$"):
        sf.tabulate(gymnasium.make("Taxi-v4"))  # pyright: ignore[reportArgumentType]


def test_playing():
    world = from_object(Lamps())
    moves = iter([0, 1, None])
    assert list(world.play(lambda state: next(moves), (0, 0))) == [(0, 0), (1, 0), (1, 1)]
    with pytest.raises(sf.UserError, match="not explored in an environment"):
        list(from_object(Chances()).play(lambda state: None, (0, 0, 0)))


def test_seeds_decide_what_samples_find():
    class Coin(Lamps):
        def seed(self, seed):
            self.rng = np.random.default_rng(seed)

        def step(self, action):
            if self.rng.random() < 0.3:
                super().step(action)

    prints = [
        sf.tabulate(from_object(Coin(), samples=60, seed=seed)).fingerprint for seed in (0, 0, 1)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_group_may_have_a_member_s_name():
    world = from_object(Lamps(), groups={"hand": ["hand", "lamp"]})
    assert world.space.variables[0].values == ((0, "off"), (0, "on"), (1, "off"), (1, "on"))
