"""A Gymnasium environment whose state can be read and set, or that offers its exact model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.worlds.model import Model, ModelOutcome, Values


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
