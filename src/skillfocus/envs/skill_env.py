"""`SkillEnv`: skills as the actions of a Gymnasium environment; and what all environments share.

`EpisodesEnv` has the spaces, observations and pictures of one or more episodes (`episodes.py`),
`SingleEpisodeEnv` the rest of an environment that plays one: `WorldEnv` and `SkillEnv`.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from skillfocus.envs.episodes import AnyTask, Episodes, Start
from skillfocus.errors import UserError, unknown
from skillfocus.render.raster import StateImages
from skillfocus.skills.skills import Skills
from skillfocus.world import World, check_seed

OBSERVATIONS = ("multi-discrete", "dict")
"""Value indices: one array in the order of the variables, or a dictionary with one number each."""
RENDER_MODES = ("ansi", "rgb_array")


class EpisodesEnv:
    """What environments of one episode and of many share.

    Attributes:
        world: The world that is played.
    """

    def _set_up(
        self, world: World, episodes: Episodes, observation: str, render_mode: str | None
    ) -> None:
        """Set the episodes, and the spaces of one of them."""
        if observation not in OBSERVATIONS:
            raise unknown("kind of observation", observation, OBSERVATIONS)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise unknown("render mode", render_mode, RENDER_MODES)
        self.world, self.render_mode, self._episodes = world, render_mode, episodes
        self._names = world.space.names if observation == "dict" else None
        self._last_targets: list[tuple[str, ...]] = [()] * len(episodes.ended)
        self.action_space: Any = spaces.Discrete(episodes.n_options)
        self.observation_space: Any = spaces.MultiDiscrete(np.array(world.space.sizes))
        if self._names is not None:
            each = zip(self._names, map(spaces.Discrete, world.space.sizes), strict=True)
            self.observation_space = spaces.Dict(list(each))

    def _observe(self, values: np.ndarray) -> Any:
        """Return the observation of one state, int [n_variables], or of a batch of several."""
        values = values.astype(np.int64)
        if self._names is None:
            return values
        return {name: values[..., j].copy()[()] for j, name in enumerate(self._names)}

    @cached_property
    def _pictures(self) -> StateImages:
        return StateImages(self.world, self._episodes.mdp)

    def _frames(self) -> tuple[Any, ...] | None:
        """Return every episode's state, as text or as uint8 [height, width, 3]."""
        if self.render_mode is None:
            return None
        now = self._episodes
        now.check_begun()
        states = [tuple(state) for state in now.values.tolist()]
        if self.render_mode == "ansi":
            return tuple(map(self.world.draw, states))
        pictured = zip(states, now.marked, now.last_paths, self._last_targets, strict=True)
        return tuple(self._pictures.draw(*each) for each in pictured)


def requested_state(options: dict[str, Any] | None) -> Any:
    """Return the state that `reset(options={"state": …})` asks for, or None."""
    for name in options or {}:
        if name != "state":
            raise unknown("option of reset", name, ("state",))
    return (options or {}).get("state")


class EnvFactory(partial):
    """Entry point of an environment's `spec`: makes the same environment again.

    Deep copies, which Gymnasium makes of every spec, share the arguments: skills may be large.
    """

    def __deepcopy__(self, memo: dict) -> EnvFactory:
        """Return itself."""
        return self


class SingleEpisodeEnv(EpisodesEnv, gymnasium.Env[Any, Any]):
    """Base class of environments that play one episode at a time."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def _specify(self, spec_id: str, factory: EnvFactory, **settings: Any) -> None:
        """Set `spec`; the settings are further keyword arguments."""
        self.spec = EnvSpec(
            spec_id, entry_point=factory, order_enforce=False, disable_env_checker=True,
            kwargs={**settings, "render_mode": self.render_mode},
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
        self._last_targets = [()]
        return self._observe(self._episodes.values[0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action; see the class for rewards, ends and info."""
        now = self._episodes
        if np.ndim(action) == 0 and isinstance(action, np.ndarray):
            action = action[()]
        now.step(np.array([int(action)]), np.ones(1, dtype=bool), [self.np_random])
        return (
            self._observe(now.values[0]),
            float(now.rewards[0]),
            bool(now.terminated[0]),
            bool(now.truncated[0]),
            {"success": bool(now.success[0])},
        )

    def render(self) -> Any:
        """Return the current state as text, or as uint8 [height, width, 3]."""
        frames = self._frames()
        return None if frames is None else frames[0]


# -------------------- Skills as actions


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
        self.skills, self._discounts, episodes = play(skills, task, start, 1, primitives, gamma)
        self._set_up(self.skills.world, episodes, observation, render_mode)
        self._specify(
            "skillfocus/Skills-v0", EnvFactory(type(self), self.skills, task),
            primitives=primitives, gamma=gamma, start=start, observation=observation,
        )  # fmt: skip

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Follow one skill or primitive action; see the class for rewards, ends and info."""
        observation, reward, terminated, truncated, info = super().step(action)
        now, skill = self._episodes, int(action)
        steps = int(now.steps[0])
        is_skill = skill < len(self.skills)
        targets = self.skills.targets[skill] if is_skill else ()
        self._last_targets = [targets]
        info |= {
            "steps": steps,
            "discount": float(self._discounts[steps]),
            "skill": skill if is_skill else -1,
            "targets": targets,
            "path": [tuple(state) for state in now.path_values[0, : steps + 1].tolist()],
            "elapsed": int(now.elapsed[0]),
        }
        return observation, reward, terminated, truncated, info


def play(
    skills: Skills | str | Path, task: AnyTask, start: Start, n: int, primitives: bool, gamma: float
) -> tuple[Skills, np.ndarray, Episodes]:
    """Return what an environment of skills needs; see `SkillEnv` for the arguments.

    Returns:
        The skills; float64 [step_limit + 1], gamma to the power of the number of steps; and `n`
        episodes.
    """
    skills = skills if isinstance(skills, Skills) else Skills.load(skills)
    if not 0 < gamma <= 1:
        raise UserError(f"gamma must be in (0, 1], got {gamma}")
    discounts = gamma ** np.arange(skills.step_limit + 1, dtype=np.float64)
    if skills.world.has_real_actions:
        raise UserError(
            f"an environment's actions are skills of worlds with discrete actions, and those of "
            f"{skills.world.id} are real-valued: see skillfocus solve"
        )
    if skills.has_table:
        episodes = Episodes(skills.world, skills.mdp, task, start, n, skills, primitives)
    else:
        from skillfocus.envs.jax_episodes import JaxEpisodes  # needs JAX

        episodes = JaxEpisodes(skills, task, start, n, primitives)
    return skills, discounts, episodes
