"""Worlds by name."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skillfocus as sf
from skillfocus import discovery
from skillfocus.world import World
from skillfocus.worlds import registry
from skillfocus.worlds.adapters import from_object
from skillfocus.worlds.registry import BUILT_IN, SOURCES, WORLD_IDS, WORLDS, can_remake, make


class Lamps:
    variables = {"hand": (0, 1), "lamp": ("off", "on")}
    actions = ("move", "press")

    def transition(self, state, action):
        if action == "move":
            return [(1.0, {**state, "hand": 1 - state["hand"]})]
        return [(1.0, {**state, "lamp": "on"})]


def test_ids_written_out_for_gymnasium_agree_with_the_registry():
    """`import skillfocus` must not import worlds, so their ids are listed a second time."""
    assert tuple(world.id for world in WORLDS.values()) == sf._WORLD_IDS


@pytest.mark.parametrize("name", [*WORLDS, *(world.id for world in WORLDS.values())])
def test_built_in_worlds_by_short_name_and_id(name):
    world = make(name, step_limit=7)
    assert type(world) is (WORLDS.get(name) or WORLD_IDS[name])
    assert world.settings["step_limit"] == 7
    assert can_remake(world.id)


def test_one_entry_adds_a_built_in_world_or_a_source(monkeypatch):
    class Tiny(World):
        id, actions = "Tiny-v0", ("go",)
        space = sf.Space((sf.Variable("a", (0, 1)),))

        def __init__(self, start=0):
            self.start = start

        def states(self):
            return [(self.start,)]

        def transition(self, state, action):
            return [sf.Outcome(1.0, (1 - state[0],))]

    monkeypatch.setitem(BUILT_IN, "tiny", Tiny)
    assert list(make("tiny", start=1).states()) == [(1,)]

    def make_tiny(rest, *, start=0):
        return Tiny(start + int(rest))

    monkeypatch.setitem(SOURCES, "tiny", registry.Source(make_tiny, "tiny:N"))
    assert list(make("tiny:1").states()) == [(1,)]
    assert not can_remake("tiny:1"), "files make nothing that was not declared safe"
    safe = registry.Source(make_tiny, "tiny:N", lambda rest: rest == "1")
    monkeypatch.setitem(SOURCES, "tiny", safe)
    assert can_remake("tiny:1")
    assert not can_remake("tiny:2")
    with pytest.raises(sf.UserError, match=r"known: .*tiny:N"):
        make("nowhere")
    with pytest.raises(sf.UserError, match="tiny:1 does not take these settings"):
        make("tiny:1", end=3)


@pytest.mark.parametrize(
    ("world_id", "expected"),
    [
        ("FourRooms-v0", True), ("four-rooms", False), ("map:museum", True),
        ("minigrid:DoorKey-5x5", True), ("rddl:Elevators_MDP_ippc2011/1", True),
        ("gymnasium:Taxi-v4", True), ("gymnasium:skillfocus/FourRooms-v0", False),
        ("gymnasium:Nothing-v0", False), ("object:Lamps", False), ("environment:Taxi-v4", False),
        ("my_world.py:Lights", False),
    ],
)  # fmt: skip
def test_only_worlds_that_run_no_foreign_code_are_made_again(world_id, expected):
    assert can_remake(world_id) is expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"slip": 1.0}, "slip"), ({"slip": -0.1}, "slip"), ({"step_limit": 0}, "step limit"),
     ({"wings": 2}, "does not take")],
)  # fmt: skip
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(sf.UserError, match=message):
        sf.make("four-rooms", **settings)


def test_unknown_worlds_suggest_the_nearest():
    with pytest.raises(sf.UserError, match="did you mean 'mud-world'"):
        sf.make("mudworld")


def test_worlds_in_jax_are_made_by_name():
    pytest.importorskip("jax")
    assert make("tool-rooms", tools=5).settings["tools"] == 5
    assert len(make("room-blocks", blocks=3, tools=9).goals) == 9
    world = make("VisibleMud-v0", step_limit=7)
    assert (world.step_limit, world.goals) == (7, ("treasure",))
    assert can_remake(world.id)
    with pytest.raises(
        sf.UserError, match=r"tools of tool-rooms is 1.5; it must be a whole number"
    ):
        make("tool-rooms", tools=1.5)
    with pytest.raises(sf.UserError, match="has no table of its states"):
        discovery.cached_mdp("visible-mud", "{}")


def test_jax_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(
        sf.UserError, match=r"tool-rooms needs JAX: pip install 'skillfocus\[neural\]'"
    ):
        make("tool-rooms")


def test_jax_is_imported_for_worlds_that_need_it_only():
    code = (
        "import sys, skillfocus as sf; sf.make('four-rooms'); from skillfocus.cli.commands import List; "
        "List().run(); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


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
    space = sf.Space((sf.Variable("a", (0, 1)), sf.Variable("b", (0, 1))))
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


def test_functions_that_return_worlds_take_settings(file):
    file.write_text(
        f"{FILE}\n"
        "def lake(slippery: bool = True):\n"
        "    return sf.make('gymnasium:FrozenLake-v1', is_slippery=slippery)\n"
        "def rooms(**settings):\n"
        "    return sf.make('four-rooms', **settings)\n"
        "def lamps():\n"
        "    return Lamps()\n"
    )
    assert make(f"{file}:lake", slippery=False).settings == {"is_slippery": False}
    assert make(f"{file}:rooms", slip=0.0, step_limit=9).step_limit == 9
    assert make(f"{file}:lamps", step_limit=9).step_limit == 9
    with pytest.raises(sf.UserError, match="does not take these settings"):
        make(f"{file}:rooms", slips=0.0)
    with pytest.raises(sf.UserError, match="lake takes no step_limit"):
        make(f"{file}:lake", step_limit=9)


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
    with pytest.raises(sf.UserError, match=r"broken.py:f does not work: SyntaxError"):
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


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("four-rooms", {"drawing": 3}, "drawing of four-rooms is 3; it must be text"),
        ("four-rooms", {"drawing": None}, "drawing of four-rooms is None"),
        ("four-rooms", {"slip": "0.1"}, "slip of four-rooms is '0.1'; it must be a number"),
        ("four-rooms", {"slip": True}, "slip of four-rooms is True"),
        ("four-rooms", {"slip": float("nan")}, "slip is nan"),
        ("four-rooms", {"step_limit": 1.5}, "it must be a whole number"),
        ("four-rooms", {"step_limit": True}, "it must be a whole number"),
        (
            "four-rooms",
            {"step_limit": 10**6},
            "the step limit is 1000000; it must be a whole number from 1 to 100,000",
        ),
        ("forage-world", {"needed": 10**9}, "needed is 1000000000; it must be 1 to 1,000"),
        ("mud-world", {"most_muddy": float("inf")}, "it must be a whole number"),
        ("mud-world", {"most_muddy": 10**20}, "it must be a whole number"),
        ("gymnasium:FrozenLake-v1", {"step_limit": -1}, "the step limit is -1"),
        ("gymnasium:FrozenLake-v1", {"groups": "x"}, "must be an object of names"),
        ("gymnasium:FrozenLake-v1", {"groups": {"x": []}}, "must be an object of names"),
        ("gymnasium:FrozenLake-v1", {"variables": {"a": 1}}, "only vectors of real numbers"),
        ("gymnasium:FrozenLake-v1", {"get_state": 1}, "a function, which only Python can give"),
        ("minigrid:Empty-5x5", {"seed": "x"}, "seed of minigrid:Empty-5x5 is 'x'; it must be a"),
        ("minigrid:Empty-5x5", {"seed": -1}, "must be a whole number, 0 or more"),
        ("minigrid:Empty-5x5", {"samples": None}, "it must be a whole number"),
        ("rddl:Elevators_MDP_ippc2011/1", {"instance": 99}, "unknown instance"),
        ("rddl:Elevators_MDP_ippc2011/1", {"check": 1}, "must be true or false"),
    ],
)
def test_settings_have_the_types_that_a_world_declares(name, settings, sentence):
    with pytest.raises(sf.UserError, match=sentence):
        make(name, **settings)


def test_numbers_of_numpy_are_settings_too():
    world = make("four-rooms", slip=np.float64(0.25), step_limit=np.int64(5))
    assert (world.slip, world.step_limit) == (0.25, 5)


BROKEN = """
import sys
import skillfocus as sf
class Raises(sf.World):
    def __init__(self, n: int = 3): raise RuntimeError("boom")
    def states(self): return []
    def transition(self, state, action): return []
