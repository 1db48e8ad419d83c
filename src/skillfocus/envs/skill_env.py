"""`SkillEnv`: skills as the actions of a Gymnasium environment."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from skillfocus.envs.episodes import AnyTask, Episodes, ObservationEncoder, Start, episodes_of
from skillfocus.errors import UserError, unknown
from skillfocus.render.raster import StateImages
from skillfocus.skills.skills import Skills
from skillfocus.world import World, check_seed

if TYPE_CHECKING:
    from skillfocus.envs.jax_episodes import JaxEpisodes


# --------------------
#
# What `WorldEnv` and `SkillEnv` share: reset, observation and rendering of one episode

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
        episodes: Episodes | JaxEpisodes,
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


class SkillEnv(SingleEpisodeEnv):
    """Skills as the actions of a Gymnasium environment.

    ## Description
    The agent solves a task in the skills' world by choosing skills. One step of the environment
    follows a skill until it terminates, reaches its step limit, ends the episode, or is cut off
    because the episode is truncated. A skill that terminates without a step costs one step.

    ## Action space
    `Discrete(n_skills)`, or with `primitives` `Discrete(n_skills + n_actions)`: the skills, then
    the world's actions.

    ## Observation space, starting state, rewards
    As in `WorldEnv`.

    ## Episode end
    As in `WorldEnv`; `max_episode_steps` counts primitive steps.

    ## Info
    After a step, about that step: "steps" (primitive steps taken), "discount" (gamma to the power
    of "steps"), "skill" (its number, -1 for a primitive action), "targets" (the variables it
    targets), "path" (the states as value indices, the first one included: one more than "steps"),
    "success" (whether the true task is accomplished), and "elapsed" (the primitive steps of the
    episode so far).

    Example:
        >>> env = SkillEnv("out/0.skills", "true", primitives=True)
        >>> observation, info = env.reset(seed=0)
    """

    def __init__(
        self,
        skills: Skills | str | Path,
        task: AnyTask = "true",
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
            task: A task; or the reward to pay for the world's own task, "true" or "proxy", or that
                task's name; or None for no task. In a world without a table, a task of your own is
                a function that says whether a state, {variable: value}, accomplishes it.
            primitives: Whether the world's actions can be chosen too.
            gamma: Discount per primitive step, for "discount" in the info.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            start: A state as value indices, "random", or None for the task's start.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        self.skills = skills = load_skills(skills)
        self._discounts = discounts(skills, gamma)
        super().__init__(
            skills.world, episodes_of(skills, task, start, 1, primitives), observation=observation,
            render_mode=render_mode, spec_id="skillfocus/Skills-v0",
            factory=EnvFactory(type(self), skills, task),
            settings={"primitives": primitives, "gamma": gamma, "start": start},
        )  # fmt: skip

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Follow one skill or primitive action; see the class for rewards, ends and info."""
        observation, reward, terminated, truncated, info = self._follow(action)
        now, skill = self._episodes, int(action)
        steps = int(now.steps[0])
        is_skill = skill < len(self.skills)
        self._last_targets = self.skills.targets[skill] if is_skill else ()
        info |= {
            "steps": steps,
            "discount": float(self._discounts[steps]),
            "skill": skill if is_skill else -1,
            "targets": self._last_targets,
            "path": [tuple(state) for state in now.path_values[0, : steps + 1].tolist()],
            "elapsed": int(now.elapsed[0]),
        }
        return observation, reward, terminated, truncated, info


def load_skills(skills: Skills | str | Path) -> Skills:
    """Return `skills`, read from a file if it is a path."""
    if isinstance(skills, str | Path):
        return Skills.load(skills)
    return skills


def discounts(skills: Skills, gamma: float) -> np.ndarray:
    """Return float64 [step_limit + 1]: gamma to the power of the number of steps."""
    if not 0 < gamma <= 1:
        raise UserError(f"gamma must be in (0, 1], got {gamma}")
    return gamma ** np.arange(skills.step_limit + 1, dtype=np.float64)
