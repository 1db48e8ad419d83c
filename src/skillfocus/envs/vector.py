"""`SkillVectorEnv`: many episodes of `SkillEnv` at once, stepped by one compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from skillfocus.envs.episodes import AnyTask, Start
from skillfocus.envs.skill_env import RENDER_MODES, EpisodesEnv, play, requested_state
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.world import check_seed


class SkillVectorEnv(EpisodesEnv, VectorEnv[Any, np.ndarray, np.ndarray]):
    """A batch of `SkillEnv` episodes, stepped by one compiled kernel.

    ## Description
    Episode i is the one a `SkillEnv` plays whose first reset was given episode i's seed: seed + i
    for `reset(seed=seed)`, or the i-th of a list.

    ## Action space, observation space, starting state, rewards
    Those of `SkillEnv`, batched.

    ## Episode end
    As in `SkillEnv`. An episode that has ended is reset by the next step, which ignores its action
    (Gymnasium's `AutoresetMode.NEXT_STEP`) and returns reward 0.

    ## Info
    The entries of `SkillEnv` as arrays with one row per episode; "path" is int [num_envs, t,
    n_variables], the last state repeated. The mask `_name` of every entry is False for an episode
    that the step reset.

    Example:
        >>> envs = SkillVectorEnv("out/0.skills", "true", num_envs=64)
        >>> observations, infos = envs.reset(seed=0)
    """

    metadata = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        skills: Skills | str | Path,
        task: AnyTask = "true",
        num_envs: int = 1,
        *,
        primitives: bool = False,
        gamma: float = 0.99,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
    ) -> None:
        """Make the environment.

        Args:
            skills: Skills, or a file of them.
            task: See `SkillEnv`.
            num_envs: The number of episodes.
            primitives: Whether the world's actions can be chosen too.
            gamma: Discount per primitive step, for "discount" in the info.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            start: A state as value indices, "random", or None for the task's start.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        self.skills, self._discounts, episodes = play(
            skills, task, start, num_envs, primitives, gamma
        )
        self._set_up(self.skills.world, episodes, observation, render_mode)
        self.num_envs = num_envs
        self.single_observation_space = self.observation_space
        self.single_action_space = self.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]
        targets = [*self.skills.targets, *[()] * (episodes.n_options - len(self.skills))]
        self._targets = np.fromiter(targets, dtype=object)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or those that `options["reset_mask"]` selects.

        Args:
            seed: Episode i gets seed + i, or the i-th of a list; None to go on with the generators.
            options: "reset_mask", bool [num_envs]; "state", value indices to start in.

        Returns:
            The observations and an empty info.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, dtype=bool))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise UserError(f"reset_mask must be an array of {self.num_envs} booleans")
        if seed is None:
            seeds: Sequence[int | None] = [None] * self.num_envs
        elif isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
            seeds = seed
        else:
            check_seed(seed)
            seeds = [int(seed) + i for i in range(self.num_envs)]
        for each in seeds:
            if each is not None:
                check_seed(each)
        if len(seeds) != self.num_envs:
            raise UserError(f"got {len(seeds)} seeds for {self.num_envs} episodes: pass one each")
        state = requested_state(options)
        for i in np.flatnonzero(mask).tolist():
            if (own := seeds[i]) is not None:
                self._generators[i] = seeding.np_random(int(own))[0]
            self._episodes.begin(i, self._generators[i], state)
            self._last_targets[i] = ()
        self._episodes.check_begun()
        return self._observe(self._episodes.values), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Follow one skill or primitive action per episode, and reset those that had ended.

        Args:
            actions: int [num_envs].

        Returns:
            Observations, rewards, terminated, truncated and infos, batched.
        """
        now = self._episodes
        now.check_begun()
        active = ~now.ended
        try:
            chosen = np.asarray(actions)
        except ValueError:  # lists of different lengths
            raise UserError(f"step takes {self.num_envs} actions, one per episode") from None
        if chosen.shape != (self.num_envs,):
            raise UserError(
                f"step takes {self.num_envs} actions, one per episode, got shape {chosen.shape}"
            )
        chosen = chosen.astype(np.int64)
        now.step(chosen, active, self._generators)
        chosen = np.where(active, chosen, 0)
        targets = zip(self._targets[chosen], active, strict=True)
        self._last_targets = [own if is_active else () for own, is_active in targets]
        for i in np.flatnonzero(~active).tolist():
            now.begin(i, self._generators[i])
        return (
            self._observe(now.values),
            np.where(active, now.rewards, 0.0),
            now.terminated & active,
            now.truncated & active,
            self._infos(chosen, active),
        )

    def _infos(self, chosen: np.ndarray, active: np.ndarray) -> dict[str, Any]:
        if not active.any():
            return {}
        now = self._episodes
        length = int(now.steps[active].max()) + 1
        infos = {
            "steps": now.steps.copy(),
            "discount": self._discounts[now.steps],
            "skill": np.where(chosen < len(self.skills), chosen, -1),
            "targets": self._targets[chosen],
            "path": now.path_values[:, :length],
            "elapsed": now.elapsed.copy(),
            "success": now.success,
        }
        return infos | {f"_{name}": active.copy() for name in infos}

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every episode's generator."""
        return tuple(self._generators)

    def render(self) -> tuple[Any, ...] | None:
        """Return every episode's state, as text or as uint8 [height, width, 3]."""
        return self._frames()
