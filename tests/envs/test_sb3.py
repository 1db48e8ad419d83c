"""Stable-Baselines3 on `SkillEnv`, and the PPO example that trains on it."""

from __future__ import annotations

import importlib.util
from functools import partial

import numpy as np
import pytest

from paths import ROOT
from skill_sets import walkers
from skillfocus.envs import SkillEnv

EXAMPLE = ROOT / "examples" / "sb3_ppo.py"


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3", reason="needs the extra sb3")


def test_episodes_keep_their_last_observation(sb3):
    from stable_baselines3.common.env_util import make_vec_env

    env = make_vec_env(lambda: SkillEnv(walkers()), 2, seed=0)
    assert np.asarray(env.reset()).tolist() == [[0, 0]] * 2
    observations, rewards, dones, infos = env.step(np.array([0, 1]))
    assert (rewards.tolist(), dones.tolist()) == ([1.0, 0.0], [True, False])
    assert infos[0]["terminal_observation"].tolist() == [2, 1]
    assert infos[0]["episode"]["r"] == 1.0
    assert np.asarray(observations)[0].tolist() == [0, 0]


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
