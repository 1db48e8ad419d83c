"""Gymnasium environments as worlds.

Where an environment offers its exact model (`env.unwrapped.P`, as toy-text environments do), the
world is found in that. Otherwise it is explored by stepping, through a pair of functions that get
and set its state. Rewards play no part: a world has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from skillfocus.core.world import STATE_LIMIT
from skillfocus.errors import UserError, unknown
from skillfocus.worlds.adapters.minigrid import from_minigrid, is_minigrid, register
from skillfocus.worlds.adapters.spaces import Variables, actions_of, reader
from skillfocus.worlds.adapters.stepping import (
    SteppedOriginal,
    by_stepping,
    changed_settings,
    sampling_note,
    truncation_note,
)
from skillfocus.worlds.adapters.toy_text import KNOWN
from skillfocus.worlds.adapters.validation import compare
from skillfocus.worlds.explored import LOCAL_PREFIX, ExploredWorld, Groups, ModelOutcome, Values


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
    """A world from an environment, or from its id and the settings that `gymnasium.make` takes.

    `variables` names the parts of a state, or says how to read them off it; environments whose
    states decode into parts need none. `get_state(env.unwrapped)` and `set_state(env.unwrapped,
    state)` are needed where there is no model; the world then begins where `resets` resets, with
    seeds from `seed` on, lead, and an action whose outcome is random is tried `samples` times.
    `check` compares the world with `env.step`.
    """
    if is_minigrid(env) and get_state is None:
        for name, value in (("variables", variables), ("actions", actions)):
            if value is not None:
                raise UserError(f"MiniGrid environments have {name} of their own: leave them out")
        return from_minigrid(
            env, groups=groups, seed=seed, samples=samples, step_limit=step_limit, limit=limit,
            check=check, **settings,
        )  # fmt: skip
    made, world_id = _make(env, settings)
    inner = made.unwrapped
    if get_state is not None or isinstance(variables, Mapping):
        world_id = (
            LOCAL_PREFIX + world_id.partition(":")[2]
        )  # a file of skills cannot hold functions
    known = KNOWN.get(type(inner).__name__)
    if (get_state is None) != (set_state is None):
        raise UserError("give both get_state and set_state, or neither")
    if get_state is None and known is not None and known.get is not None:
        get_state, set_state = known.get, known.set
    model = None if get_state is not None else getattr(inner, "P", None)
    if isinstance(model, Sequence):
        model = dict(enumerate(model))
    codes, names = actions_of(made.action_space, world_id)
    named, given = _listed(variables), _listed(actions)
    if actions is None and known is not None:
        actions = known.actions
    if actions is not None and len(actions) != len(codes):
        raise UserError(f"{world_id} has {len(codes)} actions, and {len(actions)} names are given")
    if model is not None:
        example = next(iter(model))
    elif get_state is not None:
        made.reset(seed=seed)
        example = get_state(inner)
    else:
        raise UserError(
            f"{world_id} offers no model (env.unwrapped.P), so its state must be got and set: give "
            f"get_state=lambda env: … and set_state=lambda env, state: …"
        )
    read_names, read = reader(inner, example, variables, world_id)
    stepped = _Environment(made, codes, read, get_state, set_state)
    notes = list(sampling_note(samples)) if model is None else []
    if made.spec is not None and made.spec.max_episode_steps:
        notes.append(truncation_note(made.spec.max_episode_steps))
    if model is not None:
        stepped.remember(model)
        starts = stepped.starts_of(model)
        follow = stepped.by_model(model)
    else:
        starts = list(stepped.resets(seed, resets))
        follow = by_stepping(stepped, samples)
    world = ExploredWorld(
        world_id,
        names=read_names,
        actions=actions or names,
        starts=starts,
        model=follow,
        limit=limit,
        settings=changed_settings(
            settings, variables=(named, None), actions=(given, None), groups=(groups, None),
            seed=(seed, 0), resets=(resets, 1), samples=(samples, 1), step_limit=(step_limit, 40),
            limit=(limit, STATE_LIMIT), check=(check, True),
        ),
        groups=groups,
        step_limit=step_limit,
        simulator=SteppedOriginal(stepped) if stepped.settable else None,
        exact=model is not None or samples == 1,
        notes=notes,
    )  # fmt: skip
    if check:
        compare(world, seed, way_out=_WAY_OUT[model is None])
    return world


_WAY_OUT = {
    False: "its model leaves something out: give get_state and set_state to explore step itself, "
    "or check=False to take the model as it is",
    True: "if something is hidden, let get_state tell it; if step is random, raise samples=…",
}


def _listed(names: Variables | None) -> list[str] | None:
    """Names as JSON can hold them."""
    return None if names is None or isinstance(names, Mapping) else list(names)


def is_bundled(name: str) -> bool:
    """Whether an id is one of Gymnasium's own environments, which run nothing that a file names."""
    import gymnasium

    spec = gymnasium.registry.get(name)
    return spec is not None and str(spec.entry_point).startswith("gymnasium.envs.")


