"""The formulas of an RDDL domain: the next value of a fluent, with exact probabilities.

pyRDDLGym's simulator evaluates formulas. Where it would draw at random, the formula is evaluated
once for every outcome of the draw. A formula reads few fluents, so its results are cached by their
values. If every entry of a fluent depends only on draws of its own (the formula is *entrywise*),
all entries go through their outcomes side by side and are combined afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.worlds.explored import Values

# -------------------- RDDL fluents as arrays and as values

DECIMALS = 9
"""Real numbers are rounded, or sums of fractions would never be equal again."""
Assignment = dict[str, Values]
"""Values of the entries of some fluents, by the fluents' names."""
Factor = list[tuple[float, Values]]
"""Probabilities and values of neighbouring entries of a fluent, independent of other factors."""


@dataclass(frozen=True)
class Fluent:
    """A fluent, converted between pyRDDLGym's arrays and tuples of values."""

    entries: tuple[str, ...]
    """Names of the grounded entries, such as `lit(a)`."""
    shape: tuple[int, ...]
    """Shape of the array, one axis per parameter."""
    kind: type
    """The array's dtype: `bool`, `np.int64` or `np.float64`."""
    objects: tuple[str, ...] = ()
    """The values of an enumerated fluent, which arrays hold as indices."""

    @staticmethod
    def of(rddl: Any, name: str) -> Fluent:
        """Return the fluent of a name in pyRDDLGym's lifted model."""
        types, values = rddl.variable_params[name], rddl.variable_ranges[name]
        entries = [f"{name}({','.join(o)})" for o in rddl.ground_types(types)] if types else [name]
        kind = {"bool": bool, "real": np.float64}.get(values, np.int64)
        objects = tuple(rddl.type_to_objects.get(values, ()))
        return Fluent(tuple(entries), tuple(rddl.object_counts(types)), kind, objects)

    def array(self, values: Values) -> Any:
        """Return values as an array of `shape`, or a scalar without parameters."""
        numbers = [self.objects.index(str(v)) for v in values] if self.objects else values
        return np.array(numbers, dtype=self.kind).reshape(self.shape)[()]

    def values(self, array: Any) -> Values:
        """Return an array as values, one per entry."""
        flat = np.asarray(array).astype(self.kind).ravel()
        if self.kind is np.float64:
            return tuple(np.round(flat, DECIMALS).tolist())
        return tuple(self.objects[i] for i in flat) if self.objects else tuple(flat.tolist())


MAX_OUTCOMES = 4096
"""The most outcomes of one action in one state."""


def too_many_outcomes(world_id: str, name: str) -> UserError:
    """Return the error for a fluent or an action with too many outcomes."""
    return UserError(
        f"{world_id}: {name} has more than {MAX_OUTCOMES:,} outcomes in some state, too many to "
        f"enumerate: use a smaller instance"
    )


class Formula:
    """The next value of a fluent as a function of the fluents it reads."""

    def __init__(
        self, name: str, expression: Any, fluents: dict[str, Fluent], enumerator: OutcomeEnumerator
    ) -> None:
        self.name, self.expression, self.fluents = name, expression, fluents
        self.enumerator = enumerator
        self.fluent = fluents.get(name) or Fluent((name,), (), bool)
        named = {e.args[0] for e in _walk(expression) if e.etype[0] == "pvar"}
        self.reads = sorted(named & set(fluents))
        self.entrywise = _is_entrywise(expression)
        self._cache: dict[Hashable, list[Factor]] = {}

    def __call__(self, assignment: Assignment) -> list[Factor]:
        """Return the distribution of the entries as independent factors."""
        key = tuple([assignment[name] for name in self.reads])
        if key not in self._cache:
            arrays = {name: self.fluents[name].array(assignment[name]) for name in self.reads}
            self._cache[key] = self.enumerator.outcomes(self, arrays)
        return self._cache[key]


def _subexpressions(part: Any) -> Iterator[Any]:
    """Yield the expressions directly below a part of one."""
    if isinstance(part, (tuple, list)):
        for item in part:
            yield from [item] if hasattr(item, "etype") else _subexpressions(item)


def _walk(expression: Any) -> Iterator[Any]:
    """Yield an expression and everything below it."""
    yield expression
    for part in _subexpressions(expression.args):
        yield from _walk(part)


def _is_entrywise(expression: Any) -> bool:
    """Return whether every entry depends only on draws of its own: nothing mixes entries."""
    below = [each.etype for each in _walk(expression) if each is not expression]
    if not any(
        kind == "randomvector" or (kind == "randomvar" and not name.endswith("Delta"))
        for kind, name in below
    ):
        return True
    kind, name = expression.etype
    mixing = kind in ("aggregation", "matrix", "pyfunc", "pvar") or name.endswith("(p)")
    return not mixing and all(map(_is_entrywise, _subexpressions(expression.args)))


