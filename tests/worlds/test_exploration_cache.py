"""Explored worlds on disk: found again, ignored when damaged, never executed."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.files import seal, unseal
from skillfocus.mdp import Transitions
from skillfocus.worlds import explored as exploration_cache
from skillfocus.worlds.explored import ExploredWorld, ModelOutcome

CALLS = SimpleNamespace(count=0)


def json_array(value):
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def walk(values, action):
    """A corridor with a slippery step, a lamp, and an end."""
    CALLS.count += 1
    x, lamp, _ = values
    if action == 1:
        return [ModelOutcome(1.0, (x, not lamp, None))]
    return [
        ModelOutcome(0.75, (min(x + 1, 4), lamp, None), x == 3),
        ModelOutcome(0.25, (x, lamp, None)),
    ]


def make(model=walk, world_id="minigrid:Walk", **options):
    arguments = {"packages": ("numpy",), "settings": {"seed": 3}, **options}
    return ExploredWorld(
        world_id, names=("x", "lamp", "nothing"), actions=("go", "press"),
        starts=[(0, False, None), (0, True, None)], model=model, **arguments,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SKILLFOCUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def calls(**options):
    """How often a model is asked while its world is made."""
    CALLS.count = 0
    world = make(**options)
    return CALLS.count, world


def test_a_world_is_explored_once(folder):
    first, explored = calls()
    again, found = calls()
    assert (first > 0, again) == (True, 0)
    assert len(list(folder.iterdir())) == 1
    one, other = sf.tabulate(explored), sf.tabulate(found)
    assert one.fingerprint == other.fingerprint
    assert explored.all_states == found.all_states
    assert explored.final_states == found.final_states
    assert explored.notes == found.notes
    assert explored.constant_variables == found.constant_variables == ["nothing"]
    for state in explored.all_states:
        values = found.values_of(state)
        assert values == explored.values_of(state)
        assert list(map(type, values)) == [int, bool, type(None)]
        for action in range(2):
            assert found.transition(state, action) == explored.transition(state, action)
    assert list(found.states()) == list(explored.states())


@pytest.mark.parametrize("options", [
    {"settings": {"seed": 4}}, {"world_id": "minigrid:Other"}, {"limit": 99},
    {"packages": ("numpy", "scipy")}, {"files": [__file__]},
])  # fmt: skip
def test_whatever_decides_a_world_decides_its_entry(folder, options):
    calls()
    assert calls(**options)[0] > 0
    assert calls(**options)[0] == 0
    assert len(list(folder.iterdir())) == 2


def test_code_of_your_own_is_never_cached(folder):
    for options in ({"packages": ()}, {"settings": {"function": walk}}):
        assert calls(**options)[0] > 0
        assert calls(**options)[0] > 0
    assert not folder.exists()


def test_other_versions_and_other_code_are_other_entries(folder, monkeypatch):
    calls()
    monkeypatch.setattr(exploration_cache, "version", lambda name: f"99 of {name}")
    assert calls()[0] > 0
    monkeypatch.setattr(exploration_cache, "code_version", lambda: "other")
    assert calls()[0] > 0
    assert len(list(folder.iterdir())) == 3


def test_damage_is_noticed_and_mended(folder):
    _, world = calls()
    fingerprint = sf.tabulate(world).fingerprint
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [b"", whole[:50], whole[:-3], whole + b"x", b"{}" * 50]
    for place in rng.integers(8 * len(whole), size=60).tolist():
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        damaged.append(bytes(flipped))
    for content in damaged:
        entry.write_bytes(content)
        count, world = calls()
        assert sf.tabulate(world).fingerprint == fingerprint
        assert count > 0
        assert entry.read_bytes() == whole


@pytest.mark.parametrize(("name", "change"), [
    ("successors", lambda a: a + 100), ("probabilities", lambda a: a * 2),
    ("probabilities", lambda a: a - 1), ("begins", lambda a: a + 1), ("states", lambda a: a[:-1]),
    ("states", lambda a: json_array(json.loads(a.tobytes())[:-1])),
    ("states", lambda a: json_array([values[1:] for values in json.loads(a.tobytes())])),
    ("states", lambda a: json_array([[{}, *values[1:]] for values in json.loads(a.tobytes())])),
    ("states", lambda a: json_array([[0] * 3 for _ in json.loads(a.tobytes())])),
    ("ended", lambda a: a[:-1]), ("successors", lambda a: a[:-1]),
    ("successors", lambda a: a.astype(float)),
])  # fmt: skip
def test_what_does_not_fit_together_is_missing(folder, name, change):
    """An entry whose digest is right, as a tamperer would write it."""
    calls()
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    header, arrays = unseal(whole, exploration_cache.Header)
    forged = np.ascontiguousarray(change(arrays[name]))
    entry.write_bytes(seal(header, {**arrays, name: forged}))
    assert calls()[0] > 0
    assert entry.read_bytes() == whole


def test_a_forged_world_is_made_again(folder):
    """An entry that fits together and has a digest, but holds another world or other values."""

    def check(world):
        if world.all_states != make(packages=()).all_states:
            raise UserError("another world")
        assert world.values_of(world.all_states[0])[0] + 1  # fails for other kinds of values

    _, world = calls(check=check)
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    header, arrays = unseal(whole, exploration_cache.Header)
    states = json.loads(arrays["states"].tobytes())
    texts = [[str(x), *rest] for x, *rest in states]
    for forged in ([[9 - x, *rest] for x, *rest in states], texts, [[None, *x[1:]] for x in texts]):
        entry.write_bytes(seal(header, {**arrays, "states": json_array(forged)}))
        count, again = calls(check=check)
        assert count > 0
        assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint
        assert entry.read_bytes() == whole


def test_a_world_that_fails_its_check_is_not_kept(folder):
    def check(world):
        raise UserError("no")

    for _ in range(2):
        with pytest.raises(UserError, match="no"):
            make(check=check)
    assert not folder.exists()


def test_an_entry_that_is_a_folder_does_not_block_its_world(folder):
    _, world = calls()
    (entry,) = folder.iterdir()
    entry.unlink()
    entry.mkdir()
    count, again = calls()
    assert count > 0
    assert again.all_states == world.all_states


def test_without_a_home_and_a_name_the_cache_is_off(monkeypatch):
    def nobody(uid):
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", nobody)
    for variable in ("SKILLFOCUS_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert exploration_cache.cache_folder() is None
    assert exploration_cache.describe_cache() == "off (no home; see SKILLFOCUS_CACHE)"
    assert calls()[0] > 0


def test_values_that_json_changes_are_not_stored(folder):
    def strange(values, action):
        del action
        CALLS.count += 1
        return [ModelOutcome(1.0, (frozenset([1]), *values[1:]))]

    assert calls(model=strange)[0] > 0
    assert calls(model=strange)[0] > 0

    def mixed(values, action):
        del action
        CALLS.count += 1
        return [ModelOutcome(1.0, (1 if values[0] is True else True, *values[1:]))]

    assert calls(model=mixed, world_id="minigrid:Mixed")[1].values_of((1, 0))[0] is True
    assert calls(model=mixed, world_id="minigrid:Mixed")[0] == 0


def test_a_world_that_is_wrong_is_left_to_tabulate(folder):
    def short(values, action):
        del action
        return [ModelOutcome(0.5, values)]

    with pytest.raises(UserError, match="which must be 0 or more and sum to 1"):
        sf.tabulate(make(model=short))
    assert not folder.exists()


def test_it_can_be_off_and_read_only(tmp_path, monkeypatch):
    for word in ("off", "0", "", "OFF"):
        monkeypatch.setenv("SKILLFOCUS_CACHE", word)
        assert exploration_cache.cache_folder() is None
        assert calls()[0] > 0
        assert exploration_cache.describe_cache() == "off (SKILLFOCUS_CACHE)"
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("SKILLFOCUS_CACHE", str(blocked))
    assert calls()[0] > 0
    assert calls()[0] > 0


def test_it_lies_where_the_system_keeps_such_files(monkeypatch, tmp_path):
    monkeypatch.delenv("SKILLFOCUS_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert exploration_cache.cache_folder() == tmp_path / "skillfocus"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert str(exploration_cache.cache_folder()).endswith(os.path.join(".cache", "skillfocus"))
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Library" in str(exploration_cache.cache_folder())
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert exploration_cache.cache_folder() == tmp_path / "local" / "skillfocus"


def test_the_least_recently_used_entries_go_first(folder, monkeypatch):
    size = 0
    for age, world_id in enumerate(("minigrid:A", "minigrid:B")):
        calls(world_id=world_id)
        newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (1000 + age, 1000 + age))
        size = newest.stat().st_size
    calls(world_id="minigrid:A")  # used again, so newer than B
    monkeypatch.setattr(exploration_cache, "MAX_BYTES", 5 * size // 2)
    calls(world_id="minigrid:C")
    assert [calls(world_id=f"minigrid:{name}")[0] > 0 for name in "AC"] == [False, False]
    assert "2 explored worlds" in exploration_cache.describe_cache()
    monkeypatch.setattr(exploration_cache, "MAX_BYTES", 10)
    calls(world_id="minigrid:D")
    assert "2 explored worlds" in exploration_cache.describe_cache()


def test_transitions_that_do_not_fit_together_are_refused():
    graph = make(packages=()).state_graph
    assert graph is not None
    moves = graph.transitions
    assert len([moves[s] for s in range(len(moves))]) == len(moves) == len(graph.states)
    assert moves[-1] == moves[len(moves) - 1]
    with pytest.raises(IndexError):
        moves[len(moves)]
    with pytest.raises(UserError, match="one after another"):
        Transitions(3, moves.begins, moves.probabilities, moves.successors)
    with pytest.raises(UserError, match="as many probabilities"):
        Transitions(2, moves.begins, moves.probabilities[1:], moves.successors)
    with pytest.raises(UserError, match="numbers of states, 0 to"):
        Transitions(2, moves.begins, moves.probabilities, moves.successors + 1)
    doubled = Transitions(2, moves.begins, 2 * moves.probabilities, moves.successors)
    assert len(moves.wrong_sums(1e-9)) == 0
    assert doubled.wrong_sums(1e-6).tolist() == list(range(2 * len(moves)))


def refuse(*_):
    raise AssertionError("explored again")


def test_minigrid_and_rddl_worlds_are_kept(folder, monkeypatch, tmp_path):
    pytest.importorskip("minigrid")
    pytest.importorskip("pyRDDLGym")
    import minigrid.envs.empty

    class Mine(minigrid.envs.empty.EmptyEnv):
        """The same environment with code of one's own."""

    ways = [
        lambda: sf.make("minigrid:Empty-5x5"),
        lambda: sf.adapters.from_rddl("TriangleTireworld_MDP_ippc2014", 1, check=False),
    ]
    made = [way() for way in ways]
    sf.adapters.from_minigrid(Mine(size=5))
    assert len(list(folder.iterdir())) == 2
    monkeypatch.setattr("skillfocus.worlds.explored.explore", refuse)
    for way, explored in zip(ways, made, strict=True):
        assert sf.tabulate(way()).fingerprint == sf.tabulate(explored).fingerprint
    with pytest.raises(AssertionError, match="explored again"):
        sf.adapters.from_minigrid(Mine(size=5))
    skills = sf.discover(
        made[0], sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1), targets={"x": 2}
    )
    assert sf.Skills.load(skills.save(tmp_path / "a.skills")) == skills
