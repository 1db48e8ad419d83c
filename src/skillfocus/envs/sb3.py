"""`SkillVecEnv`: skills as the actions of a Stable-Baselines3 agent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from skillfocus.envs.episodes import AnyTask, Start
from skillfocus.envs.vector import SkillVectorEnv
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise UserError("SkillVecEnv needs Stable-Baselines3: pip install 'skillfocus[sb3]'") from None


class SkillVecEnv(VecEnv):
    """A batch of `SkillEnv` episodes as the `VecEnv` that Stable-Baselines3 trains on.

        env = SkillVecEnv(skills, "true", num_envs=16, primitives=True)
        agent = PPO("MlpPolicy", env).learn(100_000)

    Episodes are those of `SkillVectorEnv`, which steps all of them with one compiled kernel, and
    infos those of `SkillEnv`. As Stable-Baselines3 wants it, an episode that ends begins anew in
    the same step: its last observation is in `info["terminal_observation"]`, and
    `info["TimeLimit.truncated"]` says whether it was truncated. At an end, `info["episode"]` has
    its return `r`, its number of decisions `l` and the seconds `t` so far, as SB3's Monitor has it.

    Attributes:
        env: The `SkillVectorEnv`.
    """

    def __init__(
        self,
        skills: Skills | str | Path,
        task: AnyTask = "true",
        num_envs: int = 1,
        *,
        one_hot: bool = True,
        primitives: bool = False,
        gamma: float = 0.99,
        start: Start = None,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            skills: Skills, or a file of them.
            task: See `SkillEnv`.
            num_envs: The number of episodes.
            one_hot: Whether an observation is one vector of zeros and ones, one group per variable;
                else it is the values' indices, which Stable-Baselines3 encodes in the same way.
            primitives: Whether the world's actions can be chosen too.
            gamma: Discount per primitive step, for "discount" in the info.
            start: A state as value indices, "random", or None for the task's start.
            render_mode: None, "ansi" or "rgb_array".

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        self.env = SkillVectorEnv(
            skills, task, num_envs, primitives=primitives, gamma=gamma, start=start,
            render_mode=render_mode,
        )  # fmt: skip
        self._offsets = np.cumsum((0, *self.env.skills.world.space.sizes))
        self._one_hot = one_hot
        space: spaces.Space[Any] = self.env.single_observation_space
        if one_hot:
            space = spaces.Box(0.0, 1.0, (int(self._offsets[-1]),), np.float32)
        self._render_mode = render_mode
        super().__init__(self.env.num_envs, space, self.env.single_action_space)
        self._seed: int | None = None
        self._began = time.monotonic()
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._actions = np.zeros(self.num_envs, dtype=np.int64)

    def _encode(self, values: np.ndarray) -> np.ndarray:
        """Return observations of value indices [n, n_variables]."""
        if not self._one_hot:
            return values
        encoded = np.zeros((len(values), int(self._offsets[-1])), dtype=np.float32)
        encoded[np.arange(len(values))[:, None], values + self._offsets[:-1]] = 1.0
        return encoded

    def reset(self) -> np.ndarray:
        """Start all episodes, with the seed given to `seed`, and return their observations."""
        values, _ = self.env.reset(seed=self._seed)
        self._seed = None
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self._encode(values)

    def step_async(self, actions: np.ndarray) -> None:
        """Take note of the next actions, int [num_envs]."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Follow one skill or primitive action per episode, and begin those anew that end.

        Returns:
            Observations, rewards, whether episodes ended, and infos.
        """
        values, rewards, terminated, truncated, batch = self.env.step(self._actions)
        dones = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos = self._infos(batch)
        for i in np.flatnonzero(dones).tolist():
            infos[i]["terminal_observation"] = self._encode(values[i : i + 1])[0]
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            passed = round(time.monotonic() - self._began, 6)
            episode = {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": passed}
            infos[i]["episode"] = episode
        if dones.any():
            values, _ = self.env.reset(options={"reset_mask": dones})
            self._returns[dones] = 0.0
            self._lengths[dones] = 0
        return self._encode(values), rewards.astype(np.float32), dones, infos

    def _infos(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """Return one info per episode, as `SkillEnv` gives it."""
        infos: list[dict[str, Any]] = []
        for i in range(self.num_envs):
            steps = int(batch["steps"][i])
            path = batch["path"][i, : steps + 1].tolist()
            infos.append(
                {
                    "steps": steps,
                    "discount": float(batch["discount"][i]),
                    "skill": int(batch["skill"][i]),
                    "targets": batch["targets"][i],
                    "path": [tuple(state) for state in path],
                    "elapsed": int(batch["elapsed"][i]),
                    "success": bool(batch["success"][i]),
                }
            )
        return infos

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seed of the next reset: episode i gets seed + i."""
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def get_images(self) -> list[np.ndarray | None]:
        """Return a picture of every episode."""
        pictures = self.env.render()
        return [None] * self.num_envs if pictures is None else list(pictures)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the environment, once per episode."""
        own = {"render_mode": self._render_mode, "spec": None}
        value = own[attr_name] if attr_name in own else getattr(self.env, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: episodes share one environment."""
        del value, indices
        raise UserError(f"{attr_name} cannot be set: all episodes share one environment")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Refuse: episodes share one environment."""
        del method_args, indices, method_kwargs
        raise UserError(f"{method_name} cannot be called: all episodes share one environment")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each episode, but for SB3's Monitor: episodes are monitored here."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._chosen(indices)]

    def _chosen(self, indices: int | Sequence[int] | None) -> Sequence[int]:
        if indices is None:
            return range(self.num_envs)
        return [indices] if isinstance(indices, int) else list(indices)  # pyright: ignore
