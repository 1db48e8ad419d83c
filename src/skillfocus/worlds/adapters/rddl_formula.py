"""The formulas of an RDDL domain: what a fluent becomes, with exact probabilities.

pyRDDLGym's simulator evaluates formulas. Where it would draw at random, the formula is evaluated
once for every outcome of the draw. A formula reads few fluents, so what follows from their values
is remembered. If every entry of a fluent depends on draws of its own alone, all entries take their
outcomes side by side, and are combined afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.worlds.explored import Values

MOST_OUTCOMES = 4096
DECIMALS = 9
"""Real numbers are rounded to so many, or sums of fractions would never meet again."""
Known = dict[str, Values]
"""The values of fluents."""
Factor = list[tuple[float, Values]]
"""Neighbouring entries of a fluent: what they can be, and how likely."""


@dataclass(frozen=True)
class Fluent:
    """A fluent as pyRDDLGym holds it, an array, and as a world does, a tuple of values."""

    entries: tuple[str, ...]
    shape: tuple[int, ...]
    kind: type
    objects: tuple[str, ...] = ()

    @staticmethod
    def of(rddl: Any, name: str) -> Fluent:
        types, values = rddl.variable_params[name], rddl.variable_ranges[name]
        entries = [f"{name}({','.join(o)})" for o in rddl.ground_types(types)] if types else [name]
        kind = {"bool": bool, "real": np.float64}.get(values, np.int64)
        objects = tuple(rddl.type_to_objects.get(values, ()))
        return Fluent(tuple(entries), tuple(rddl.object_counts(types)), kind, objects)

    def array(self, values: Values) -> Any:
        numbers = [self.objects.index(str(v)) for v in values] if self.objects else values
        return np.array(numbers, dtype=self.kind).reshape(self.shape)[()]

    def values(self, array: Any) -> Values:
        flat = np.asarray(array).astype(self.kind).ravel()
        if self.kind is np.float64:
            return tuple(np.round(flat, DECIMALS).tolist())
        return tuple(self.objects[i] for i in flat) if self.objects else tuple(flat.tolist())


def too_many(world_id: str, what: str) -> UserError:
    return UserError(
        f"{world_id}: {what} has more than {MOST_OUTCOMES:,} outcomes in some state, too many to "
        f"enumerate: use a smaller instance"
    )


class Formula:
    """What a fluent becomes, by what it reads."""

    def __init__(
        self, name: str, expression: Any, fluents: dict[str, Fluent], chance: RandomPolicy
    ) -> None:
        self.name, self.expression, self.fluents, self.chance = name, expression, fluents, chance
        self.fluent = fluents.get(name) or Fluent((name,), (), bool)
        named = {e.args[0] for e in _tree(expression) if e.etype[0] == "pvar"}
        self.reads = sorted(named & set(fluents))
        self.entrywise = _entrywise(expression)
        self.memory: dict[Hashable, list[Factor]] = {}

    def __call__(self, known: Known) -> list[Factor]:
        key = tuple([known[name] for name in self.reads])
        if key not in self.memory:
            arrays = {name: self.fluents[name].array(known[name]) for name in self.reads}
            self.memory[key] = self.chance.outcomes(self, arrays)
        return self.memory[key]


def _inside(part: Any) -> Iterator[Any]:
    """The expressions right below a part of one."""
    if isinstance(part, (tuple, list)):
        for item in part:
            yield from [item] if hasattr(item, "etype") else _inside(item)


def _tree(expression: Any) -> Iterator[Any]:
    yield expression
    for part in _inside(expression.args):
        yield from _tree(part)


def _random(expression: Any) -> bool:
    kind, name = expression.etype
    return kind == "randomvector" or (kind == "randomvar" and not name.endswith("Delta"))


def _entrywise(expression: Any) -> bool:
    """Whether every entry depends on draws of its own alone: nothing goes over other entries."""
    parts = list(_inside(expression.args))
    if not any(_random(inner) for part in parts for inner in _tree(part)):
        return True
    kind, name = expression.etype
    mixing = kind in ("aggregation", "matrix", "pyfunc", "pvar") or name.endswith("(p)")
    return not mixing and all(_entrywise(part) for part in parts)


class RandomPolicy:
    """Stands in a simulator where it would draw at random, and goes through what could be drawn:
    the script holds, per draw, which outcome it has and how many there are."""

    def __init__(self, world_id: str, simulator: Any) -> None:
        self.world_id, self.simulator = world_id, simulator
        simulator._sample_random = simulator._sample_random_vector = self._sample

    def outcomes(self, formula: Formula, arrays: dict[str, Any]) -> list[Factor]:
        self.formula, fluent = formula, formula.fluent
        subs = {**self.simulator.init_values, **arrays}
        size = len(fluent.entries) if formula.entrywise else 1
        chances: list[dict[Values, float]] = [{} for _ in range(size)]
        self.script: list[list[int]] = []
        for _ in range(MOST_OUTCOMES):
            self.at, self.weight = 0, np.ones(fluent.shape if formula.entrywise else ())
            sample = self.simulator._sample(formula.expression, subs)
            self.simulator._check_type(sample, fluent.kind, formula.name, formula.expression)
            values = fluent.values(sample)
            parts = zip(values) if formula.entrywise else [values]
            for met, part, p in zip(chances, parts, np.ravel(self.weight).tolist(), strict=True):
                if p > 0:
                    met[part] = met.get(part, 0.0) + p
            if not self._another():
                return _factors(chances)
        raise too_many(self.world_id, formula.name)

    def _another(self) -> bool:
        """Set the script to what has not been drawn yet, if there is anything left."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if self.script:
            self.script[-1][0] += 1
        return bool(self.script)

    def _sample(self, expression: Any, subs: dict[str, Any]) -> Any:
        simulator, name, args = self.simulator, expression.etype[1], expression.args
        if name.endswith("Delta"):
            return type(simulator)._sample_random(simulator, expression, subs)
        if name == "Bernoulli":
            p = np.asarray(simulator._sample(args[0], subs), dtype=float)
            simulator._check_range(p, 0, 1, "Bernoulli p", expression)
            return self._draw(np.stack([1 - p, p], axis=-1)) == 1
        if name in ("Discrete", "UnnormDiscrete"):
            cases = simulator.traced.cached_sim_info(expression)
            shares = np.stack([simulator._sample(case, subs) for case in cases], axis=-1)
            return self._draw(self._shares(shares, name, expression))
        if name in ("Discrete(p)", "UnnormDiscrete(p)"):
            return self._draw(self._shares(simulator._sample(args[1][0], subs), name, expression))
        if name == "Binomial":
            n, p = (np.asarray(simulator._sample(arg, subs)) for arg in args)
            simulator._check_positive(n, False, "Binomial count", expression)
            simulator._check_range(p, 0, 1, "Binomial p", expression)
            return self._draw(_binomial(*np.broadcast_arrays(n, p)))
        raise UserError(
            f"{self.world_id}: {self.formula.name} draws from {name}, which cannot be enumerated "
            f"exactly: use a domain that draws from Bernoulli, Discrete or Binomial"
        )

    def _shares(self, shares: np.ndarray, name: str, expression: Any) -> np.ndarray:
        """Probabilities as the simulator draws by them: it gives what is missing to the first."""
        self.simulator._check_positive(shares, False, f"{name} probabilities", expression)
        total = shares.sum(axis=-1, keepdims=True)
        wanted = total > 0 if name.startswith("Unnorm") else np.isclose(total, 1)
        if not wanted.all():
            raise UserError(
                f"{self.world_id}: the probabilities of {self.formula.name} sum to "
                f"{float(total[~wanted][0]):.6g}: correct its formula"
            )
        if name.startswith("Unnorm") or np.allclose(total, 1, rtol=0, atol=1e-9):
            return shares / total
        shares = np.diff(np.minimum(np.cumsum(shares, axis=-1), 1), axis=-1, prepend=0)
        shares[..., 0] += 1 - shares.sum(axis=-1)
        return shares

    def _draw(self, chances: np.ndarray) -> np.ndarray:
        """Per entry, the number of its outcome; `chances` has the outcomes on its last axis."""
        shape, rows = chances.shape[:-1], chances.reshape(-1, chances.shape[-1])
        if self.formula.entrywise:
            able = np.flatnonzero((rows > 0).any(axis=0))
            chosen = able[self._pick(len(able))]
            self.weight = self.weight * chances[..., chosen]
            return np.where(chances[..., chosen] > 0, chosen, chances.argmax(axis=-1))
        options = [np.flatnonzero(row > 0) for row in rows]
        several = [i for i, able in enumerate(options) if len(able) > 1]
        sizes = [len(options[i]) for i in several]
        picked = self._pick(math.prod(sizes))
        drawn = np.array([able[0] for able in options])
        for i, size in zip(several, sizes, strict=True):
            picked, place = divmod(picked, size)
            drawn[i] = options[i][place]
        self.weight = self.weight * rows[np.arange(len(rows)), drawn].prod()
        return drawn.reshape(shape)

    def _pick(self, size: int) -> int:
        if self.at == len(self.script):
            self.script.append([0, size])
        self.at += 1
        return self.script[self.at - 1][0]


def _binomial(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """[..., k]: the probability of k successes in n trials."""
    k = np.arange(n.max() + 1)
    ways = np.vectorize(math.comb)(n[..., None], k)
    return ways * p[..., None] ** k * (1 - p[..., None]) ** np.maximum(n[..., None] - k, 0)


def _factors(chances: list[dict[Values, float]]) -> list[Factor]:
    """Entries that can only be one thing joined with their neighbours of the same kind."""
    factors: list[Factor] = []
    for met in chances:
        if len(met) > 1:
            factors.append([(p, part) for part, p in met.items()])
            continue
        (part,) = met
        if factors and len(factors[-1]) == 1:
            part = factors.pop()[0][1] + part
        factors.append([(1.0, part)])
    return factors
