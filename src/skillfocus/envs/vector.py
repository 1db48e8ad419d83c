"""`SkillVectorEnv`: many episodes of `SkillEnv` at once, stepped by one compiled kernel.

Episode i is the one that a `SkillEnv` plays whose first reset was given episode i's seed: seed + i
for `reset(seed=seed)`, or the i-th of a list. An episode that has ended begins anew at the next
step, whose action is ignored (Gymnasium's NEXT_STEP); that step's reward is 0, and the masks of the
infos leave the episode out. Infos are arrays: "path" is [episode, t, variable], the last state
repeated; the others are `SkillEnv`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from skillfocus.envs.base import RENDER_MODES, check_render_mode, state_in
from skillfocus.envs.episode import Episodes
from skillfocus.envs.goal import Start, goal_of
from skillfocus.envs.observation import Observing
from skillfocus.envs.skill_env import discounts, loaded
from skillfocus.errors import UserError
from skillfocus.render.raster import StateImages
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task


class SkillVectorEnv(VectorEnv[Any, np.ndarray, np.ndarray]):
    metadata = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        skills: Skills | str | Path,
        task: Task | str = "true",
        num_envs: int = 1,
        *,
        primitives: bool = False,
        gamma: float = 0.99,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
    ) -> None:
        if num_envs < 1:
            raise UserError(f"num_envs is {num_envs}; it must be at least 1")
        check_render_mode(render_mode)
        self.skills = skills = loaded(skills)
        self.num_envs, self.render_mode = num_envs, render_mode
        self._discounts = discounts(skills, gamma)
        goal = goal_of(skills.world, skills.mdp, task, start)
        self._episodes = Episodes(skills.mdp, goal, num_envs, skills, primitives)
        self._observing = Observing(skills.mdp, observation)
        self.single_observation_space = self._observing.space
        self.single_action_space = Discrete(self._episodes.n_choices)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]
        targets = np.empty(self._episodes.n_choices, dtype=object)
        for choice in range(len(targets)):
            targets[choice] = skills.targets[choice] if choice < len(skills) else ()
        self._targets = targets

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes anew, or those that `options["reset_mask"]` names."""
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, dtype=bool))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise UserError(f"reset_mask must be an array of {self.num_envs} booleans")
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        if seed is not None and len(seed) != self.num_envs:
            raise UserError(f"there are {len(seed)} seeds for {self.num_envs} episodes")
        state = state_in(options)
        for i in np.flatnonzero(mask).tolist():
            if seed is not None and seed[i] is not None:
                self._generators[i] = seeding.np_random(seed[i])[0]
            self._episodes.begin(i, self._generators[i], state)
        self._episodes.check_begun()
        return self._observing.of(self._episodes.states), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        now = self._episodes
        now.check_begun()
        active = ~now.ended
        chosen = np.asarray(actions, dtype=np.int64)
        if chosen.shape != (self.num_envs,):
            raise UserError(f"step takes {self.num_envs} actions, one per episode")
        now.step(chosen, active, self._generators)
        for i in np.flatnonzero(~active).tolist():
            now.begin(i, self._generators[i])
        observations = self._observing.of(now.states)
        rewards = np.where(active, now.rewards, 0.0)
        return (
            observations, rewards, now.terminated & active, now.truncated & active,
            self._infos(chosen, active),
        )  # fmt: skip

    def _infos(self, chosen: np.ndarray, active: np.ndarray) -> dict[str, Any]:
        if not active.any():
            return {}
        now = self._episodes
        chosen = np.where(active, chosen, 0)
        length = int(now.steps[active].max()) + 1
        infos = {
            "steps": now.steps.copy(),
            "discount": self._discounts[now.steps],
            "skill": np.where(chosen < len(self.skills), chosen, -1),
            "targets": self._targets[chosen],
            "path": self.skills.mdp.values[now.paths[:, :length]],
            "elapsed": now.elapsed.copy(),
            "success": now.success,
        }
        return infos | {f"_{name}": active.copy() for name in infos}

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every episode's generator."""
        return tuple(self._generators)

    @cached_property
    def _pictures(self) -> StateImages:
        return StateImages(self.skills.world, self.skills.mdp)

    def render(self) -> tuple[Any, ...] | None:
        """Every episode's state now: as text, or as an array [row, column, colour]."""
        if self.render_mode is None:
            return None
        now, world = self._episodes, self.skills.world
        now.check_begun()
        states = now.states.tolist()
        if self.render_mode == "ansi":
            return tuple(world.draw(self.skills.mdp.state(state)) for state in states)
        return tuple(map(self._pictures.draw, states, now.marked, now.ways))
