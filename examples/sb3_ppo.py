"""PPO of Stable-Baselines3 learns FourRooms' task with skills, and with primitive moves alone.

Both agents have the same settings and may take the same number of primitive steps. The one with
skills also has the moves. Needs Stable-Baselines3: pip install 'skillfocus[sb3]'.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecEnv

import skillfocus as sf
from skillfocus.envs import SkillEnv, WorldEnv

SETTINGS = {
    "learning_rate": 1e-3, "n_steps": 32, "batch_size": 256, "n_epochs": 8, "gamma": 0.99,
    "ent_coef": 0.01, "policy_kwargs": {"net_arch": [64]}, "device": "cpu",
}  # fmt: skip
COPIES = 16
MakeEnv = Callable[[int, int], VecEnv]
"""From a number of copies and a seed to that many environments."""


class Budget(BaseCallback):
    """Stops learning after a number of primitive steps, and counts the successes on the way."""

    def __init__(self, max_steps: int) -> None:
        super().__init__()
        self.max_steps, self.used, self.successes = max_steps, 0, 0

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self.used += sum(info.get("steps", 1) for info in infos)
        self.successes += sum(info["success"] for info in infos)
        return self.used < self.max_steps


def with_skills(skills: sf.Skills, copies: int, seed: int) -> VecEnv:
    return make_vec_env(lambda: SkillEnv(skills, "true", primitives=True), copies, seed=seed)


def with_moves(skills: sf.Skills, copies: int, seed: int) -> VecEnv:
    def make() -> gymnasium.Env:
        world = WorldEnv(skills.world, "true", mdp=skills.mdp)
        return gymnasium.wrappers.FlattenObservation(world)

    return make_vec_env(make, copies, seed=seed)


def learn(make_env: MakeEnv, budget: int, seed: int) -> tuple[PPO, Budget]:
    torch.set_num_threads(1)  # faster for nets this small
    counting = Budget(budget)
    agent = PPO("MlpPolicy", make_env(COPIES, seed), seed=seed, **SETTINGS)
    return agent.learn(budget, callback=counting), counting


def evaluate(agent: PPO, make_env: MakeEnv, episodes: int, seed: int) -> tuple[float, float]:
    """Return the share of episodes that succeed, and the mean primitive steps of all of them."""
    set_random_seed(seed)
    env = make_env(episodes, 10_000 * (seed + 1))
    observations: Any = env.reset()
    over, succeeded, steps = (np.zeros(episodes, dtype) for dtype in (bool, bool, int))
    while not over.all():
        actions, _ = agent.predict(observations)
        observations, _, dones, infos = env.step(actions)
        for i in np.flatnonzero(~over):
            steps[i] += infos[i].get("steps", 1)
            succeeded[i] = dones[i] and infos[i]["success"]
        over |= dones
    return float(succeeded.mean()), float(steps.mean())


def compare(budget: int = 200_000, episodes: int = 50, seed: int = 0) -> dict[str, float]:
    """Train and evaluate both agents, and return the share of successes of each."""
    skills = sf.discover(sf.make("FourRooms-v0"), sf.focused(sf.vic()), seed=seed)
    shares = {}
    for name, make_env in (("skills", with_skills), ("moves", with_moves)):
        began = time.process_time()
        agent, used = learn(partial(make_env, skills), budget, seed)
        share, steps = evaluate(agent, partial(make_env, skills), episodes, seed)
        print(
            f"seed {seed}, {name}: success {share:.0%}, {steps:.0f} steps; while learning "
            f"{used.successes} successes in {used.used:,} primitive steps, "
            f"{time.process_time() - began:.0f} s"
        )
        shares[name] = share
    return shares


if __name__ == "__main__":
    compare()
