"""What can follow a state of an RDDL domain, with exact probabilities.

Fluents that others read come first, in an order that pyRDDLGym finds; each of their outcomes opens
a branch. In each branch the other fluents are independent of one another, so their outcomes are
multiplied. Rewards and observations are never evaluated.
"""

from __future__ import annotations

import math
from typing import Any

from skillfocus.worlds.adapters.rddl_formula import (
    MOST_OUTCOMES,
    Factor,
    Fluent,
    Formula,
    Known,
    RandomPolicy,
    too_many,
)
from skillfocus.worlds.explored import ModelOutcome, Values


class ExactModel:
    """The domain's dynamics: fluents by name, and what follows a state and an action."""

    def __init__(self, world_id: str, rddl: Any, simulator: Any) -> None:
        self.world_id, self.actions = world_id, tuple(rddl.action_fluents)
        chance = RandomPolicy(world_id, simulator)
        self.next: dict[str, str] = dict(rddl.next_state)
        fluents = [*self.next, *self.actions, *(name for name, _, _ in simulator.cpfs)]
        self.fluents = {name: Fluent.of(rddl, name) for name in fluents}

        def formula(name: str, expression: Any) -> Formula:
            return Formula(name, expression, self.fluents, chance)

        self.allowed = [formula("a precondition", e) for e in rddl.preconditions]
        self.over = [formula("the termination", e) for e in rddl.terminations]
        self.valid = [formula("a state invariant", e) for e in rddl.invariants]
        every = {name: formula(name, expression) for name, expression, _ in simulator.cpfs}
        needed, read = list(self.next.values()), set()
        for name in needed:
            fresh = [n for n in every[name].reads if n in every and n not in read]
            read.update(fresh)
            needed.extend(fresh)
        self.inner = [every[name] for name in every if name in read]
        self.last = {name: every[name] for name in self.next.values() if name not in read}

    def state(self, arrays: dict[str, Any]) -> Values:
        """A state from what a simulator holds."""
        return tuple(v for name in self.next for v in self.fluents[name].values(arrays[name]))

    def known(self, values: Values) -> Known:
        """A state by fluents."""
        parts, first = {}, 0
        for name in self.next:
            size = len(self.fluents[name].entries)
            parts[name] = values[first : first + size]
            first += size
        return parts

    def ended(self, values: Values) -> bool:
        """Whether an episode ends on entering a state."""
        known = self.known(values) if self.over or self.valid else {}
        return any(_true(f, known) for f in self.over) or not all(
            _true(f, known) for f in self.valid
        )

    def follow(self, values: Values, action: Known) -> list[ModelOutcome]:
        known = {**self.known(values), **action}
        if not all(_true(f, known) for f in self.allowed):
            return [ModelOutcome(1.0, values)]
        branches = [(1.0, known)]
        for formula in self.inner:
            grown: list[tuple[float, Known]] = []
            for p, before in branches:
                ways = self._combined(formula(before))
                grown += [(p * q, {**before, formula.name: new}) for q, new in ways]
                self._check(len(grown))
            branches = grown
        found: list[ModelOutcome] = []
        for p, before in branches:
            factors: list[Factor] = []
            for name in self.next.values():
                factors += self.last[name](before) if name in self.last else [[(1.0, before[name])]]
            ways = self._combined(factors)
            found += [ModelOutcome(p * q, after, self.ended(after)) for q, after in ways]
            self._check(len(found))
        return found

    def _combined(self, factors: list[Factor]) -> Factor:
        self._check(math.prod(map(len, factors)))
        ways: Factor = [(1.0, ())]
        for factor in factors:
            ways = [(p * q, values + more) for p, values in ways for q, more in factor]
        return ways

    def _check(self, n_outcomes: int) -> None:
        if n_outcomes > MOST_OUTCOMES:
            raise too_many(self.world_id, "an action")


def _true(formula: Formula, known: Known) -> bool:
    return formula(known) == [[(1.0, (True,))]]