class OutcomeEnumerator:
    """Replaces the random draws of a simulator by an enumeration of their outcomes.

    A formula is evaluated again and again. The script says which outcome each draw of the present
    evaluation takes, and how many outcomes it has; after each evaluation the script moves on, like
    a counter whose last digit is the last draw.
    """

    def __init__(self, world_id: str, simulator: Any) -> None:
        self.world_id, self.simulator = world_id, simulator
        simulator._sample_random = simulator._sample_random_vector = self._sample
        simulator._sample_discrete_helper = self._sample_discrete

    def outcomes(self, formula: Formula, arrays: dict[str, Any]) -> list[Factor]:
        """Return the distribution of a formula, given the arrays that it reads.

        Raises:
            UserError: If there are too many outcomes, or a draw cannot be enumerated.
        """
        self.formula, fluent = formula, formula.fluent
        subs = {**self.simulator.init_values, **arrays}
        n_factors = len(fluent.entries) if formula.entrywise else 1
        distributions: list[dict[Values, float]] = [{} for _ in range(n_factors)]
        self.script: list[list[int]] = []
        for _ in range(MAX_OUTCOMES):
            self.n_drawn, self.weight = 0, np.ones(fluent.shape if formula.entrywise else ())
            sample = self.simulator._sample(formula.expression, subs)
            self.simulator._check_type(sample, fluent.kind, formula.name, formula.expression)
            values = fluent.values(sample)
            parts = zip(values) if formula.entrywise else [values]
            weights = np.ravel(self.weight).tolist()
            for distribution, part, p in zip(distributions, parts, weights, strict=True):
                if p > 0:
                    distribution[part] = distribution.get(part, 0.0) + p
            if not self._advance():
                return _merge_certain(distributions)
        raise too_many_outcomes(self.world_id, formula.name)

    def _advance(self) -> bool:
        """Move the script to the next combination of outcomes; return whether there is one."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if self.script:
            self.script[-1][0] += 1
        return bool(self.script)

    def _sample(self, expression: Any, subs: dict[str, Any]) -> Any:
        """Stand in for the simulator's own sampling of a random expression."""
        simulator, name, args = self.simulator, expression.etype[1], expression.args
        if name.removesuffix("(p)") in ("KronDelta", "DiracDelta", "Discrete", "UnnormDiscrete"):
            return type(simulator)._sample_random(simulator, expression, subs)
        if name == "Bernoulli":
            p = np.asarray(simulator._sample(args[0], subs), dtype=float)
            simulator._check_range(p, 0, 1, "Bernoulli p", expression)
            return self._draw(np.stack([1 - p, p], axis=-1)) == 1
        if name == "Binomial":
            n, p = (np.asarray(simulator._sample(arg, subs)) for arg in args)
            simulator._check_positive(n, False, "Binomial count", expression)
            simulator._check_range(p, 0, 1, "Binomial p", expression)
            return self._draw(_binomial(*np.broadcast_arrays(n, p)))
        raise UserError(
            f"{self.world_id}: {self.formula.name} draws from {name}, which cannot be enumerated "
            f"exactly: use a domain that draws from Bernoulli, Discrete or Binomial"
        )

    def _sample_discrete(self, weights: np.ndarray, unnorm: bool, expression: Any) -> np.ndarray:
        """Stand in for the simulator's draw from Discrete, where the first gets what is missing to
        1, or UnnormDiscrete."""
        self.simulator._check_positive(weights, False, "Discrete probabilities", expression)
        total = weights.sum(axis=-1, keepdims=True)
        valid = total > 0 if unnorm else np.isclose(total, 1)
        if not valid.all():
            raise UserError(
                f"{self.world_id}: the probabilities of {self.formula.name} sum to "
                f"{float(total[~valid][0]):.6g}: correct its formula"
            )
        if unnorm or np.allclose(total, 1, rtol=0, atol=1e-9):
            return self._draw(weights / total)
        clipped = np.diff(np.minimum(np.cumsum(weights, axis=-1), 1), axis=-1, prepend=0)
        clipped[..., 0] += 1 - clipped.sum(axis=-1)
        return self._draw(clipped)

    def _draw(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the outcome of each entry in this evaluation, and weigh the evaluation by it.

        Args:
            probabilities: [..., n_outcomes], one row per entry.

        Returns:
            Numbers of outcomes, [...]. An entrywise formula gives all entries the same outcome,
            with weight 0 where it is impossible.
        """
        shape = probabilities.shape[:-1]
        rows = probabilities.reshape(-1, probabilities.shape[-1])
        if self.formula.entrywise:
            possible = np.flatnonzero((rows > 0).any(axis=0))
            chosen = possible[self._next_outcome(len(possible))]
            weight = probabilities[..., chosen]
            self.weight = self.weight * weight
            return np.where(weight > 0, chosen, probabilities.argmax(axis=-1))
        options = [np.flatnonzero(row > 0) for row in rows]
        combination = self._next_outcome(math.prod(map(len, options)))
        drawn = np.zeros(len(rows), int)
        for i, possible in enumerate(options):
            combination, place = divmod(combination, len(possible))
            drawn[i] = possible[place]
        self.weight = self.weight * rows[np.arange(len(rows)), drawn].prod()
        return drawn.reshape(shape)

    def _next_outcome(self, n_outcomes: int) -> int:
        """Return which of its outcomes the next draw takes, by the script."""
        if self.n_drawn == len(self.script):
            self.script.append([0, n_outcomes])
        self.n_drawn += 1
        return self.script[self.n_drawn - 1][0]


def _binomial(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the probability of k successes in n trials, [..., k]."""
    k = np.arange(n.max() + 1)
    combinations = np.vectorize(math.comb)(n[..., None], k)
    return combinations * p[..., None] ** k * (1 - p[..., None]) ** np.maximum(n[..., None] - k, 0)


def _merge_certain(distributions: list[dict[Values, float]]) -> list[Factor]:
    """Return distributions as factors, neighbours that are certain merged into one."""
    factors: list[Factor] = []
    for distribution in distributions:
        if len(distribution) > 1:
            factors.append([(p, part) for part, p in distribution.items()])
            continue
        (part,) = distribution
        if factors and len(factors[-1]) == 1:
            part = factors.pop()[0][1] + part
        factors.append([(1.0, part)])
    return factors
