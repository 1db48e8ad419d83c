"""Skills as actions in a world without a table."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import Tableless, neural_skills, small_room
from probes import corridor
from skillfocus.envs import SkillEnv, SkillVectorEnv
from skillfocus.errors import UserError
from skillfocus.skills.network import NeuralPolicy


def fetched(state):
    return state["tool_1"] == 1


@pytest.fixture(scope="module")
def skills():
    return neural_skills(small_room())


def test_gymnasium_accepts_it(skills):
    for observation in ("multi-discrete", "dict"):
        env = SkillEnv(skills, fetched, primitives=True, observation=observation)
        check_env(env, skip_render_check=True)
    made = gymnasium.make("skillfocus/Skills-v0", skills=skills, task=None)
    made.reset(seed=0)
    assert made.step(0)[1] == 0


def test_a_step_follows_a_skill(skills):
    env = SkillEnv(skills, None, primitives=True, start=(0, 0, 0))
    first, _ = env.reset(seed=0)
    assert first.tolist() == [0, 0, 0]
    for action in (4, 3, 5, 6, 0):
        before = env._episodes.values[0].tolist()
        after, reward, terminated, truncated, info = env.step(action)
        assert info["path"][0] == tuple(before)
        assert info["path"][-1] == tuple(after)
        assert len(info["path"]) == info["steps"] + 1
        assert (reward, terminated, truncated) == (0, False, False)
        assert info["skill"] == (action if action < 5 else -1)
        assert info["steps"] == 1 if action >= 5 else info["steps"] <= 8
        if action < 5 and info["steps"] > 1:
            assert skills.action(action, before, info["path"][1]) is not None


def test_a_condition_pays_and_ends_the_episode(skills):
    env = SkillEnv(skills, fetched, primitives=True, start=skills.world.state(position=(1, 3)))
    env.reset(seed=0)
    steps = 0
    while True:
        _, reward, terminated, truncated, info = env.step(5 + 1)  # to the right, onto the tool
        steps += 1
        if terminated:
            break
        assert reward == 0
        assert not truncated
        assert not info["success"]
        env.reset(options={"state": skills.world.state(position=(1, 3))})
        assert steps < 50
    assert reward == 1
    assert info["success"]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_random_starts_do_not_end_the_episode(skills):
    env = SkillEnv(skills, fetched, start="random")
    starts = np.array([env.reset(seed=seed)[0] for seed in range(30)])
    assert (starts[:, 1] == 0).all()
    assert set(starts[:, 2]) == {0, 1}


def test_the_worlds_own_task_is_known():
    """ToolRooms is FourRooms with other tools, and has its task."""
    skills = neural_skills(sf.make("tool-rooms", tools=2, slip=0.0))
    env = SkillEnv(skills, "tools", primitives=True)
    observation, _ = env.reset(seed=0)
    assert not observation.any()
    last = len(skills.world.map.cells) - 1
    env.reset(options={"state": (last - 1, 1, 1)})
    _, reward, terminated, _, info = env.step(5 + 1)
    assert (reward, terminated, info["success"]) == (1, True, True)
    for _ in range(320):
        env.reset() if env._episodes.ended[0] else None
        *_, truncated, info = env.step(5)
    env.reset()
    for n in range(320):
        *_, truncated, info = env.step(5)
        assert truncated == (n == 319)


def test_a_batch_plays_the_same_episodes_as_one_by_one(skills):
    def play(env_seed):
        env = SkillEnv(skills, fetched, primitives=True, start="random")
        env.reset(seed=env_seed)
        told = []
        for action in (4, 2, 8, 3):
            observation, reward, terminated, _, info = env.step(action)
            told.append((observation.tolist(), reward, info["steps"], info["elapsed"]))
            if terminated:
                break
        return told

    alone = [play(seed) for seed in range(4)]
    envs = SkillVectorEnv(skills, fetched, 4, primitives=True, start="random")
    envs.reset(seed=0)
    playing = np.ones(4, dtype=bool)
    for t, action in enumerate((4, 2, 8, 3)):
        observations, rewards, terminated, _, infos = envs.step(np.full(4, action))
        for i in np.flatnonzero(playing):
            row = (observations[i].tolist(), rewards[i], infos["steps"][i], infos["elapsed"][i])
            assert row == alone[i][t]
            assert infos["path"][i][infos["steps"][i]].tolist() == observations[i].tolist()
        playing &= ~terminated


def test_both_kinds_of_episodes_agree_where_nothing_is_drawn():
    world = corridor()
    finite = neural_skills(world)
    policies = NeuralPolicy(finite.policies.model, finite.policies.weights, (1,) * 5)
    hidden = sf.Skills(Tableless(world, finite.mdp), policies, finite.targets, finite.step_limit)
    envs = [
        SkillEnv(finite, None, primitives=True), SkillEnv(hidden, None, primitives=True)
    ]  # fmt: skip
    for env in envs:
        env.reset(seed=0, options={"state": (0, 0)})
    for action in [*range(9), *range(9)]:
        (one, *rest, info), (other, *others, other_info) = (env.step(action) for env in envs)
        assert one.tolist() == other.tolist()
        assert (rest, info) == (others, other_info)


def test_a_reset_leaves_the_other_episodes_paths_alone(skills):
    envs = SkillVectorEnv(skills, None, 2, primitives=True, start=(0, 0, 0))
    before, _ = envs.reset(seed=0)
    for _ in range(5):
        envs._episodes.ended[1] = True  # the next step resets it
        after, _, _, _, infos = envs.step(np.array([5 + 1, 5 + 1]))
        assert infos["_path"].tolist() == [True, False]
        assert infos["path"][0][0].tolist() == before[0].tolist()
        assert infos["path"][0][1].tolist() == after[0].tolist()
        before = after
    assert before[0].any()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_it_draws_itself(skills, mode):
    env = SkillEnv(skills, None, render_mode=mode, start=(0, 0, 0))
    env.reset(seed=0)
    env.step(3)
    picture = env.render()
    envs = SkillVectorEnv(skills, None, 2, render_mode=mode)
    envs.reset(seed=0)
    assert len(envs.render() or ()) == 2
    if mode == "ansi":
        assert picture == skills.world.draw(tuple(env._episodes.values[0].tolist()))
    else:
        assert picture.ndim == 3
        assert picture.std() > 0


def test_what_does_not_fit_is_refused(skills, focused_vic):
    with pytest.raises(UserError, match="has no task of its own"):
        SkillEnv(neural_skills(sf.make("visible-mud"), targets={"treasure": 2}))
    with pytest.raises(UserError, match="pass a function of"):
        SkillEnv(skills, sf.task_of(focused_vic.world, focused_vic.mdp))
    with pytest.raises(UserError, match="is not a state"):
        SkillEnv(skills, None, start=(99, 0, 0))
    env = SkillEnv(skills, None)
    env.reset(seed=0)
    with pytest.raises(UserError, match="there is no action 5"):
        env.step(5)
