"""Gymnasium environments as worlds.

If an environment offers its exact model (`env.unwrapped.P`, as toy-text environments do), the world
is explored in that. Otherwise it is explored by stepping, with a pair of functions that get and set
the state. Those with continuous observations and actions are in `gymnasium_continuous.py`. Rewards
are ignored: a world has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.world import STATE_LIMIT, check_seed
from skillfocus.worlds.adapters.gymnasium_continuous import (
    GymnasiumWorld,
    from_continuous_gymnasium,
    is_continuous,
    unnamed_variables,
)
from skillfocus.worlds.adapters.minigrid import from_minigrid, is_minigrid, register_minigrid
from skillfocus.worlds.adapters.stepping import (
    TOY_TEXT,
    Variables,
    changed_settings,
    find_env,
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
from skillfocus.worlds.settings import check_settings

# --------------------
#
# A Gymnasium environment whose state can be read and set, or that offers its exact model


class SteppedEnv:
    """A Gymnasium environment as a `Simulator`, which knows the state behind every tuple of values.

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
        self.set_state = set_ or (lambda inner, state: setattr(inner, "s", state))
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

    def state(self) -> Values:
        """Return the current values of the variables."""
        return self._values_of(self.get_state(self.env.unwrapped))

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the environment first."""
        if seed is not None:
            self.env.reset(seed=seed)
        # Where a model gave the values, they are the state.
        state = self.state_by_values.get(values, values)
        self.set_state(self.env.unwrapped, deepcopy(state))

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened."""
        _, _, terminated, _, _ = self.env.step(self.codes[action])
        return ModelOutcome(1.0, self.state(), bool(terminated))

    def first_state(self, seed: int) -> Values:
        """Return the state after a reset."""
        self.env.reset(seed=seed)
        return self.state()

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


def _has_s(env: Any) -> bool:
    if not hasattr(env.unwrapped, "s"):
        env.reset(seed=0)
    return hasattr(env.unwrapped, "s")


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
    if is_continuous(made) and get_state is None:
        raise unnamed_variables(made, world_id)
    inner = made.unwrapped
    if get_state is not None or isinstance(variables, Mapping):
        world_id = LOCAL_PREFIX + world_id.partition(":")[2]  # files cannot store functions
    if (get_state is None) != (set_state is None):
        raise UserError("give both get_state and set_state, or neither")
    toy_text = TOY_TEXT.get(type(inner).__name__)
    rules = None  # a model of ours, unless samples are asked for
    if get_state is None and toy_text is not None and toy_text.get is not None:
        get_state, set_state = toy_text.get, toy_text.set
        rules = toy_text.model if variables is None and samples == 1 else None
    table = None if get_state is not None else getattr(inner, "P", None)
    if isinstance(table, Sequence):
        table = dict(enumerate(table))
    codes, action_names = list_actions(made.action_space, world_id)
    # Functions are not stored.
    stored = None if variables is None or isinstance(variables, Mapping) else list(variables)
    named = None if actions is None else list(actions)
    changed = changed_settings(
        from_gymnasium, settings, variables=stored, actions=named, groups=groups,
        seed=seed, resets=resets, samples=samples, step_limit=step_limit, limit=limit, check=check,
    )  # fmt: skip
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
        starts, model = list(toy_text.starts), rules
    else:
        starts = [stepped.first_state(seed + offset) for offset in range(resets)]
        model = stepped_model(stepped, samples)
    world = ExploredWorld(
        world_id,
        names=names,
        actions=actions or action_names,
        starts=starts,
        model=model,
        limit=limit,
        settings=changed,
        groups=groups,
        step_limit=step_limit,
        simulator=stepped if stepped.settable else None,
        exact=table is not None or samples == 1,
        notes=notes,
    )
    if check:
        validate(world, seed, advice=_STEP_ADVICE if table is None else _MODEL_ADVICE)
    return world


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
