"""Worlds and skills as Gymnasium environments: `WorldEnv`, `SkillEnv` and `SkillVectorEnv`.

`EpisodesEnv` has the spaces, observations and pictures of one or more episodes (`episodes.py`),
`SingleEpisodeEnv` the rest of an environment that plays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from skillfocus.envs.episodes import AnyTask, Episodes, JaxEpisodes, Start
from skillfocus.errors import UserError, unknown
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.render.raster import StateImages
from skillfocus.skills.skills import Skills
from skillfocus.tasks.task import Task
from skillfocus.world import World, check_declared, check_seed
from skillfocus.worlds.registry import make

OBSERVATIONS = ("multi-discrete", "dict")
"""Value indices: one array in the order of the variables, or a dictionary with one number each."""
RENDER_MODES = ("ansi", "rgb_array")


class EpisodesEnv:
    """What environments of one episode and of many share.

    Attributes:
        world: The world that is played.
        skills: The skills that are the actions; None where the world's actions are.
    """

    skills: Any = None

    def _set_up(
        self, world: World, episodes: Episodes, observation: str, render_mode: str | None
    ) -> None:
        """Set the episodes, and the spaces of one of them."""
        if observation not in OBSERVATIONS:
            raise unknown("kind of observation", observation, OBSERVATIONS)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise unknown("render mode", render_mode, RENDER_MODES)
        self.world, self.render_mode, self._episodes = world, render_mode, episodes
        self._last_targets: list[tuple[str, ...]] = [()] * len(episodes.ended)
        self.action_space: Any = spaces.Discrete(episodes.n_options)
        self._as_dict = observation == "dict"
        self.observation_space: Any = spaces.MultiDiscrete(np.array(world.space.sizes))
        if self._as_dict:
            each = zip(world.space.names, map(spaces.Discrete, world.space.sizes), strict=True)
            self.observation_space = spaces.Dict(list(each))

    def _play(
        self, skills: Skills | str | Path, task: AnyTask, start: Start, n: int, primitives: bool,
        gamma: float, observation: str, render_mode: str | None,
    ) -> None:  # fmt: skip
        """Set the skills and `n` episodes of them; see `SkillEnv` for the arguments."""
        self.skills = skills if isinstance(skills, Skills) else Skills.load(skills)
        if not 0 < gamma <= 1:
            raise UserError(f"gamma must be in (0, 1], got {gamma}")
        self._discounts = gamma ** np.arange(self.skills.step_limit + 1, dtype=np.float64)
        world = self.skills.world
        if world.has_real_actions:
            raise UserError(
                f"an environment's actions are skills of worlds with discrete actions, and those "
                f"of {world.id} are real-valued: see skillfocus solve"
            )
        if self.skills.has_table:
            episodes = Episodes(world, self.skills.mdp, task, start, n, self.skills, primitives)
        else:
            episodes = JaxEpisodes(self.skills, task, start, n, primitives)
        self._set_up(world, episodes, observation, render_mode)
        targets = [*self.skills.targets, *[()] * (episodes.n_options - len(self.skills))]
        self._targets = np.fromiter(targets, dtype=object)

    def _begin(self, i: int, rng: np.random.Generator, state: Any = None) -> None:
        self._episodes.begin(i, rng, state)
        self._last_targets[i] = ()

    def _step(
        self, chosen: np.ndarray, rngs: Sequence[np.random.Generator], active: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Follow an option in every active episode, and reset the others.

        Returns:
            Rewards, terminated, truncated and infos, with a row per episode.
        """
        now = self._episodes
        rewarded, terminated, truncated = now.step(chosen, active, rngs)
        for i in np.flatnonzero(~active).tolist():
            self._begin(i, rngs[i])
        infos = {}
        if active.any():
            infos["success"] = now.success
            if self.skills is not None:
                chosen = np.where(active, chosen, 0)
                targets = self._targets[chosen]
                for i in np.flatnonzero(active).tolist():
                    self._last_targets[i] = targets[i]
                infos |= {
                    "steps": now.steps.copy(),
                    "discount": self._discounts[now.steps],
                    "skill": np.where(chosen < len(self.skills), chosen, -1),
                    "targets": targets,
                    "path": now.path_values[:, : now.steps[active].max() + 1],
                    "elapsed": now.elapsed.copy(),
                }
        return rewarded.astype(np.float64), terminated, truncated, infos

    def _observe(self, values: np.ndarray) -> Any:
        """Return the observation of one state, int [n_variables], or of a batch of several."""
        values = values.astype(np.int64)
        if not self._as_dict:
            return values
        return {name: values[..., j].copy()[()] for j, name in enumerate(self.world.space.names)}

    @cached_property
    def _pictures(self) -> StateImages:
        return StateImages(self.world, self._episodes.mdp)

    def render(self) -> Any:
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
        self._begin(0, self.np_random, requested_state(options))
        return self._observe(self._episodes.values[0]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action; see the class for rewards, ends and info."""
        rewards, terminated, truncated, infos = self._step(
            np.array([int(action)]), [self.np_random], np.ones(1, dtype=bool)
        )
        info = {name: rows.tolist()[0] for name, rows in infos.items()}
        if "path" in info:
            info["path"] = list(map(tuple, info["path"]))
        observation = self._observe(self._episodes.values[0])
        return observation, rewards.item(), terminated.item(), truncated.item(), info

    def render(self) -> Any:
        """Return the current state as text, or as uint8 [height, width, 3]."""
        frames = super().render()
        return None if frames is None else frames[0]


class WorldEnv(SingleEpisodeEnv):
    """A world as a Gymnasium environment, one primitive action per step.

    ## Description
    The agent acts in a factored world and, if there is a task, is rewarded for accomplishing it.

    ## Action space
    `Discrete(n_actions)`: the world's actions, in the order of `world.actions`.

    ## Observation space
    The state's value indices. "multi-discrete": one int64 array in the order of the variables.
    "dict": one number per variable, by name.

    ## Starting state
    The task's start; without a task, one of `world.states()` that does not end the episode, drawn
    uniformly. `start` and `reset(options={"state": …})` override it.

    ## Rewards
    1 when a state is entered in which the task is accomplished, by its true or its proxy reward;
    otherwise 0. Without a task, always 0.

    ## Episode end
    Terminated when the reward is paid, or in a final state of an explored world. Truncated after
    the task's `max_episode_steps`; never without a task.

    ## Info
    After a step, "success": whether the true task is accomplished, whichever reward is paid.

    Example:
        >>> env = WorldEnv("four-rooms", "true", slip=0.0)
        >>> observation, info = env.reset(seed=0)
    """

    def __init__(
        self,
        world: World | str,
        task: Task | str | None = None,
        *,
        observation: str = "multi-discrete",
        render_mode: str | None = None,
        start: Start = None,
        mdp: TabularMDP | None = None,
        **settings: object,
    ) -> None:
        """Make the environment.

        Args:
            world: A world, or the name of one as `sf.make` takes it.
            task: A task; or the reward to pay for the world's own task, "true" or "proxy", or that
                task's name; or None for no task.
            observation: "multi-discrete" or "dict".
            render_mode: None, "ansi" or "rgb_array".
            start: A state as value indices, "random", or None for the task's start.
            mdp: The world's MDP, to save tabulating it again.
            **settings: Settings of a world given by name, such as `slip=0.0`.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        if isinstance(world, str):
            world, settings = make(world, **settings), {}
        check_declared(world)
        if settings:
            raise UserError(
                f"{world.id} is already made: pass {', '.join(settings)} where you make it"
            )
        mdp = mdp or tabulate(world)
        if mdp.space != world.space:
            raise UserError(f"the MDP is not of {world.id}: pass mdp=tabulate(world), or none")
        self._set_up(world, Episodes(world, mdp, task, start, 1), observation, render_mode)
        self._specify(
            "skillfocus/World-v0", EnvFactory(type(self), world, task, mdp=mdp),
            start=start, observation=observation,
        )  # fmt: skip


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
        self._play(skills, task, start, 1, primitives, gamma, observation, render_mode)
        self._specify(
            "skillfocus/Skills-v0", EnvFactory(type(self), self.skills, task),
            primitives=primitives, gamma=gamma, start=start, observation=observation,
        )  # fmt: skip


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
            num_envs: The number of episodes. The other arguments are those of `SkillEnv`.

        Raises:
            UserError: If an argument is unknown or does not fit the world.
        """
        self._play(skills, task, start, num_envs, primitives, gamma, observation, render_mode)
        self.num_envs = num_envs
        self.single_observation_space = self.observation_space
        self.single_action_space = self.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]

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
        listed = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str)
        seeds: Any = seed if listed else [seed] * self.num_envs
        for each in seeds:
            if each is not None:
                check_seed(each)
        if seed is not None and not listed:
            seeds = [int(each) + i for i, each in enumerate(seeds)]
        if len(seeds) != self.num_envs:
            raise UserError(f"got {len(seeds)} seeds for {self.num_envs} episodes: pass one each")
        state = requested_state(options)
        for i in np.flatnonzero(mask).tolist():
            if (own := seeds[i]) is not None:
                self._generators[i] = seeding.np_random(int(own))[0]
            self._begin(i, self._generators[i], state)
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
        self._episodes.check_begun()
        try:
            chosen = np.asarray(actions)
        except ValueError:  # lists of different lengths
            raise UserError(f"step takes {self.num_envs} actions, one per episode") from None
        if chosen.shape != (self.num_envs,):
            raise UserError(
                f"step takes {self.num_envs} actions, one per episode, got shape {chosen.shape}"
            )
        active = ~self._episodes.ended
        rewards, terminated, truncated, infos = self._step(
            chosen.astype(np.int64), self._generators, active
        )
        infos |= {f"_{name}": active.copy() for name in infos}
        return self._observe(self._episodes.values), rewards, terminated, truncated, infos

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Every episode's generator."""
        return tuple(self._generators)
