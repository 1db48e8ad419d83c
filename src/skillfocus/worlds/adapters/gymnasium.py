"""Gymnasium environments as worlds.

If an environment offers its exact model (`env.unwrapped.P`, as toy-text environments do), the world
is explored in that. Otherwise it is explored by stepping, with a pair of functions that get and set
the state. Rewards are ignored: a world has none.

Of an environment with continuous observations and actions, variables are named slices of the
observation. Nothing about its numbers says which belong together, so the user names them:
`{"angle": (0, 2), "velocity": 2}` makes one variable of the first two numbers and one of the third.
Numbers that no variable names are seen by policies, but no skill is about them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Space, Variable
from skillfocus.world import STATE_LIMIT, check_seed, check_step_limit
from skillfocus.worlds.adapters.minigrid import from_minigrid, is_minigrid, register_minigrid
from skillfocus.worlds.adapters.stepping import (
    IN_A_FILE,
    TOY_TEXT,
    Variables,
    changed_settings,
    check_settings,
    environment_notes,
    find_env,
    list_actions,
    state_reader,
    stepped_model,
    validate,
)
from skillfocus.worlds.explored import (
    LOCAL_PREFIX,
    ExploredWorld,
    Groups,
    Model,
    ModelOutcome,
    Values,
)
from skillfocus.worlds.host import HostStep, HostWorld

# -------------------- Environments whose state can be read and set, or that offer their model


class SteppedEnv:
    """A Gymnasium environment as a `Simulator`, which knows the state behind every tuple of values.

    Args:
        env: The environment, with its wrappers.
        codes: The actions to pass to `step`.
        read: Reads the values of the variables from a state.
        get: Returns the state of the unwrapped environment.
        set_: Sets the state of the unwrapped environment.
    """

    def __init__(
        self,
        env: Any,
        codes: list[Any],
        read: Callable[[Any], Values],
        get: Callable[[Any], Any],
        set_: Callable[[Any, Any], None],
    ) -> None:
        self.env, self.codes, self.read, self.get, self.set = env, codes, read, get, set_
        self.state_by_values: dict[Values, Any] = {}

    def values_of(self, state: Any) -> Values:
        """Return a state's values, which must tell it apart from the states seen before."""
        values = self.read(state)
        if values not in self.state_by_values:
            self.state_by_values[values] = deepcopy(state)  # the environment may mutate it
        known = self.state_by_values[values]
        if not _equal(known, state):
            raise UserError(
                f"the states {known!r} and {state!r} have the same values {values}: the variables "
                f"must tell all states apart, so name more of them"
            )
        return values

    def state(self) -> Values:
        """Return the current values of the variables."""
        return self.values_of(self.get(self.env.unwrapped))

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the environment first."""
        if seed is not None:
            self.env.reset(seed=seed)
        # Where a model gave the values, they are the state.
        state = self.state_by_values.get(values, values)
        self.set(self.env.unwrapped, deepcopy(state))

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened."""
        _, _, terminated, _, _ = self.env.step(self.codes[action])
        return ModelOutcome(1.0, self.state(), bool(terminated))