def make_by_id(name: str, **settings: Any) -> ExploredWorld:
    """A world by an environment's id and JSON-able settings, for the command line and for files
    of skills; ids that name a module to import are refused."""
    if ":" in name:
        raise UserError(f"{name!r} names a module; import it and use from_gymnasium instead")
    return from_gymnasium(name, **settings)


def _make(env: Any, settings: Mapping[str, object]) -> tuple[Any, str]:
    import gymnasium

    if isinstance(env, gymnasium.Env):
        if settings:
            raise UserError(f"an environment that is made already takes no {', '.join(settings)}")
        return env, f"{LOCAL_PREFIX}{env.spec.id if env.spec else type(env.unwrapped).__name__}"
    if not isinstance(env, str):
        raise UserError(f"from_gymnasium takes an environment or an id, not {env!r}")
    if is_minigrid(env):
        register()
    try:
        made = gymnasium.make(env, disable_env_checker=True, **settings)  # pyright: ignore[reportArgumentType]
        made.reset(seed=0)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound):
        raise unknown("Gymnasium environment", env, sorted(gymnasium.registry)) from None
    except Exception as error:  # an environment may fail in any way
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"Gymnasium cannot make {env} with {dict(settings)}: {reason}") from error
    return made, f"gymnasium:{env}"


class _Environment:
    """A Gymnasium environment as something stepped; remembers which state has which values."""

    def __init__(
        self,
        env: Any,
        codes: list[Any],
        read: Callable[[Any], Values],
        get: Callable[[Any], Any] | None,
        put: Callable[[Any, Any], None] | None,
    ) -> None:
        self.env, self.codes, self.read = env, codes, read
        self.get_inner = get or (lambda inner: inner.s)
        self.set_inner = put or _put_s
        self.settable = get is not None or _has_s(env)
        self.state_with: dict[Values, Any] = {}

    def remember(self, states: Iterable[Any]) -> None:
        for state in states:
            self._values(state)

    def _values(self, state: Any) -> Values:
        values = self.read(state)
        if values not in self.state_with:
            self.state_with[values] = deepcopy(state)  # the environment may go on changing it
        held = self.state_with[values]
        if not _same(held, state):
            raise UserError(
                f"the states {held!r} and {state!r} have the same values {values}: the variables "
                f"must tell all states apart, so name more of them"
            )
        return values

    def get(self) -> Values:
        return self._values(self.get_inner(self.env.unwrapped))

    def set(self, values: Values, seed: int | None = None) -> None:
        if seed is not None:
            self.env.reset(seed=seed)
        self.set_inner(self.env.unwrapped, deepcopy(self.state_with[values]))

    def step(self, action: int) -> bool:
        _, _, terminated, _, _ = self.env.step(self.codes[action])
        return bool(terminated)

    def resets(self, seed: int, count: int) -> Iterator[Values]:
        for number in range(count):
            self.env.reset(seed=seed + number)
            yield self.get()

    def starts_of(self, model: Mapping[Any, Any]) -> list[Values]:
        """Where episodes may begin, if the environment says so; else every state that does not end
        them."""
        chances = getattr(self.env.unwrapped, "initial_state_distrib", None)
        if chances is not None and len(chances) == len(model):
            return [self.read(state) for state in model if chances[state] > 0]
        ends = {
            self.read(after)
            for actions in model.values()
            for outcomes in (actions.values() if isinstance(actions, Mapping) else actions)
            for _, after, _, ended in outcomes
            if ended
        }
        return [values for values in map(self.read, model) if values not in ends]

    def by_model(self, model: Mapping[Any, Any]) -> Callable[[Values, int], Iterable[ModelOutcome]]:
        keys = [tuple(c.ravel()) if isinstance(c, np.ndarray) else c for c in self.codes]

        def follow(values: Values, action: int) -> Iterable[ModelOutcome]:
            for probability, after, _, ended in model[self.state_with[values]][keys[action]]:
                yield ModelOutcome(float(probability), self._values(after), bool(ended))

        return follow


def _has_s(env: Any) -> bool:
    if not hasattr(env.unwrapped, "s"):
        env.reset(seed=0)
    return hasattr(env.unwrapped, "s")


def _put_s(inner: Any, state: Any) -> None:
    inner.s = state


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
