"""What a skills file may ask for when its world is made again."""

from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.worlds import registry as remaking
from skillfocus.worlds.registry import remake

LAKE = "gymnasium:FrozenLake-v1"


@pytest.mark.parametrize(
    "world",
    [
        sf.make("four-rooms", slip=0.0, step_limit=100_000),
        sf.make("mud-world", most_muddy=3),
        sf.make(LAKE, is_slippery=False, seed=2**40),
        sf.make("minigrid:Empty-5x5", samples=2, seed=3),
    ],
    ids=lambda world: world.id,
)
def test_worlds_are_made_again_from_their_settings(world):
    again = remake(world.id, world.settings)
    assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint


@pytest.mark.parametrize(
    ("world", "settings", "message"),
    [
        (LAKE, {"limit": 10**9}, "limit of 'gymnasium:FrozenLake-v1' is 1000000000, and a file may "
         "ask for up to 200,000"),
        (LAKE, {"desc": ["S" * 300_000]}, "have 300,014 characters, and a file may have up to 200,000"),
        (LAKE, {"render_mode": "human"}, "would open a window"),
        (LAKE, {"success_rate": float("nan")}, "success_rate of .* is nan"),
        ("minigrid:DoorKey-5x5", {"samples": 10**6}, "samples of .* is 1000000"),
        ("minigrid:DoorKey-5x5", {"render_mode": "human"}, "would open a window"),
        ("minigrid:Empty-5x5", {"size": 100_000}, "size of .* is 100000, and a file may"),
        ("gymnasium:Blackjack-v1", {"resets": 10**12}, "resets of .* is 1000000000000"),
        ("rddl:x/1", {"groups": {"a": [10**6]}}, "groups of .* is 1000000"),
        ("ForageWorld-v0", {"needed": 10**9}, "needed of .* is 1000000000"),
        ("map:big", {"text": "map:\n" + ("." * 3000 + "\n") * 3000}, "have 9,006,"),
        ("FourRooms-v0", {"step_limit": 2**62}, "step_limit of"),
    ],
)  # fmt: skip
def test_a_file_may_not_ask_for_much_and_is_told_the_way_out(world, settings, message):
    with pytest.raises(UserError, match=message) as error:
        remake(world, settings)
    assert "if you trust the file, pass its world" in str(error.value)


def test_an_exploration_ends_after_a_time(monkeypatch):
    monkeypatch.setattr(remaking, "MAX_SECONDS", -1.0)
    with pytest.raises(
        UserError, match=r"not explored after -1 seconds of computing \(exploring .*pass its world"
    ):
        remake(LAKE, {})
    assert sf.make(LAKE).all_states


@pytest.mark.parametrize(
    ("world", "settings"),
    [
        ("FourRooms-v0", {"drawing": 7}),
        ("FourRooms-v0", {"name": 7}),
        ("FourRooms-v0", {"step_limit": 2.5}),
        ("MudWorld-v0", {"most_muddy": 2.5}),
        ("FourRooms-v0", {"drawing": "#" * 99 + "\n" + "T" * 99}),
        (LAKE, {"groups": 7}),
        (LAKE, {"groups": {"a": [[]]}}),
        (LAKE, {"step_limit": "x"}),
        (LAKE, {"actions": 7}),
        (LAKE, {"variables": [7]}),
        (LAKE, {"desc": [[]]}),
        (LAKE, {"limit": "x"}),
        (LAKE, {"check": []}),
    ],
)
def test_settings_of_other_types_are_refused_with_a_sentence_or_work(world, settings):
    try:
        remake(world, settings)
    except UserError as error:
        assert "\n" not in str(error)


def test_only_environments_that_need_no_functions_are_made():
    """The others, such as those that open simulators, cannot be in a file at all."""
    with pytest.raises(UserError, match="your own"):
        remake("gymnasium:CartPole-v1", {})


@pytest.mark.parametrize(
    ("world", "settings", "message"),
    [
        ("rddl:a.rddl+b.rddl", {}, "your own"),
        ("rddl:Elevators_MDP_ippc2011/1", {"domain": "a.rddl"}, "read from other files: .*--world"),
        ("rddl:Elevators_MDP_ippc2011/1", {"instance": "b.rddl"}, "read from other files"),
    ],
)
def test_no_other_files_are_read(world, settings, message):
    with pytest.raises(UserError, match=message):
        remake(world, settings)


def test_a_world_that_is_passed_may_ask_for_anything(tmp_path):
    world = sf.make(LAKE, limit=300_000)
    skills = sf.discover(world, sf.vic(), seed=0, n_skills=2, learner=sf.Planning(rounds=1))
    file = skills.save(tmp_path / "lake.skills")
    with pytest.raises(UserError, match=rf"^{file}: limit of .* pass its world"):
        sf.Skills.load(file)
    assert sf.Skills.load(file, world) == skills
