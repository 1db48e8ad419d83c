"""MiniGrid environments as worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.metrics.summary import describe, remarks
from skillfocus.testing import check_world
from skillfocus.worlds.adapters import from_gymnasium, from_minigrid

pytest.importorskip("minigrid", reason="MiniGrid is not installed (extra minigrid)")


@pytest.fixture(scope="module")
def door_key():
    return from_minigrid("DoorKey-5x5")


def test_door_key(door_key):
    """Seed 0: the agent in the left column (x = 1) with the key, the goal to the right of the door."""
    check_world(door_key)
    mdp = sf.tabulate(door_key)
    assert door_key.id == "minigrid:MiniGrid-DoorKey-5x5-v0"
    assert door_key.space.names == ("x", "y", "direction", "carrying", "yellow_key", "yellow_door")
    assert door_key.actions == ("left", "right", "forward", "pick up", "drop", "toggle", "done")
    start = door_key.space.labels(next(iter(door_key.states())))
    assert start["carrying"] == "nothing"
    assert start["yellow_door"] == "locked"
    assert mdp.irrecoverable_values == {"yellow_door": ("locked",)}
    assert "yellow_door: once it has left locked it never comes back" in list(
        remarks(door_key, mdp)
    )
    summary: Any = describe(door_key, mdp)
    kinds = {v["name"]: v["changes"] for v in summary["variables"]}
    assert kinds["yellow_door"] == "partly for good"
    assert kinds["yellow_key"] == "and back"


def walk(world, *actions):
    """The labels after some actions from the first state."""
    state = next(iter(world.states()))
    for name in actions:
        (outcome,) = world.transition(state, world.actions.index(name))
        state = outcome.state
    return world.space.labels(state)


def test_what_actions_do(door_key):
    """The agent begins at (1, 3) looking left, the key lies above it at (1, 2)."""
    assert walk(door_key)["yellow_key"] == (1, 2)
    assert walk(door_key, "right")["direction"] == "up"
    assert walk(door_key, "right", "forward")["y"] == 3  # the key is in the way
    held = walk(door_key, "right", "pick up")
    assert (held["carrying"], held["yellow_key"]) == ("yellow_key", "carried")
    dropped = walk(door_key, "right", "pick up", "forward", "left", "left", "drop")
    assert (dropped["carrying"], dropped["yellow_key"]) == ("nothing", (1, 3))
    assert walk(door_key, "right", "pick up", "drop") == walk(door_key, "right")
    assert walk(door_key, "done") == walk(door_key)


def test_the_layout_depends_on_the_seed_alone(door_key):
    again = from_minigrid("MiniGrid-DoorKey-5x5-v0")
    other = from_minigrid("MiniGrid-DoorKey-5x5-v0", seed=3)
    fingerprints = [sf.tabulate(world).fingerprint for world in (door_key, again, other)]
    assert fingerprints[0] == fingerprints[1]
    assert fingerprints[0] != fingerprints[2]
    assert other.settings == {"seed": 3}


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("MiniGrid-LavaGapS5-v0", ("x", "y", "direction")),
        ("MiniGrid-Unlock-v0", ("x", "y", "direction", "carrying", "purple_key", "purple_door")),
        ("MiniGrid-RedBlueDoors-6x6-v0", ("x", "y", "direction", "red_door", "blue_door")),
        (
            "MiniGrid-Fetch-5x5-N2-v0",
            ("x", "y", "direction", "carrying", "purple_ball", "blue_key"),
        ),
        ("BabyAI-OneRoomS8-v0", ("x", "y", "direction", "carrying", "yellow_ball")),
    ],
)
def test_any_environment(name, variables):
    world = from_gymnasium(name)  # the same door
    assert world.space.names == variables
    assert world.final_states


def test_a_box_holds_what_it_hides():
    """The key is inside the box until the box is opened, which is for good."""
    from minigrid.core.grid import Grid
    from minigrid.core.mission import MissionSpace
    from minigrid.core.world_object import Ball, Box, Key
    from minigrid.minigrid_env import MiniGridEnv

    class Boxed(MiniGridEnv):
        def __init__(self):
            super().__init__(MissionSpace(lambda: "look"), width=5, height=3, max_steps=9)

        def _gen_grid(self, width, height):
            self.grid = Grid(width, height)
            self.grid.wall_rect(0, 0, width, height)
            self.grid.set(2, 1, Box("red", Key("blue")))
            self.grid.set(3, 1, Ball("grey"))
            self.agent_pos, self.agent_dir, self.mission = (1, 1), 0, "look"

    world = from_minigrid(Boxed())
    assert world.id == "environment:Boxed"
    first = walk(world)
    assert (first["red_box"], first["blue_key"], first["grey_ball"]) == ((2, 1), "inside", (3, 1))
    opened = walk(world, "toggle")
    assert (opened["red_box"], opened["blue_key"]) == ("gone", (2, 1))
    carried = walk(world, "pick up")
    assert (carried["red_box"], carried["blue_key"]) == ("carried", "inside")
    assert walk(world, "toggle", "pick up")["carrying"] == "blue_key"
    assert any("after 9 steps" in note for note in world.notes)


def test_moving_obstacles_need_samples():
    with pytest.raises(sf.UserError, match="raise samples"):
        from_minigrid("Dynamic-Obstacles-5x5")
    world = from_minigrid("Dynamic-Obstacles-5x5", samples=20, n_obstacles=1)
    assert not world.exact
    assert world.space.names == ("x", "y", "direction", "blue_ball", "ended")
    assert max(len(world.transition(s, 0)) for s in world.all_states) > 3


def test_wrappers_count():
    """Lava does not end an episode in NoDeath."""
    import gymnasium
    from minigrid.wrappers import FullyObsWrapper, NoDeath

    made = gymnasium.make("MiniGrid-LavaGapS5-v0", disable_env_checker=True)
    plain, mild = from_minigrid(made), from_minigrid(NoDeath(made, no_death_types=("lava",)))
    assert len(plain.final_states) == 4
    assert len(mild.final_states) < 4
    seen = from_minigrid(FullyObsWrapper(made))
    assert sf.tabulate(seen).fingerprint == sf.tabulate(plain).fingerprint


def test_settings_are_kept(tmp_path):
    world = from_minigrid("Empty-5x5", agent_start_pos=(2, 2), step_limit=9)
    assert world.settings == {"agent_start_pos": [2, 2], "step_limit": 9}
    assert check_world(world).n_states == 34
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=1))
    assert sf.Skills.load(skills.save(tmp_path / "a.skills")) == skills


def test_what_has_no_meaning_for_minigrid_is_said():
    def place(env, state):
        env.agent_pos, env.agent_dir = (state["x"], state["y"]), state["d"]

    with pytest.raises(sf.UserError, match="have variables of their own"):
        from_gymnasium("MiniGrid-Empty-5x5-v0", variables=("u", "v"))
    world = from_gymnasium(
        "MiniGrid-Empty-5x5-v0",
        get_state=lambda env: {
            "x": int(env.agent_pos[0]),
            "y": int(env.agent_pos[1]),
            "d": env.agent_dir,
        },
        set_state=place,
    )
    assert world.space.names == ("x", "y", "d")
    assert world.id == "environment:MiniGrid-Empty-5x5-v0"


def test_mistakes():
    with pytest.raises(sf.UserError, match="did you mean 'MiniGrid-DoorKey-5x5-v0'"):
        from_minigrid("DoorKey-5x55")
    with pytest.raises(sf.UserError, match="cannot make"):
        from_minigrid("DoorKey-5x5", colour="red")
    with pytest.raises(sf.UserError, match="more than 50 states"):
        from_minigrid("DoorKey-5x5", limit=50)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rounds"), [("DoorKey-5x5", 40), ("DoorKey-6x6", 10)])
def test_a_skill_per_controllable_variable(name, rounds):
    """Every variable that can change alone has a skill that changes it and little else; carrying
    cannot change without the key's place."""
    world = from_minigrid(name)
    learner = sf.Planning(rounds=rounds)
    objective = sf.focused(sf.vic(), strength=50.0)  # stepping aside for the key must not pay
    skills = sf.discover(world, objective, seed=0, learner=learner)
    effects = sf.metrics.side_effects(skills)
    for variable in world.space.names:
        mine = [e for e in effects if e.targets == (variable,)]
        assert mine
        if variable == "carrying":
            assert not any(len(e.starts) for e in mine)
            continue
        assert any(e.changes_target > 0.55 and e.side_effects < 0.06 for e in mine), variable
        assert max(e.side_effects for e in mine) < 0.15, variable


@pytest.mark.slow
def test_skills_play_in_the_environment(door_key):
    skills = sf.discover(
        door_key, sf.focused(sf.vic()), seed=0, targets={"yellow_door": 2, "yellow_key": 2}
    )
    exact = sf.metrics.side_effects(skills)
    for z, effects in enumerate(exact):
        for i, start in enumerate(effects.starts[::40]):
            first = skills.mdp.state(start)
            *_, last = door_key.play(skills.policy(z), first)
            assert np.array_equal(effects.changed[i * 40] > 0.5, np.array(first) != np.array(last))
