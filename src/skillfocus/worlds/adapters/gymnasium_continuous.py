"""Continuous Gymnasium environments as worlds: variables are named slices of the observation.

Nothing about an observation's numbers says which belong together, so the user names them:
`{"angle": (0, 2), "velocity": 2}` makes one variable of the first two numbers and one of the third.
Numbers that no variable names are seen by policies, but no skill is about them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.world import check_step_limit
from skillfocus.worlds.adapters.stepping import find_env
from skillfocus.worlds.host import HostStep, HostWorld

Slices = Mapping[str, Any]
"""Per variable, an index of the observation, a pair (first, end), or {"at": either, "scale": …}."""
EPISODE_STEPS = 1000
"""Steps of an episode where the environment names none."""


class GymnasiumWorld(HostWorld):
    """A Gymnasium environment with continuous observations and actions.

    `sf.make("gymnasium:Pendulum-v1", variables={"angle": [0, 2], "velocity": 2})`
    """

    def __init__(
        self,
        world_id: str,
        make_env: Callable[[], Any],
        variables: Slices,
        step_limit: int,
        settings: Mapping[str, object],
    ) -> None:
        """Make a world; `from_continuous_gymnasium` checks its arguments."""
        example = make_env()
        observations, actions = example.observation_space, example.action_space
        self.id = world_id
        self._make_env = make_env
        self.space, self._columns = _space(world_id, variables, observations)
        self._size = int(observations.shape[0])
        self.action_low = tuple(float(x) for x in actions.low)
        self.action_high = tuple(float(x) for x in actions.high)
        if not np.isfinite([*self.action_low, *self.action_high]).all():
            raise UserError(
                f"{world_id} has actions without bounds: wrap it in "
                f"gymnasium.wrappers.RescaleAction or ClipAction"
            )
        self.actions = tuple(f"action_{i}" for i in range(len(self.action_low)))
        check_step_limit(step_limit)
        self.step_limit = step_limit
        spec = example.spec
        self.episode_steps = (spec.max_episode_steps if spec else None) or EPISODE_STEPS
        self._settings = {**settings, "variables": _stored(variables), "step_limit": step_limit}
        example.close()

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that make this world again."""
        return self._settings

    @property
    def observation_size(self) -> int:
        """How many numbers the environment shows."""
        return self._size

    def values(self, observations: Any) -> Any:
        """Return the values of the variables, float [..., space.width]."""
        return observations[..., self._columns]

    def make_batch(self, n: int) -> GymnasiumBatch:
        """Return environments that step one after the other in this process."""
        return GymnasiumBatch(self, n)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.id.startswith("gymnasium:"):
            raise TypeError(f"{self.id} was made from an environment and cannot be pickled")
        from skillfocus.worlds.registry import make

        return partial(make, self.id, **self._settings), ()


class GymnasiumBatch:
    """A vector of environments that keeps the last observation of every episode."""

    def __init__(self, world: GymnasiumWorld, n: int) -> None:
        """Make the environments."""
        from gymnasium.vector import AutoresetMode, SyncVectorEnv

        self._envs = SyncVectorEnv([world._make_env] * n, autoreset_mode=AutoresetMode.SAME_STEP)
        self._low = np.array(world.action_low, np.float32)
        self._high = np.array(world.action_high, np.float32)

    def reset_batch(self, seed: int) -> np.ndarray:
        """Reset the environments with the seeds `seed`, `seed + 1`, …"""
        observations, _ = self._envs.reset(seed=seed)
        return np.asarray(observations, np.float32)

    def step_batch(self, actions: np.ndarray) -> HostStep:
        """Take one action in each environment; actions are clipped to their bounds."""
        clipped = np.clip(np.asarray(actions, np.float32), self._low, self._high)
        following, _, terminated, truncated, infos = self._envs.step(clipped)
        following = np.asarray(following, np.float32)
        observations = following.copy()
        for i in np.flatnonzero(terminated | truncated):
            observations[i] = infos["final_obs"][i]
        return HostStep(observations, terminated, truncated, following)

    def close(self) -> None:
        """Close the environments."""
        self._envs.close()


def is_continuous(env: Any) -> bool:
    """Return whether an environment has vectors of real numbers for observations and actions."""
    from gymnasium.spaces import Box

    return all(
        isinstance(space, Box) and len(space.shape) == 1 and space.dtype.kind == "f"
        for space in (env.observation_space, env.action_space)
    )


