"""`SkillVecEnv`, and the PPO example that trains on it."""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import skillfocus as sf
from paths import ROOT
from probes import RandomWorld, tiny_mud
from skill_sets import moody_skills, walkers
from skillfocus.envs import SkillEnv

EXAMPLE = ROOT / "examples" / "sb3_ppo.py"


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3", reason="needs the extra sb3")


def task_in(world, mdp):
    last = world.space.variables[0]
    return sf.make_task(
        mdp, "t", (0,) * len(world.space), 9, lambda s: s[last.name] == last.values[-1]
    )


@pytest.mark.parametrize(
    "world", [tiny_mud(slip=0.3), RandomWorld(3, sizes=(4, 3))], ids=["mud", "random"]
)
def test_it_plays_the_episodes_of_single_environments(sb3, world):
    """Against SB3's own batch of `SkillEnv`s, step for step, ends and new beginnings included."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    from skillfocus.envs import SkillVecEnv

    skills = moody_skills(4, world)
    task, settings = task_in(world, skills.mdp), {"primitives": True, "start": "random"}
    batch = SkillVecEnv(skills, task, 5, one_hot=False, **settings)
    single = DummyVecEnv([lambda: SkillEnv(skills, task, **settings)] * 5)
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    for env in (batch, single):
        env.seed(7)
    seen = [env.reset() for env in (batch, single)]
    rng, ended = np.random.default_rng(1), 0
    for _ in range(120):
        assert (seen[0] == seen[1]).all()
        actions = rng.integers(batch.action_space.n, size=5)
        got, expected = batch.step(actions), single.step(actions)
        seen = [got[0], expected[0]]
        assert got[1].tolist() == expected[1].tolist()
        assert got[2].tolist() == expected[2].tolist()
        for mine, theirs in zip(got[3], expected[3], strict=True):
            theirs = {**theirs, "TimeLimit.truncated": theirs["TimeLimit.truncated"]}
            if "episode" in mine:
                ended += 1
                assert mine.pop("episode")["l"] >= 1
                assert (
                    mine.pop("terminal_observation") == theirs.pop("terminal_observation")
                ).all()
                assert mine.pop("TimeLimit.truncated") == theirs["TimeLimit.truncated"]
            theirs.pop("TimeLimit.truncated")
            assert mine == theirs
    assert ended > 20


def test_observations_are_one_hot(sb3):
    from skillfocus.envs import SkillVecEnv

    env = SkillVecEnv(walkers(), num_envs=2)
    env.seed(0)
    # Three cells and two values of the tool; episodes start in the first cell without it.
    assert env.reset().tolist() == [[1, 0, 0, 1, 0]] * 2
    observations: Any
    observations, rewards, dones, infos = env.step(np.array([0, 1]))
    assert (rewards.tolist(), dones.tolist()) == ([1.0, 0.0], [True, False])
    assert infos[0]["terminal_observation"].tolist() == [0, 0, 1, 0, 1]
    assert infos[0]["episode"]["r"] == 1.0
    assert observations[0].tolist() == [1, 0, 0, 1, 0]
    assert observations[1] in env.observation_space


def test_attributes_and_wrappers(sb3):
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

    from skillfocus.envs import SkillVecEnv

    env = SkillVecEnv(walkers(), num_envs=3, render_mode="rgb_array")
    assert env.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    with pytest.raises(sf.UserError, match="all episodes share one environment"):
        env.set_attr("gamma", 0.5)
    env.reset()
    assert env.render().ndim == 3
    wrapped = VecNormalize(env, norm_obs=False)
    assert wrapped.reset().shape == (3, 5)
    assert env.env_is_wrapped(VecMonitor) == [False] * 3


def test_without_stable_baselines3_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "skillfocus.envs.sb3", raising=False)
    import skillfocus.envs

    with pytest.raises(sf.UserError, match=r"pip install 'skillfocus\[sb3\]'"):
        _ = skillfocus.envs.SkillVecEnv
    with pytest.raises(AttributeError, match="no attribute 'SkillVecEnvs'"):
        _ = skillfocus.envs.SkillVecEnvs


@pytest.mark.slow
def test_ppo_learns_with_skills(sb3, focused_vic):
    spec = importlib.util.spec_from_file_location("sb3_ppo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with_skills = partial(example.with_skills, focused_vic)
    agent, used = example.learn(with_skills, 80_000, seed=0)
    assert 80_000 <= used.used < 80_000 + 16 * 40
    share, steps = example.evaluate(agent, with_skills, 50, seed=0)
    assert share >= 0.9
    assert steps < 220
    with_moves = partial(example.with_moves, focused_vic)
    agent, used = example.learn(with_moves, 20_000, seed=0)
    assert example.evaluate(agent, with_moves, 10, seed=0) == (0.0, 320.0)
