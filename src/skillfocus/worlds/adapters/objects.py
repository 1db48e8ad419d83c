"""Any Python object as a world.

variables   {name: values}, or {name: Variable} for a scale of its own
actions     names
get()       return the current state as {name: value}
set(state)  go to a state
step(action)  take an action, given by its name; return true if it ended the episode
transition(state, action)  instead of set and step: the possible outcomes, as [(probability, state)]
            or [(probability, state, ended)]
seed(seed)  reset the random number generator; needed if `step` is random
starts()    where skills may start (default: the current state, or without `get` every combination)

The world is explored from the starts. An object needs `variables`, `actions`, and either
`transition`, or `get`, `set` and `step`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skillfocus.errors import UserError, short_repr
from skillfocus.spaces import Variable
from skillfocus.world import STATE_LIMIT
from skillfocus.worlds.adapters.stepping import (
    SteppedSimulator,
    sampling_note,
    stepped_model,
    validate,
)
from skillfocus.worlds.explored import ExploredWorld, Groups, Model, ModelOutcome, Values

Declared = Mapping[str, Variable]
"""The variables that an object declares, by name."""


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
    """Make a world from a Python object; `examples/own_object.py` is complete.

    Args:
        thing: An object with `variables`, `actions`, and either `transition` or `get`, `set` and
            `step`.
        groups: Variables to join.
        seed: Passed to the object's `seed` method, if it has one.
        samples: How often each action is tried in each state; more than 1 if `step` is random.
        step_limit: The most steps a skill may take.
        limit: The most states to accept.
        check: Whether to compare the world with `step`.

    Raises:
        UserError: If something is missing, or the object does not do what it declares.
    """
    if isinstance(thing, type):
        raise UserError(f"{thing.__name__} is a class: pass an object, {thing.__name__}()")
    world_id = f"object:{type(thing).__name__}"
    declared = _declared_variables(thing, world_id)
    actions = _declared_actions(thing, world_id)
    has_model = callable(getattr(thing, "transition", None))
    missing = [n for n in ("get", "set", "step") if not callable(getattr(thing, n, None))]
    if missing and not has_model:
        raise UserError(
            f"{world_id} has no {', '.join(missing)}; give it get, set and step, or transition"
        )
    stepped = _SteppedObject(thing, declared, actions, world_id)
    stepped.seed(seed)
    world = ExploredWorld(
        world_id,
        names=tuple(declared),
        actions=actions,
        starts=_find_starts(thing, declared, world_id),
        model=(
            _transition_model(thing, declared, actions, world_id)
            if has_model
            else stepped_model(stepped, samples)
        ),
        limit=limit,
        groups=groups,
        declared=declared,
        step_limit=step_limit,
        simulator=None if missing else SteppedSimulator(stepped),
        exact=has_model or samples == 1,
        notes=() if has_model else sampling_note(samples),
    )
    if check:
        validate(world, advice="if step is random, raise samples=… or give transition")
    return world


def _declared_variables(thing: Any, world_id: str) -> dict[str, Variable]:
    given = getattr(thing, "variables", None)
    if not isinstance(given, Mapping) or not given:
        raise UserError(f"{world_id} needs variables, as in variables = {{'lamp': (0, 1)}}")
    return {
        str(name): v if isinstance(v, Variable) else Variable(str(name), tuple(v))
        for name, v in given.items()
    }


def _declared_actions(thing: Any, world_id: str) -> tuple[str, ...]:
    given = getattr(thing, "actions", None)
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise UserError(f"{world_id} needs actions, as in actions = ('left', 'right')")
    return tuple(str(action) for action in given)


def _check_values(state: Any, declared: Declared, world_id: str) -> Values:
    """Return a state's values in the order of the variables, if they are declared."""
    if not isinstance(state, Mapping) or set(state) != set(declared):
        names = ", ".join(declared)
        raise UserError(
            f"{world_id}: {state!r} is not a state; it needs a value for each of {names}"
        )
    for name, variable in declared.items():
        if state[name] not in variable.values:
            raise UserError(
                f"{world_id} reaches {dict(state)}, but {name} has only the values "
                f"{variable.values}: add {state[name]!r} to them, or do not go there"
            )
    return tuple(state[name] for name in declared)


def _find_starts(thing: Any, declared: Declared, world_id: str) -> Iterable[Values]:
    """Return the object's starts, its current state, or every combination of values."""
    if callable(getattr(thing, "starts", None)):
        return [_check_values(state, declared, world_id) for state in thing.starts()]
    if callable(getattr(thing, "get", None)):
        return [_check_values(thing.get(), declared, world_id)]
    return itertools.product(*(variable.values for variable in declared.values()))


def _transition_model(
    thing: Any, declared: Declared, actions: tuple[str, ...], world_id: str
) -> Model:
    """Return the model that the object's `transition` method describes."""

    def model(values: Values, action: int) -> Iterable[ModelOutcome]:
        state = dict(zip(declared, values, strict=True))
        given = thing.transition(state, actions[action])
        for probability, after, ended in _check_outcomes(given, world_id):
            yield ModelOutcome(probability, _check_values(after, declared, world_id), ended)

    return model


def _check_outcomes(given: Any, world_id: str) -> list[tuple[float, Any, bool]]:
    """Return the probability, the state and the end of each outcome that `transition` gave."""
    try:
        outcomes = None if isinstance(given, Mapping) else given  # a state on its own
        return [(float(p), after, any(ended)) for p, after, *ended in outcomes]  # pyright: ignore[reportOptionalIterable]
    except (TypeError, ValueError):
        raise UserError(
            f"{world_id}: transition returned {short_repr(given)}; it must return a list of "
            f"(probability, state) pairs, such as [(1.0, state)]"
        ) from None


class _SteppedObject:
    """An object with get, set and step as a `Steppable`."""

    def __init__(
        self, thing: Any, declared: Declared, actions: tuple[str, ...], world_id: str
    ) -> None:
        self.thing, self.declared = thing, declared
        self.actions, self.world_id = actions, world_id

    def get(self) -> Values:
        """Return the object's state, checked."""
        return _check_values(self.thing.get(), self.declared, self.world_id)

    def set(self, values: Values, seed: int | None = None) -> None:
        """Set the object's state; a seed goes to its `seed` method first."""
        if seed is not None:
            self.seed(seed)
        self.thing.set(dict(zip(self.declared, values, strict=True)))

    def seed(self, seed: int) -> None:
        """Call the object's `seed` method, if it has one."""
        if callable(getattr(self.thing, "seed", None)):
            self.thing.seed(seed)

    def step(self, action: int) -> bool:
        """Take an action; return whether the episode has ended."""
        ended = self.thing.step(self.actions[action])
        if ended is not None and not isinstance(ended, (bool, np.bool_)):
            raise UserError(
                f"{self.world_id}: step returned {ended!r}; it must return whether the episode has "
                f"ended, true or false, or nothing"
            )
        return bool(ended)