def from_continuous_gymnasium(
    env: Any, *, variables: Slices | None = None, step_limit: int = 40, **settings: object
) -> GymnasiumWorld:
    """Make a world from a Gymnasium environment with continuous observations and actions.

    Example::

        world = sf.adapters.from_continuous_gymnasium(
            "Pendulum-v1", variables={"angle": (0, 2), "velocity": 2}
        )

    Args:
        env: An environment that `gymnasium.make` made, or an id for it.
        variables: Slices of the observation by name: an index, a pair (first, end), or {"at":
            either, "scale": the largest change that matters}, which numbers without bounds need.
        step_limit: The most steps a skill may take.
        **settings: Arguments for `gymnasium.make`.

    Raises:
        UserError: If the environment cannot be made, is not continuous, or no variables are named.
    """
    import gymnasium

    made, world_id = find_env(env, settings)
    if not is_continuous(made):
        raise UserError(
            f"{world_id} has observations {made.observation_space} and actions "
            f"{made.action_space}; only vectors of real numbers have slices: give a list "
            f"of names instead, or use from_gymnasium"
        )
    if not isinstance(variables, Mapping) or not variables:
        raise unnamed_variables(made, world_id)
    if made.spec is None:
        raise UserError(
            f"{world_id} was not made by gymnasium.make, so it cannot be copied: register it, and "
            f"give its id"
        )
    make = partial(gymnasium.make, made.spec, disable_env_checker=True)
    return GymnasiumWorld(world_id, make, variables, step_limit, settings)


def unnamed_variables(env: Any, world_id: str) -> UserError:
    """Return the error that says how to name the variables of a continuous environment."""
    n = int(env.observation_space.shape[0])
    example = {"first": [0, n - 1], "second": n - 1} if n > 1 else {"only": 0}
    settings = json.dumps({"variables": example})
    return UserError(
        f"{world_id} has continuous observations, {n} numbers that nothing groups: name its "
        f"variables as slices of them, with from_continuous_gymnasium(…, variables={example}) in "
        f"Python or --world-settings '{settings}' on the command line"
    )


def _space(world_id: str, variables: Slices, observations: Any) -> tuple[Space, np.ndarray]:
    """Return the space of named slices, and which number of the observation each number is."""
    n = int(observations.shape[0])
    made, columns = [], []
    for name, given in variables.items():
        at, scale = given, None
        if isinstance(given, Mapping):
            at, scale = given.get("at"), given.get("scale")
        indices = _indices(world_id, str(name), at, n)
        taken = sorted(set(indices) & set(columns))
        if taken:
            raise UserError(
                f"two variables of {world_id} have number {taken[0]} of the observation"
            )
        columns += indices
        low = tuple(float(observations.low[i]) for i in indices)
        high = tuple(float(observations.high[i]) for i in indices)
        if scale is None and not np.isfinite([*low, *high]).all():
            raise UserError(
                f"variable {name!r} of {world_id} has no bounds to take its scale from: write "
                f'{{"{name}": {{"at": {json.dumps(at)}, "scale": …}}}} with the largest change '
                f"that matters"
            )
        made.append(Variable(str(name), scale=scale, low=low, high=high))
    return Space(tuple(made)), np.array(columns)


def _indices(world_id: str, name: str, at: object, n: int) -> list[int]:
    """Return the numbers that a slice names."""
    pair = [at, at + 1] if isinstance(at, int) else at  # pyright: ignore[reportOperatorIssue]
    if (
        not isinstance(pair, Sequence)
        or isinstance(pair, str)
        or len(pair) != 2
        or not all(isinstance(x, int) for x in pair)
        or not 0 <= pair[0] < pair[1] <= n
    ):
        raise UserError(
            f"variable {name!r} of {world_id} is {at!r}; it must be an index from 0 to "
            f"{n - 1}, or a pair such as [0, {n}]: the first index and the one after the last"
        )
    return list(range(int(pair[0]), int(pair[1])))


def _stored(variables: Slices) -> dict[str, object]:
    """Return slices as JSON has them."""
    return {
        str(name): json.loads(json.dumps(given, default=int)) for name, given in variables.items()
    }
