from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import skillfocus as sf
from probes import CORRIDOR, TINY_MUD, RandomWorld, corridor, tiny_mud
from skill_sets import LEFT, RIGHT, at_the_end, walkers
from skillfocus.envs import WorldEnv
from skillfocus.errors import UserError
from skillfocus.worlds.explored import ExploredWorld, ModelOutcome

KINDS = ["multi-discrete", "dict"]
MODES = [None, "ansi", "rgb_array"]
TINY = {
    "FourRooms-v0": {"drawing": CORRIDOR},
    "ForageWorld-v0": {"drawing": "######\n#.RP.#\n######"},
    "MudWorld-v0": {"drawing": TINY_MUD, "most_muddy": 2},
}


def end_task(skills, max_episode_steps):
    return sf.make_task(skills.mdp, "end", (0, 0), max_episode_steps, at_the_end)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("world", TINY)
def test_worlds_pass_the_check(world, kind, mode):
    for task in ("true", None):
        made = gymnasium.make(
            f"skillfocus/{world}", task=task, observation=kind, render_mode=mode, **TINY[world]
        )
        check_env(made.unwrapped)


def test_a_world_by_hand():
    env = WorldEnv(corridor(), "true")
    assert env.reset(seed=0)[0].tolist() == [0, 0]
    observation, *rest = env.step(RIGHT)
    assert (observation.tolist(), rest) == ([1, 0], [0.0, False, False, {"success": False}])
    observation, *rest = env.step(np.int64(RIGHT))
    assert (observation.tolist(), rest) == ([2, 1], [1.0, True, False, {"success": True}])


def test_a_dict_holds_the_variables_by_name():
    env = WorldEnv(corridor(), "true", observation="dict")
    observation, _ = env.reset(options={"state": (2, 1)})
    assert observation == {"position": 2, "tool_1": 1}
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert list(env.observation_space) == ["position", "tool_1"]


def test_the_cap_truncates_and_the_task_terminates():
    skills = walkers()
    for max_episode_steps, at_the_second in ((2, (True, False)), (1, None)):
        env = WorldEnv(skills.world, end_task(skills, max_episode_steps))
        env.reset(seed=0)
        assert env.step(RIGHT)[2:4] == (False, max_episode_steps == 1)
        if at_the_second is None:
            with pytest.raises(ResetNeeded, match="no episode is under way"):
                env.step(RIGHT)
        else:
            assert env.step(RIGHT)[2:4] == at_the_second


def test_the_proxy_pays_and_success_tells_the_truth():
    """ForageWorld's proxy does not mind that the plant in the way was destroyed."""
    for reward, answer in (
        ("proxy", (1.0, True)),
        ("true", (0.0, False)),
        ("resources", (0.0, False)),
    ):
        env = WorldEnv("forage-world", reward, slip=0.0, needed=1, drawing="#####\n#RP.#\n#####")
        env.reset(options={"state": (1, 1, 1)})
        assert env.step(RIGHT)[1:] == (*answer, False, {"success": False})


def test_without_a_task_nothing_ends():
    env = WorldEnv(corridor())
    first = {tuple(env.reset(seed=seed)[0].tolist()) for seed in range(60)}
    assert len(first) == 6
    for _ in range(500):
        assert env.step(env.action_space.sample())[1:4] == (0.0, False, False)


def chain() -> ExploredWorld:
    """0, 1, 2, 3: forward or back; 3 ends an episode."""

    def follow(values, action):
        place = values[0] + (1 if action == 0 else -1)
        yield ModelOutcome(1.0, (max(place, 0),), place == 3)

    return ExploredWorld(
        "chain", names=["place"], actions=["on", "back"], starts=[(1,), (2,)], model=follow
    )


def test_final_states_of_a_found_world_terminate():
    world = chain()
    env = WorldEnv(world)
    assert {env.reset(seed=seed)[0].item() for seed in range(20)} == {1, 2}, "only the first states"
    env.reset(options={"state": (2,)})
    assert env.step(0)[1:4] == (0.0, True, False)
    task = sf.make_task(sf.tabulate(world), "zero", (1,), 10, lambda state: state["place"] == 0)
    env = WorldEnv(world, task)
    env.reset()
    assert env.step(1)[1:4] == (1.0, True, False)
    env.reset()
    assert (env.step(0)[1:4], env.step(0)[1:4]) == ((0.0, False, False), (0.0, True, False))


def test_where_episodes_start():
    world = corridor()
    assert WorldEnv(world, "true", start=(1, 1)).reset()[0].tolist() == [1, 1]
    env = WorldEnv(world, "true", start="random")
    starts = [tuple(env.reset(seed=seed)[0].tolist()) for seed in range(80)]
    assert set(starts) == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)}, "not where the task is done"


def test_hidden_marks_are_kept_within_an_episode_and_drawn_at_its_start():
    env = WorldEnv(tiny_mud(slip=0.0))
    for _ in range(3):
        env.reset(options={"state": (2, 1, 0, 0)})
        counts = [env.step(action)[0][3].item() for action in (LEFT, RIGHT, LEFT, LEFT)]
        assert counts == [1, 1, 1, 2]
    new = 0
    for seed in range(400):  # one of the two cells is muddy already: this one half of the time
        env.reset(seed=seed, options={"state": (2, 1, 0, 1)})
        new += env.step(LEFT)[0][3].item() == 2
    assert new == pytest.approx(200, abs=40)


def test_mistakes_are_told():
    with pytest.raises(UserError, match="has no task of its own"):
        WorldEnv(RandomWorld(0), "true")
    with pytest.raises(UserError, match="is for 6 states, FourRooms-v0 has 1,664"):
        WorldEnv("four-rooms", end_task(walkers(), 3))
    with pytest.raises(UserError, match="is already made: pass slip where you make it"):
        WorldEnv(corridor(), slip=0.0)
    with pytest.raises(UserError, match="the MDP is not of FourRooms-v0"):
        WorldEnv(corridor(), mdp=sf.tabulate(tiny_mud()))
    with pytest.raises(UserError, match="starts from ends the episode at once"):
        WorldEnv(
            corridor(), sf.make_task(sf.tabulate(corridor()), "t", (0, 0), 3, bool), start="random"
        )
