"""Python objects as worlds, and worlds by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.core.world import World
from skillfocus.runs import discovery_run as discovery
from skillfocus.testing import check_world
from skillfocus.worlds.adapters import from_object
from skillfocus.worlds.catalogue import make


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
        ({"get": lambda self: {"hand": 0}}, "is no state; it takes a value for each of"),
        (
            {"get": lambda self: {"hand": 7, "lamp": "on"}},
            "but hand has the values .0, 1. only: list 7 too",
        ),
    ],
)
def test_mistakes(changes, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        from_object(type("Broken", (Lamps,), changes)())


def test_a_class_is_not_an_object():
    with pytest.raises(sf.UserError, match=r"Lamps is a class: pass an object, Lamps\(\)"):
        from_object(Lamps)


def test_playing():
    world = from_object(Lamps())
    moves = iter([0, 1, None])
    assert list(world.play(lambda state: next(moves), (0, 0))) == [(0, 0), (1, 0), (1, 1)]
    with pytest.raises(sf.UserError, match="not explored in an environment"):
        list(from_object(Chances()).play(lambda state: None, (0, 0, 0)))


FILE = """
import skillfocus as sf

class Lamps:
    variables = {"hand": (0, 1), "lamp": ("off", "on")}
    actions = ("move", "press")
    def transition(self, state, action):
        if action == "move":
            return [(1.0, {**state, "hand": 1 - state["hand"]})]
        return [(1.0, {**state, "lamp": "on"})]

class Proper(sf.World):
    id, actions = "Proper-v0", ("go",)
    space = sf.FactoredSpace((sf.Variable("a", (0, 1)), sf.Variable("b", (0, 1))))
    def states(self):
        return [(0, 0)]
    def transition(self, state, action):
        return [sf.Outcome(1.0, (1 - state[0], state[1]))]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_worlds.py"
    path.write_text(FILE)
    return path


def test_worlds_by_name(file):
    assert make("four-rooms", slip=0.0).settings["slip"] == 0.0
    assert make("gymnasium:FrozenLake-v1").space.names == ("row", "column")
    assert make(f"{file}:Lamps").id == "object:Lamps"
    assert make(f"{file}:Lamps", step_limit=7).step_limit == 7
    assert make(f"{file}:Proper").id == "Proper-v0"


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("five-rooms", {}, "did you mean 'four-rooms'"),
        ("Taxi-v4", {}, "did you mean 'gymnasium:Taxi-v4'"),
        ("nothing.py:Lamps", {}, "there is no file nothing.py"),
        ("nothing.txt", {}, "nothing.txt"),
        ("gymnasium:os:Taxi-v4", {}, "names a module"),
        ("gymnasium:Taxi-v4", {"rain": 1}, "cannot make Taxi-v4"),
        ("four-rooms", {"slips": 1}, "does not take these settings"),
        ("rddl:nowhere/1", {}, "nowhere"),
        ("own.py", {}, "say which class, as in own.py:NAME"),
        ("gymnasium:FrozenLake-v1", {"map_name": "9x9"}, "cannot make FrozenLake-v1 with"),
    ],
)
def test_mistakes_in_names(name, settings, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        make(name, **settings)


def test_mistakes_in_files(file):
    broken = file.with_name("broken.py")
    broken.write_text("def f(:\n")
    with pytest.raises(sf.UserError, match="cannot be run: SyntaxError"):
        make(f"{broken}:f")
    broken.write_text(
        "from my_worlds import Lamps\nclass Choosy:\n    def __init__(self, a): pass\n"
    )
    assert make(f"{broken}:Lamps").id == "object:Lamps"  # a file beside it can be imported
    with pytest.raises(sf.UserError, match="missing a required argument: 'a'"):
        make(f"{broken}:Choosy")
    with pytest.raises(sf.UserError, match="did you mean 'Lamps'"):
        make(f"{file}:Lamp")
    with pytest.raises(sf.UserError, match="does not take these settings"):
        make(f"{file}:Lamps", slip=0.1)


def test_skills_of_other_worlds_are_files_too(tmp_path):
    """The world is made again from its name; one of a user's own class must be passed."""
    quick = sf.Planning(rounds=1)
    world = make("gymnasium:FrozenLake-v1", is_slippery=False, step_limit=9)
    path = tmp_path / "lake.skills"
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=quick)
    skills.save(path)
    again = sf.Skills.load(path)
    assert again == skills
    assert again.world.settings == {"is_slippery": False, "step_limit": 9}
    own = sf.discover(
        from_object(Lamps()), sf.focused(sf.vic()), seed=0, learner=quick, targets={"lamp": 2}
    )
    own.save(path)
    with pytest.raises(sf.UserError, match="pass the world"):
        sf.Skills.load(path)
    assert sf.Skills.load(path, from_object(Lamps())) == own


