"""Any Python object as a world.

variables   {name: values} (or a `Variable` for values with a scale of their own)
actions     names
get()       the state now, as {name: value}
set(state)  go to a state
step(action)  take an action, by its name; true if it ended the episode
transition(state, action)  instead of set and step: what can follow, as [(probability, state)] or
            [(probability, state, ended)]
seed(seed)  start the chance in step anew; needed where it is random
starts()    where skills may begin; without it: the state now, or without `get` every combination

A world is found by exploring from the starts. An object needs `variables` and `actions`, and
either `transition`, or `get`, `set` and `step`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skillfocus.core.factored import Variable
from skillfocus.core.world import STATE_LIMIT
from skillfocus.errors import UserError
from skillfocus.worlds.adapters.stepping import SteppedOriginal, by_stepping, sampling_note
from skillfocus.worlds.adapters.validation import compare
from skillfocus.worlds.explored import ExploredWorld, Groups, ModelOutcome, Values

Domains = Mapping[str, Variable]


def from_object(
    thing: Any,
    *,
    groups: Groups | None = None,
    seed: int = 0,
    samples: int = 1,
    step_limit: int = 40,
    limit: int = STATE_LIMIT,
    check: bool = True,
) -> ExploredWorld:
    """A world from an object with `variables`, `actions` and either `transition` or `get`, `set`
    and `step`. A random `step` is tried `samples` times per action, from `seed` on if the object
    has a method `seed`."""
    if isinstance(thing, type):
        raise UserError(f"{thing.__name__} is a class: pass an object, {thing.__name__}()")
    world_id = f"object:{type(thing).__name__}"
    domains = _domains(thing, world_id)
    actions = _actions(thing, world_id)
    names, modelled = tuple(domains), callable(getattr(thing, "transition", None))
    missing = [n for n in ("get", "set", "step") if not callable(getattr(thing, n, None))]
    if missing and not modelled:
        raise UserError(
            f"{world_id} has no {', '.join(missing)}; give it get, set and step, or transition"
        )
    stepped = _Object(thing, domains, actions, world_id)
    stepped.seed(seed)
    world = ExploredWorld(
        world_id,
        names=names,
        actions=actions,
        starts=_starts(thing, domains, world_id),
        model=(
            _by_transition(thing, domains, actions, world_id)
            if modelled
            else by_stepping(stepped, samples)
        ),
        limit=limit,
        groups=groups,
        declared=domains,
        step_limit=step_limit,
        simulator=None if missing else SteppedOriginal(stepped),
        exact=modelled or samples == 1,
        notes=() if modelled else sampling_note(samples),
    )
    if check:
        compare(world, way_out="if step is random, raise samples=… or give transition")
    return world


def _domains(thing: Any, world_id: str) -> dict[str, Variable]:
    given = getattr(thing, "variables", None)
    if not isinstance(given, Mapping) or not given:
        raise UserError(f"{world_id} needs variables, as in variables = {{'lamp': (0, 1)}}")
    return {
        str(name): v if isinstance(v, Variable) else Variable(str(name), tuple(v))
        for name, v in given.items()
    }


def _actions(thing: Any, world_id: str) -> tuple[str, ...]:
    given = getattr(thing, "actions", None)
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise UserError(f"{world_id} needs actions, as in actions = ('left', 'right')")
    return tuple(str(action) for action in given)


def _values(state: Any, domains: Domains, world_id: str) -> Values:
    if not isinstance(state, Mapping) or set(state) != set(domains):
        names = ", ".join(domains)
        raise UserError(f"{world_id}: {state!r} is no state; it takes a value for each of {names}")
    for name, variable in domains.items():
        if state[name] not in variable.values:
            raise UserError(
                f"{world_id} comes to {dict(state)}, but {name} has the values {variable.values} "
                f"only: list {state[name]!r} too, or do not go there"
            )
    return tuple(state[name] for name in domains)


def _starts(thing: Any, domains: Domains, world_id: str) -> Iterable[Values]:
    if callable(getattr(thing, "starts", None)):
        return [_values(state, domains, world_id) for state in thing.starts()]
    if callable(getattr(thing, "get", None)):
        return [_values(thing.get(), domains, world_id)]
    return itertools.product(*(variable.values for variable in domains.values()))


def _by_transition(
    thing: Any, domains: Domains, actions: tuple[str, ...], world_id: str
) -> Callable[[Values, int], Iterable[ModelOutcome]]:
    def follow(values: Values, action: int) -> Iterable[ModelOutcome]:
        state = dict(zip(domains, values, strict=True))
        for probability, after, *ended in thing.transition(state, actions[action]):
            yield ModelOutcome(float(probability), _values(after, domains, world_id), any(ended))

    return follow


class _Object:
    """An object with get, set and step as something stepped."""

    def __init__(
        self, thing: Any, domains: Domains, actions: tuple[str, ...], world_id: str
    ) -> None:
        self.thing, self.domains, self.actions, self.world_id = thing, domains, actions, world_id

    def get(self) -> Values:
        return _values(self.thing.get(), self.domains, self.world_id)

    def set(self, values: Values, seed: int | None = None) -> None:
        if seed is not None:
            self.seed(seed)
        self.thing.set(dict(zip(self.domains, values, strict=True)))

    def seed(self, seed: int) -> None:
        if callable(getattr(self.thing, "seed", None)):
            self.thing.seed(seed)

    def step(self, action: int) -> bool:
        ended = self.thing.step(self.actions[action])
        if ended is not None and not isinstance(ended, (bool, np.bool_)):
            raise UserError(
                f"{self.world_id}: step returned {ended!r}; it must return whether the episode has "
                f"ended, true or false, or nothing"
            )
        return bool(ended)
