"""What `WorldEnv` and `SkillEnv` share: reset, observation and rendering of one episode."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from skillfocus.core.seeds import check_seed
from skillfocus.core.world import World
from skillfocus.envs.making import AnyEpisodes
from skillfocus.envs.observation import ObservationEncoder
from skillfocus.errors import unknown
from skillfocus.render.raster import StateImages

RENDER_MODES = ("ansi", "rgb_array")


class EnvFactory:
    """Entry point of an environment's `spec`: makes the same environment again.

    Deep copies, which Gymnasium makes of every spec, share the arguments: skills may be large.
    """

    def __init__(self, env_class: type, *arguments: object, **fixed: object) -> None:
        self._env_class, self._arguments, self._fixed = env_class, arguments, fixed

    def __call__(self, **settings: object) -> gymnasium.Env:
        """Make the environment."""
        return self._env_class(*self._arguments, **self._fixed, **settings)

    def __deepcopy__(self, memo: dict) -> EnvFactory:
        """Return itself: copies share the arguments, which may be large."""
        return self


def check_render_mode(mode: str | None) -> None:
    """Raise a `UserError` unless `mode` is one of `RENDER_MODES` or None."""
    if mode is not None and mode not in RENDER_MODES:
        raise unknown("render mode", mode, RENDER_MODES)


def requested_state(options: dict[str, Any] | None) -> Any:
    """Return the state that `reset(options={"state": …})` asks for, or None."""
    for name in options or {}:
        if name != "state":
            raise unknown("option of reset", name, ("state",))
    return (options or {}).get("state")


class SingleEpisodeEnv(gymnasium.Env[Any, Any]):
    """Base class of environments that play one episode at a time.

    Attributes:
        world: The world that is played.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(
        self,
        world: World,
        episodes: AnyEpisodes,
        *,
        observation: str,
        render_mode: str | None,
        spec_id: str,
        factory: EnvFactory,
        settings: dict[str, Any],
    ) -> None:
        """Set up spaces, spec and the episode.

        Args:
            world: The world to play.
            episodes: One episode, from `make_episodes`.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            spec_id: The id in `spec`.
            factory: The entry point in `spec`.
            settings: Further keyword arguments in `spec`.
        """
        check_render_mode(render_mode)
        self.world, self.render_mode = world, render_mode
        self._encoder = ObservationEncoder(world.space, observation)
        self._episodes = episodes
        self._last_targets: tuple[str, ...] = ()
        self.observation_space = self._encoder.space
        self.action_space = gymnasium.spaces.Discrete(self._episodes.n_options)
        self.spec = EnvSpec(
            spec_id, entry_point=factory, order_enforce=False, disable_env_checker=True,
            kwargs={**settings, "observation": observation, "render_mode": render_mode},
        )  # fmt: skip

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seed of the environment's generator; None to go on with it.
            options: `{"state": value indices}` to start in that state.

        Returns:
            The first observation and an empty info.
        """
        if seed is not None:
            check_seed(seed)
            seed = int(seed)  # Gymnasium refuses NumPy's integers
        super().reset(seed=seed)
        self._episodes.begin(0, self.np_random, requested_state(options))
        self._last_targets = ()
        return self._encoder.encode(self._episodes.values[0]), {}

    def _follow(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action; the info has "success" only."""
        now = self._episodes
        if np.ndim(action) == 0 and isinstance(action, np.ndarray):
            action = action[()]
        now.step(np.array([int(action)]), np.ones(1, dtype=bool), [self.np_random])
        return (
            self._encoder.encode(now.values[0]),
            float(now.rewards[0]),
            bool(now.terminated[0]),
            bool(now.truncated[0]),
            {"success": bool(now.success[0])},
        )

    @cached_property
    def _pictures(self) -> StateImages:
        return StateImages(self.world, self._episodes.mdp)

    def render(self) -> Any:
        """Return the current state as text, or as uint8 [height, width, 3]."""
        now = self._episodes
        if self.render_mode is None:
            return None
        now.check_begun()
        state = tuple(now.values[0].tolist())
        if self.render_mode == "ansi":
            return self.world.draw(state)
        return self._pictures.draw(state, now.marked[0], now.ways[0], self._last_targets)
