"""What the environments of one episode share: beginning it, observing it, drawing it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.world import World
from skillfocus.envs.episode import Episodes
from skillfocus.envs.goal import Goal
from skillfocus.envs.observation import Observing
from skillfocus.errors import unknown
from skillfocus.render.raster import StateImages
from skillfocus.skills.skills import Skills

RENDER_MODES = ("ansi", "rgb_array")


class Again:
    """Makes the same environment again; copies share its arguments, which may be large."""

    def __init__(self, kind: type, *arguments: object, **fixed: object) -> None:
        self._kind, self._arguments, self._fixed = kind, arguments, fixed

    def __call__(self, **settings: object) -> gymnasium.Env:
        return self._kind(*self._arguments, **self._fixed, **settings)

    def __deepcopy__(self, memo: dict) -> Again:
        return self


def check_render_mode(mode: str | None) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise unknown("render mode", mode, RENDER_MODES)


def state_in(options: dict[str, Any] | None) -> Any:
    """The state that `reset(options={"state": …})` asks for, or None."""
    for name in options or {}:
        if name != "state":
            raise unknown("option of reset", name, ("state",))
    return (options or {}).get("state")


class OneEpisode(gymnasium.Env[Any, Any]):
    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(
        self,
        world: World,
        mdp: TabularMDP,
        goal: Goal,
        *,
        skills: Skills | None,
        primitives: bool,
        observation: str,
        render_mode: str | None,
        spec_id: str,
        again: Again,
        settings: dict[str, Any],
    ) -> None:
        check_render_mode(render_mode)
        self.world, self.render_mode = world, render_mode
        self._table = mdp
        self._observing = Observing(mdp, observation)
        self._episodes = Episodes(mdp, goal, 1, skills, primitives)
        self.observation_space = self._observing.space
        self.action_space = gymnasium.spaces.Discrete(self._episodes.n_choices)
        self.spec = EnvSpec(
            spec_id, entry_point=again, order_enforce=False, disable_env_checker=True,
            kwargs={**settings, "observation": observation, "render_mode": render_mode},
        )  # fmt: skip

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._episodes.begin(0, self.np_random, state_in(options))
        return self._observing.of(self._episodes.states[0]), {}

    def _play(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        now = self._episodes
        now.step(np.array([int(action)]), np.ones(1, dtype=bool), [self.np_random])
        return (
            self._observing.of(now.states[0]),
            float(now.rewards[0]),
            bool(now.terminated[0]),
            bool(now.truncated[0]),
            {"success": bool(now.success[0])},
        )

    @cached_property
    def _pictures(self) -> StateImages:
        return StateImages(self.world, self._table)

    def render(self) -> Any:
        """The state now: as text, or as an array [row, column, colour]."""
        now = self._episodes
        if self.render_mode is None:
            return None
        now.check_begun()
        state = int(now.states[0])
        if self.render_mode == "ansi":
            return self.world.draw(self._table.state(state))
        return self._pictures.draw(state, now.marked[0], now.ways[0])