def _equal(one: Any, other: Any) -> bool:
    """Compare states, which may hold arrays."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _stepped_dynamics(
    stepped: SteppedEnv, seed: int, resets: int, samples: int
) -> tuple[list[Values], Model]:
    """Return the states after resets, and the model that steps the environment."""
    starts = []
    for offset in range(resets):
        stepped.env.reset(seed=seed + offset)
        starts.append(stepped.state())
    return starts, stepped_model(stepped, samples)


def _table_dynamics(stepped: SteppedEnv, table: Mapping[Any, Any]) -> tuple[list[Values], Model]:
    """Return where episodes begin and what can follow, by the environment's table `P`.

    Without a distribution of the environment's own, episodes begin in all states that do not end
    one.
    """
    values_by_state = {state: stepped.values_of(state) for state in table}
    keys = [tuple(c.ravel()) if isinstance(c, np.ndarray) else c for c in stepped.codes]
    distribution = getattr(stepped.env.unwrapped, "initial_state_distrib", None)
    if distribution is not None and len(distribution) == len(table):
        starts = [values for state, values in values_by_state.items() if distribution[state] > 0]
    else:
        final = {
            stepped.read(after)
            for actions in table.values()
            for outcomes in (actions.values() if isinstance(actions, Mapping) else actions)
            for _, after, _, ended in outcomes
            if ended
        }
        starts = [values for values in values_by_state.values() if values not in final]

    def model(values: Values, action: int) -> Iterable[ModelOutcome]:
        for probability, after, _, ended in table[stepped.state_by_values[values]][keys[action]]:
            yield ModelOutcome(float(probability), stepped.values_of(after), bool(ended))

    return starts, model


_MODEL_ADVICE = (
    "its model leaves something out: give get_state and set_state to explore step itself, or "
    "check=False to take the model as it is"
)
_STEP_ADVICE = (
    "if get_state leaves something out, let it return that too; if step is random, raise samples=…"
)


def from_gymnasium(
    env: Any,
    *,
    variables: Variables | None = None,
    get_state: Callable[[Any], Any] | None = None,
    set_state: Callable[[Any, Any], None] | None = None,
    actions: Sequence[str] | None = None,
    groups: Groups | None = None,
    seed: int = 0,
    resets: int = 1,
    samples: int = 1,
    step_limit: int = 40,
    limit: int = STATE_LIMIT,
    check: bool = True,
    **settings: object,
) -> ExploredWorld:
    """Make a world from a Gymnasium environment.

    Example::

        world = sf.adapters.from_gymnasium("FrozenLake-v1", is_slippery=False)

    Args:
        env: An environment, or an id for `gymnasium.make`.
        variables: Names for the parts of a state, or {name: function of a state}. Not needed if
            states decode into parts.
        get_state: `get_state(env.unwrapped)` returns the state; needed if there is no model.
        set_state: `set_state(env.unwrapped, state)` sets it; needed if there is no model.
        actions: Names of the actions.
        groups: Variables to join.
        seed: The seed of the first reset.
        resets: Without a model, how many resets, with successive seeds, give the starts.
        samples: Without a model, how often each action is tried in each state; more than 1 if
            `step` is random.
        step_limit: The most steps a skill may take.
        limit: The most states to accept.
        check: Whether to compare the world with `env.step`.
        **settings: Arguments for `gymnasium.make`.

    Raises:
        UserError: If the environment cannot be made or explored, or differs from its own model.
    """
    check_seed(seed)
    seed = int(seed)
    changed = changed_settings(from_gymnasium, locals())
    if is_minigrid(env):
        register_minigrid()
        if get_state is None:
            for name, value in (("variables", variables), ("actions", actions)):
                if value is not None:
                    raise UserError(
                        f"MiniGrid environments have {name} of their own: leave them out"
                    )
            return from_minigrid(
                env, groups=groups, seed=seed, samples=samples, step_limit=step_limit,
                limit=limit, check=check, **settings,
            )  # fmt: skip
    made, world_id = find_env(env, settings)
    inner = made.unwrapped
    if (get_state is None) != (set_state is None):
        raise UserError("give both get_state and set_state, or neither")
    if get_state is None and is_continuous(made):
        raise unnamed_variables(made, world_id)
    if get_state is not None or isinstance(variables, Mapping):
        world_id = LOCAL_PREFIX + world_id.partition(":")[2]  # files cannot store functions
    codes, action_names = list_actions(made.action_space, world_id)
    toy_text = TOY_TEXT.get(type(inner).__name__)
    made.reset(seed=seed)
    table = rules = None
    if get_state is None and toy_text is not None and toy_text.get is not None:
        get_state, set_state = toy_text.get, toy_text.set
        rules = toy_text.rules if variables is None and samples == 1 else None
    elif get_state is None:
        table = getattr(inner, "P", None)
        if table is None:
            raise UserError(
                f"{world_id} offers no model (env.unwrapped.P), so its state must be read and set: "
                f"give from_gymnasium the functions get_state and set_state, {IN_A_FILE}"
            )
        table = dict(enumerate(table)) if isinstance(table, Sequence) else table
        get_state, set_state = attrgetter("s"), lambda inner, state: setattr(inner, "s", state)
    assert get_state is not None
    assert set_state is not None
    example = get_state(inner) if table is None else next(iter(table))
    names, read = state_reader(inner, example, variables, world_id)
    stepped = SteppedEnv(made, codes, read, get_state, set_state)
    if table is not None:
        starts, model = _table_dynamics(stepped, table)
    else:
        starts, model = rules or _stepped_dynamics(stepped, seed, resets, samples)
    if actions is None and toy_text is not None:
        actions = toy_text.actions
    if actions is not None and len(actions) != len(codes):
        raise UserError(f"{world_id} has {len(codes)} actions, but {len(actions)} names are given")
    episode_steps = made.spec.max_episode_steps if made.spec else None
    advice = _STEP_ADVICE if table is None else _MODEL_ADVICE
    return ExploredWorld(
        world_id,
        names=names,
        actions=actions or action_names,
        starts=starts,
        model=model,
        limit=limit,
        settings=changed,
        groups=groups,
        step_limit=step_limit,
        simulator=stepped if table is None or hasattr(inner, "s") else None,
        exact=table is not None or samples == 1,
        notes=environment_notes(samples if table is None else 1, episode_steps),
        check=partial(validate, seed=seed, advice=advice) if check else None,
    )


# -------------------- Continuous environments: variables are slices of the observation

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
        check_step_limit(step_limit)
        example = make_env()
        observations, bounds = example.observation_space, example.action_space
        self.id, self._make_env, self.step_limit = world_id, make_env, step_limit
        self.space, self._columns = _space(world_id, variables, observations)
        self._size = int(observations.shape[0])
        self.action_low, self.action_high = tuple(bounds.low.tolist()), tuple(bounds.high.tolist())
        if not np.isfinite([*self.action_low, *self.action_high]).all():
            raise UserError(
                f"{world_id} has actions without bounds: wrap it in "
                f"gymnasium.wrappers.RescaleAction or ClipAction"
            )
        self.actions = tuple(f"action_{i}" for i in range(len(self.action_low)))
        spec = example.spec
        self.episode_steps = (spec.max_episode_steps if spec else None) or EPISODE_STEPS
        stored = json.loads(json.dumps({str(n): at for n, at in variables.items()}, default=int))
        self._settings = {**settings, "variables": stored, "step_limit": step_limit}
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
        spec = given if isinstance(given, Mapping) else {"at": given}
        at, scale = spec.get("at"), spec.get("scale")
        pair = (at, at + 1) if isinstance(at, int) else at
        if not (
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and all(isinstance(x, int) for x in pair)
            and 0 <= pair[0] < pair[1] <= n
        ):
            raise UserError(
                f"variable {str(name)!r} of {world_id} is {at!r}; it must be an index from 0 to "
                f"{n - 1}, or a pair such as [0, {n}]: the first index and the one after the last"
            )
        indices = list(range(*pair))
        if taken := set(indices) & set(columns):
            raise UserError(
                f"two variables of {world_id} have number {min(taken)} of the observation"
            )
        columns += indices
        low, high = observations.low[indices].tolist(), observations.high[indices].tolist()
        if scale is None and not np.isfinite([*low, *high]).all():
            raise UserError(
                f"variable {name!r} of {world_id} has no bounds to take its scale from: write "
                f'{{"{name}": {{"at": {json.dumps(at)}, "scale": …}}}} with the largest change '
                f"that matters"
            )
        made.append(Variable(str(name), scale=scale, low=tuple(low), high=tuple(high)))
    return Space(tuple(made)), np.array(columns)


# -------------------- Environments by their ids

_OWN_MODULES = (
    "gymnasium.envs.toy_text",
    "gymnasium.envs.classic_control.pendulum",
    "gymnasium.envs.classic_control.continuous_mountain_car",
    "gymnasium.envs.box2d",
    "gymnasium.envs.mujoco",
)
"""Where environments come from that a skills file may name."""


def make_by_id(env_id: str, **settings: Any) -> ExploredWorld | GymnasiumWorld:
    """Make the world `gymnasium:ID`, for the command line and for skills files.

    Raises:
        UserError: If the id names a module, which Gymnasium would import.
    """
    if ":" in env_id:
        raise UserError(f"{env_id!r} names a module; import it and use from_gymnasium instead")
    variables = settings.get("variables")
    sliced = isinstance(variables, Mapping) and not all(map(callable, variables.values()))
    factory = from_continuous_gymnasium if sliced else from_gymnasium
    check_settings(f"gymnasium:{env_id}", factory, settings, env_id)
    return factory(env_id, **settings)


def is_bundled(env_id: str) -> bool:
    """Return whether an id belongs to one of Gymnasium's own environments that settings alone can
    make a world of: those of toy-text, and those with continuous observations and actions."""
    import gymnasium

    spec = gymnasium.registry.get(env_id)
    return spec is not None and str(spec.entry_point).startswith(_OWN_MODULES)