def test_a_run_knows_when_a_world_of_the_same_name_has_changed(file):
    run = sf.Discovery(f"{file}:Lamps", "focused-vic", 0, targets="lamp=2")
    before, settings = run.id, json.loads(str(run.settings()["world_settings"]))
    assert set(settings) == {"fingerprint"}
    assert run.unusual() == {"skills": 2, "targets": '{"lamp": 2}'}
    file.write_text(FILE.replace('{**state, "lamp": "on"}', '{**state, "lamp": "on", "hand": 0}'))
    discovery.cached_world.cache_clear()
    discovery.cached_mdp.cache_clear()
    assert sf.Discovery(f"{file}:Lamps", "focused-vic", 0, targets="lamp=2").id != before


def test_a_subclass_of_a_built_in_world_is_another_run(tmp_path):
    (tmp_path / "own.py").write_text(
        "from skillfocus.worlds.four_rooms import FourRooms\n"
        "class Mine(FourRooms):\n"
        "    def arrive(self, state, cell):\n"
        "        return super().arrive([*state[:1], *[0] * 4], cell)\n"
    )
    mine = sf.Discovery(f"{tmp_path}/own.py:Mine", "focused-vic", 0)
    assert mine.make_world().id == "FourRooms-v0"
    assert mine.id != sf.Discovery("four-rooms", "focused-vic", 0).id
    assert make(f"{tmp_path}/own.py:Mine", slip=0.0).settings["slip"] == 0.0
    with pytest.raises(sf.UserError, match="does not take these settings"):
        make(f"{tmp_path}/own.py:Mine", nonsense=3)


def test_a_run_of_a_world_that_needs_its_settings():
    """Blackjack cannot be made without samples; its label says them, and no fingerprint."""
    settings = '{"samples": 200, "resets": 3}'
    run = sf.Discovery("gymnasium:Blackjack-v1", "focused-vic", 0, world_settings=settings)
    assert run.unusual() == {"world_settings": '{"resets": 3, "samples": 200}'}
    assert "samples" in run.label
    assert "fingerprint" not in run.label


def test_a_file_of_skills_cannot_have_a_file_run(tmp_path):
    """Not even through an environment of this project, whose world is an argument."""
    (tmp_path / "evil.py").write_text("raise SystemExit('executed')")
    skills = sf.discover(
        make("gymnasium:FrozenLake-v1"), sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1)
    )
    for name in ("gymnasium:skillfocus/FourRooms-v0", f"{tmp_path}/evil.py:X"):
        forged = replace(skills)
        forged.world.id = name
        forged.world._settings = {"world": f"{tmp_path}/evil.py:X", "task": None}
        path = forged.save(tmp_path / "evil.skills")
        with pytest.raises(sf.UserError, match="pass the world"):
            sf.Skills.load(path)


def test_a_higher_limit_goes_all_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(World, "limit", 10)
    monkeypatch.setattr("skillfocus.worlds.adapters.gymnasium.STATE_LIMIT", 10)
    with pytest.raises(sf.UserError, match="more than 10 states"):
        make("gymnasium:FrozenLake-v1", limit=10)
    world = make("gymnasium:FrozenLake-v1", limit=20)
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1))
    assert sf.Skills.load(skills.save(tmp_path / "lake.skills")) == skills


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
