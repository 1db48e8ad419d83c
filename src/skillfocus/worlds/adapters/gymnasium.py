"""Gymnasium environments as worlds.

If an environment offers its exact model (`env.unwrapped.P`, as toy-text environments do), the world
is explored in that. Otherwise it is explored by stepping, with a pair of functions that get and set
the state. Those with continuous observations and actions are in `gymnasium_continuous.py`. Rewards
are ignored: a world has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from skillfocus.errors import UserError, unknown
from skillfocus.world import STATE_LIMIT, check_seed, check_settings
from skillfocus.worlds.adapters.gymnasium_continuous import (
    GymnasiumWorld,
    Slices,
    continuous_world,
    is_continuous,
    unnamed_variables,
)
from skillfocus.worlds.adapters.minigrid import from_minigrid, is_minigrid, register_minigrid
from skillfocus.worlds.adapters.stepping import (
    TOY_TEXT,
    SteppedSimulator,
    Variables,
    changed_settings,
    list_actions,
    sampling_note,
    state_reader,
    stepped_model,
    truncation_note,
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

# --------------------
#
# A Gymnasium environment whose state can be read and set, or that offers its exact model


class SteppedEnv:
    """A Gymnasium environment as a `Steppable`, which knows the state behind every tuple of values.

    Without `get` and `set` it uses the attribute `s` of toy-text environments.
    """

    def __init__(
        self,
        env: Any,
        codes: list[Any],
        read: Callable[[Any], Values],
        get: Callable[[Any], Any] | None,
        set_: Callable[[Any, Any], None] | None,
    ) -> None:
        """Wrap an environment.

        Args:
            env: The environment, with its wrappers.
            codes: The actions to pass to `step`.
            read: Reads the values of the variables from a state.
            get: Returns the state of the unwrapped environment.
            set_: Sets the state of the unwrapped environment.
        """
        self.env, self.codes, self.read = env, codes, read
        self.get_state = get or (lambda inner: inner.s)
        self.set_state = set_ or _set_s
        self.settable = get is not None or _has_s(env)
        self.state_by_values: dict[Values, Any] = {}

    def register_states(self, states: Iterable[Any]) -> None:
        """Remember states and check that their values tell them apart."""
        for state in states:
            self._values_of(state)

    def _values_of(self, state: Any) -> Values:
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

    def get(self) -> Values:
        """Return the current values of the variables."""
        return self._values_of(self.get_state(self.env.unwrapped))

    def set(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the environment first."""
        if seed is not None:
            self.env.reset(seed=seed)
        self.set_state(self.env.unwrapped, deepcopy(self.state_by_values[values]))

    def step(self, action: int) -> bool:
        """Take an action; return whether the episode has ended."""
        _, _, terminated, _, _ = self.env.step(self.codes[action])
        return bool(terminated)

    def reset_states(self, seed: int, count: int) -> Iterator[Values]:
        """Yield the states after resets with successive seeds."""
        for offset in range(count):
            self.env.reset(seed=seed + offset)
            yield self.get()

    def table_starts(self, table: Mapping[Any, Any]) -> list[Values]:
        """Return where episodes begin, by the environment's own distribution.

        Without one, these are all states that do not end an episode.
        """
        distribution = getattr(self.env.unwrapped, "initial_state_distrib", None)
        if distribution is not None and len(distribution) == len(table):
            return [self.read(state) for state in table if distribution[state] > 0]
        final = {
            self.read(after)
            for actions in table.values()
            for outcomes in (actions.values() if isinstance(actions, Mapping) else actions)
            for _, after, _, ended in outcomes
            if ended
        }
        return [values for values in map(self.read, table) if values not in final]

    def table_model(self, table: Mapping[Any, Any]) -> Model:
        """Return the model that the environment's table `P` describes."""
        keys = [tuple(c.ravel()) if isinstance(c, np.ndarray) else c for c in self.codes]

        def model(values: Values, action: int) -> Iterable[ModelOutcome]:
            for probability, after, _, ended in table[self.state_by_values[values]][keys[action]]:
                yield ModelOutcome(float(probability), self._values_of(after), bool(ended))

        return model

    def rule_model(self, rules: Model) -> Model:
        """Return a model whose states are their values, which the environment can be set to."""

        def model(values: Values, action: int) -> Iterable[ModelOutcome]:
            for outcome in rules(values, action):
                self.register_states([outcome.values])
                yield outcome

        return model


def _has_s(env: Any) -> bool:
    if not hasattr(env.unwrapped, "s"):
        env.reset(seed=0)
    return hasattr(env.unwrapped, "s")


def _set_s(inner: Any, state: Any) -> None:
    inner.s = state