class Late(Raises):
    id, actions = "Late-v0", ("wait",)
    space = sf.Space((sf.Variable("x", (0, 1)), sf.Variable("y", (0, 1))))
    def __init__(self): pass
    def states(self): return [(0, 0)]
    def transition(self, state, action): return 1 / 0
class Unfinished(sf.World): pass
def stops(): sys.exit("no")
"""


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("Raises", "{}", r"raising.py:Raises does not work \(line 5\): RuntimeError: boom"),
        ("Raises", '{"n": "x"}', "it must be a whole number"),
        ("Late", "{}", "transition fails for 'wait' in state .*: ZeroDivisionError"),
        ("Unfinished", "{}", "Unfinished needs id, a str"),
        ("stops", "{}", r"does not work \(line 15\): SystemExit: no"),
    ],
)
def test_what_an_own_world_raises_is_one_sentence(name, settings, sentence, tmp_path):
    (tmp_path / "raising.py").write_text(BROKEN)
    with pytest.raises(sf.UserError, match=sentence):
        discovery.cached_mdp(f"{tmp_path}/raising.py:{name}", settings)


@pytest.mark.parametrize("settings", ["[]", "{", "9" * 5000, "[" * 100_000])
def test_world_settings_are_a_json_object(settings):
    with pytest.raises(sf.UserError, match="must be a JSON object"):
        discovery.cached_world("four-rooms", settings)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + ".txt", "a" * 300 + ".py:X", "", "a\0b"])
def test_names_that_no_file_can_have(name):
    with pytest.raises(sf.UserError, match=r"unknown world|no map file|cannot be read|no file"):
        make(name)


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
    assert run.non_default_settings() == {"skills": 2, "targets": '{"lamp": 2}'}
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
    assert run.non_default_settings() == {"world_settings": '{"resets": 3, "samples": 200}'}
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
