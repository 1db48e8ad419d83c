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
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from skillfocus.errors import UserError, short_repr
from skillfocus.spaces import Variable
from skillfocus.world import STATE_LIMIT
from skillfocus.worlds.adapters.stepping import (
    IN_A_FILE,
    environment_notes,
    stepped_model,
    validate,
)
from skillfocus.worlds.explored import ExploredWorld, Groups, ModelOutcome, Values


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
    if hasattr(thing, "action_space"):
        raise UserError(
            f"{type(thing).__name__} is a Gymnasium environment: use from_gymnasium, {IN_A_FILE}"
        )
    wrapped = _Object(thing)
    wrapped.seed(seed)
    advice = "if step is random, raise samples=… or give transition"
    return ExploredWorld(
        wrapped.world_id,
        names=tuple(wrapped.variables),
        actions=wrapped.actions,
        starts=wrapped.starts(),
        model=stepped_model(wrapped, samples) if wrapped.is_stepped else wrapped.outcomes,
        limit=limit,
        groups=groups,
        declared=wrapped.variables,
        step_limit=step_limit,
        simulator=None if wrapped.missing else wrapped,
        exact=samples == 1 or not wrapped.is_stepped,
        notes=environment_notes(samples if wrapped.is_stepped else 1, None),
        check=partial(validate, advice=advice) if check else None,
    )


class _Object:
    """An object as a `Simulator` or, if it has `transition`, a model; what it gives is checked."""

    def __init__(self, thing: Any) -> None:
        self.thing, self.world_id = thing, f"object:{type(thing).__name__}"
        variables = getattr(thing, "variables", None)
        if not isinstance(variables, Mapping) or not variables:
            raise UserError(
                f"{self.world_id} needs variables, as in variables = {{'lamp': (0, 1)}}"
            )
        self.variables = {
            str(name): v if isinstance(v, Variable) else Variable(str(name), tuple(v))
            for name, v in variables.items()
        }
        actions = getattr(thing, "actions", None)
        if not isinstance(actions, Sequence) or isinstance(actions, str) or not actions:
            raise UserError(f"{self.world_id} needs actions, as in actions = ('left', 'right')")
        self.actions = tuple(str(action) for action in actions)
        self.missing = [name for name in ("get", "set", "step") if not self._has(name)]
        self.is_stepped = not self._has("transition")
        if self.missing and self.is_stepped:
            raise UserError(
                f"{self.world_id} has no {', '.join(self.missing)}; give it get, set and step, or "
                f"transition"
            )

    def _has(self, name: str) -> bool:
        return callable(getattr(self.thing, name, None))

    def _call(self, method: str, state: Mapping[str, Any], *arguments: Any) -> Any:
        """Call a method of the object; what it raises names the state and the action, the last
        argument."""
        try:
            given = getattr(self.thing, method)(*arguments)
            return list(given) if isinstance(given, Iterator) else given
        except UserError:
            raise
        except Exception as error:  # the object may fail in any way
            line = traceback.extract_tb(error.__traceback__)[-1]
            raise UserError(
                f"{self.world_id}: {method} fails in {state} for {arguments[-1]!r}: "
                f"{type(error).__name__}: {error} ({Path(line.filename).name}, line {line.lineno})"
            ) from error

    def _values(self, state: Any) -> Values:
        """Return a state's values in the order of the variables, if they are declared."""
        if not isinstance(state, Mapping) or set(state) != set(self.variables):
            names = ", ".join(self.variables)
            raise UserError(
                f"{self.world_id}: {state!r} is not a state; it needs a value for each of {names}"
            )
        for name, variable in self.variables.items():
            if state[name] not in variable.values:
                raise UserError(
                    f"{self.world_id} reaches {dict(state)}, but {name} has only the values "
                    f"{variable.values}: add {state[name]!r} to them, or do not go there"
                )
        return tuple(state[name] for name in self.variables)

    def _labels(self, values: Values) -> dict[str, Any]:
        return dict(zip(self.variables, values, strict=True))

    def starts(self) -> Iterable[Values]:
        """Return the object's starts, its current state, or every combination of values."""
        if self._has("starts"):
            return [self._values(state) for state in self.thing.starts()]
        if self._has("get"):
            return [self.state()]
        return itertools.product(*(variable.values for variable in self.variables.values()))

    def outcomes(self, values: Values, action: int) -> Iterable[ModelOutcome]:
        """Return what the object's `transition` says can follow."""
        state = self._labels(values)
        given = self._call("transition", state, dict(state), self.actions[action])
        try:
            listed = None if isinstance(given, Mapping) else given  # a state on its own
            outcomes = [(float(p), after, any(ended)) for p, after, *ended in listed]  # pyright: ignore[reportOptionalIterable]
        except (TypeError, ValueError):
            raise UserError(
                f"{self.world_id}: transition returned {short_repr(given)}; it must return a list "
                f"of (probability, state) pairs, such as [(1.0, state)]"
            ) from None
        return [ModelOutcome(p, self._values(after), ended) for p, after, ended in outcomes]

    def seed(self, seed: int) -> None:
        """Call the object's `seed` method, if it has one."""
        if self._has("seed"):
            self.thing.seed(seed)

    def state(self) -> Values:
        """Return the object's state."""
        return self._values(self.thing.get())

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Set the object's state; a seed goes to its `seed` method first."""
        if seed is not None:
            self.seed(seed)
        self.before = self._labels(values)
        self.thing.set(dict(self.before))

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened."""
        ended = self._call("step", self.before, self.actions[action])
        if ended is not None and not isinstance(ended, (bool, np.bool_)):
            raise UserError(
                f"{self.world_id}: step returned {ended!r}; it must return whether the episode has "
                f"ended, true or false, or nothing"
            )
        after = self.state()
        self.before = self._labels(after)
        return ModelOutcome(1.0, after, bool(ended))