def _equal(one: Any, other: Any) -> bool:
    """Compare states, which may hold arrays."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


_MODEL_ADVICE = (
    "its model leaves something out: give get_state and set_state to explore step itself, or "
    "check=False to take the model as it is"
)
_OWN_MODULES = (
    "gymnasium.envs.toy_text",
    "gymnasium.envs.classic_control.pendulum",
    "gymnasium.envs.classic_control.continuous_mountain_car",
    "gymnasium.envs.box2d",
    "gymnasium.envs.mujoco",
)
"""Where environments come from that a skills file may name."""
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
    if is_minigrid(env) and get_state is None:
        for name, value in (("variables", variables), ("actions", actions)):
            if value is not None:
                raise UserError(f"MiniGrid environments have {name} of their own: leave them out")
        return from_minigrid(
            env, groups=groups, seed=seed, samples=samples, step_limit=step_limit, limit=limit,
            check=check, **settings,
        )  # fmt: skip
    made, world_id = _make_env(env, settings)
    if is_continuous(made) and get_state is None:
        raise unnamed_variables(made, world_id)
    inner = made.unwrapped
    if get_state is not None or isinstance(variables, Mapping):
        world_id = LOCAL_PREFIX + world_id.partition(":")[2]  # files cannot store functions
    toy_text = TOY_TEXT.get(type(inner).__name__)
    if (get_state is None) != (set_state is None):
        raise UserError("give both get_state and set_state, or neither")
    rules = None  # a model of ours, unless samples are asked for
    if get_state is None and toy_text is not None and toy_text.get is not None:
        get_state, set_state = toy_text.get, toy_text.set
        rules = toy_text.model if variables is None and samples == 1 else None
    table = None if get_state is not None else getattr(inner, "P", None)
    if isinstance(table, Sequence):
        table = dict(enumerate(table))
    codes, action_names = list_actions(made.action_space, world_id)
    stored_variables, stored_actions = _storable_names(variables), _storable_names(actions)
    if actions is None and toy_text is not None:
        actions = toy_text.actions
    if actions is not None and len(actions) != len(codes):
        raise UserError(f"{world_id} has {len(codes)} actions, but {len(actions)} names are given")
    if table is not None:
        example = next(iter(table))
    elif get_state is not None:
        made.reset(seed=seed)
        example = get_state(inner)
    else:
        raise UserError(
            f"{world_id} offers no model (env.unwrapped.P), so its state must be read and set: "
            f"give get_state=lambda env: … and set_state=lambda env, state: …"
        )
    names, read = state_reader(inner, example, variables, world_id)
    stepped = SteppedEnv(made, codes, read, get_state, set_state)
    notes = list(sampling_note(samples)) if table is None else []
    if made.spec is not None and made.spec.max_episode_steps:
        notes.append(truncation_note(made.spec.max_episode_steps))
    if table is not None:
        stepped.register_states(table)
        starts = stepped.table_starts(table)
        model = stepped.table_model(table)
    elif rules is not None and toy_text is not None:
        stepped.register_states(toy_text.starts)
        starts, model = list(toy_text.starts), stepped.rule_model(rules)
    else:
        starts = list(stepped.reset_states(seed, resets))
        model = stepped_model(stepped, samples)
    world = ExploredWorld(
        world_id,
        names=names,
        actions=actions or action_names,
        starts=starts,
        model=model,
        limit=limit,
        settings=changed_settings(
            settings, variables=(stored_variables, None), actions=(stored_actions, None),
            groups=(groups, None), seed=(seed, 0), resets=(resets, 1), samples=(samples, 1),
            step_limit=(step_limit, 40), limit=(limit, STATE_LIMIT), check=(check, True),
        ),
        groups=groups,
        step_limit=step_limit,
        simulator=SteppedSimulator(stepped) if stepped.settable else None,
        exact=table is not None or samples == 1,
        notes=notes,
    )  # fmt: skip
    if check:
        validate(world, seed, advice=_STEP_ADVICE if table is None else _MODEL_ADVICE)
    return world


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
    made, world_id = _make_env(env, settings)
    if not is_continuous(made):
        raise UserError(
            f"{world_id} has observations {made.observation_space} and actions "
            f"{made.action_space}; only vectors of real numbers have slices: give a list "
            f"of names instead, or use from_gymnasium"
        )
    return continuous_world(made, world_id, variables, step_limit, settings)


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


def _storable_names(names: Variables | None) -> list[str] | None:
    """Return names as JSON can hold them; functions are not stored."""
    return None if names is None or isinstance(names, Mapping) else list(names)


def _make_env(env: Any, settings: Mapping[str, object]) -> tuple[Any, str]:
    """Return an environment and the id of its world."""
    import gymnasium

    if isinstance(env, gymnasium.Env):
        if settings:
            raise UserError(f"an environment that is already made takes no {', '.join(settings)}")
        return env, f"{LOCAL_PREFIX}{env.spec.id if env.spec else type(env.unwrapped).__name__}"
    if not isinstance(env, str):
        raise UserError(f"from_gymnasium takes an environment or an id, not {env!r}")
    if is_minigrid(env):
        register_minigrid()
    try:
        made = gymnasium.make(env, disable_env_checker=True, **settings)  # pyright: ignore[reportArgumentType]
        made.reset(seed=0)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound):
        raise unknown("Gymnasium environment", env, sorted(gymnasium.registry)) from None
    except Exception as error:  # an environment may fail in any way
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"Gymnasium cannot make {env} with {dict(settings)}: {reason}") from error
    return made, f"gymnasium:{env}"
