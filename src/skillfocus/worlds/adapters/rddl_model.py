"""The dynamics of an RDDL domain, with exact probabilities.

Fluents that others read come first, in an order that pyRDDLGym determines; each of their outcomes
opens a branch. Within a branch the remaining fluents are independent, so their outcomes are
multiplied. Rewards and observations are never evaluated.
"""

from __future__ import annotations

import math
from typing import Any

from skillfocus.worlds.adapters.rddl_fluents import Assignment, Factor, Fluent
from skillfocus.worlds.adapters.rddl_formula import (
    MAX_OUTCOMES,
    Formula,
    OutcomeEnumerator,
    too_many_outcomes,
)
from skillfocus.worlds.model import ModelOutcome, Values


class ExactModel:
    """The fluents of a domain, and the possible outcomes of a state and an action.

    Attributes:
        actions: Names of the action fluents.
        next: {state fluent: its primed name}, in the order of a state's values.
        fluents: Every state, action and intermediate fluent by its name.
    """

    def __init__(self, world_id: str, rddl: Any, simulator: Any) -> None:
        """Compile the formulas of a domain.

        Args:
            world_id: The world's id, for errors.
            rddl: pyRDDLGym's lifted model.
            simulator: A simulator of its own: its random draws are replaced.
        """
        self.world_id, self.actions = world_id, tuple(rddl.action_fluents)
        enumerator = OutcomeEnumerator(world_id, simulator)
        self.next: dict[str, str] = dict(rddl.next_state)
        names = [*self.next, *self.actions, *(name for name, _, _ in simulator.cpfs)]
        self.fluents = {name: Fluent.of(rddl, name) for name in names}

        def formula(name: str, expression: Any) -> Formula:
            return Formula(name, expression, self.fluents, enumerator)

        self._preconditions = [formula("a precondition", e) for e in rddl.preconditions]
        self._terminations = [formula("the termination", e) for e in rddl.terminations]
        self._invariants = [formula("a state invariant", e) for e in rddl.invariants]
        formulas = {name: formula(name, expression) for name, expression, _ in simulator.cpfs}
        needed, read = list(self.next.values()), set()
        for name in needed:  # grows while it is iterated
            new = [n for n in formulas[name].reads if n in formulas and n not in read]
            read.update(new)
            needed.extend(new)
        self._branching = [formulas[name] for name in formulas if name in read]
        self._independent = {n: formulas[n] for n in self.next.values() if n not in read}

    def state(self, arrays: dict[str, Any]) -> Values:
        """Return the state that a simulator's arrays hold."""
        return tuple(v for name in self.next for v in self.fluents[name].values(arrays[name]))

    def assignment(self, values: Values) -> Assignment:
        """Return a state as {fluent: values of its entries}."""
        parts, first = {}, 0
        for name in self.next:
            size = len(self.fluents[name].entries)
            parts[name] = values[first : first + size]
            first += size
        return parts

    def ended(self, values: Values) -> bool:
        """Return whether an episode ends on entering a state."""
        state = self.assignment(values) if self._terminations or self._invariants else {}
        return any(_holds(f, state) for f in self._terminations) or not all(
            _holds(f, state) for f in self._invariants
        )

    def outcomes(self, values: Values, action: Assignment) -> list[ModelOutcome]:
        """Return the possible outcomes of an action.

        Raises:
            UserError: If there are too many to enumerate.
        """
        start = {**self.assignment(values), **action}
        if not all(_holds(f, start) for f in self._preconditions):
            return [ModelOutcome(1.0, values)]
        branches = [(1.0, start)]
        for formula in self._branching:
            extended: list[tuple[float, Assignment]] = []
            for p, branch in branches:
                combined = self._combine(formula(branch))
                extended += [(p * q, {**branch, formula.name: new}) for q, new in combined]
                self._check_count(len(extended))
            branches = extended
        outcomes: list[ModelOutcome] = []
        for p, branch in branches:
            factors: list[Factor] = []
            for name in self.next.values():
                formula = self._independent.get(name)
                factors += [[(1.0, branch[name])]] if formula is None else formula(branch)
            combined = self._combine(factors)
            outcomes += [ModelOutcome(p * q, after, self.ended(after)) for q, after in combined]
            self._check_count(len(outcomes))
        return outcomes

    def _combine(self, factors: list[Factor]) -> Factor:
        """Multiply independent factors."""
        self._check_count(math.prod(map(len, factors)))
        product: Factor = [(1.0, ())]
        for factor in factors:
            product = [(p * q, values + more) for p, values in product for q, more in factor]
        return product

    def _check_count(self, n_outcomes: int) -> None:
        if n_outcomes > MAX_OUTCOMES:
            raise too_many_outcomes(self.world_id, "an action")


def _holds(formula: Formula, assignment: Assignment) -> bool:
    return formula(assignment) == [[(1.0, (True,))]]
