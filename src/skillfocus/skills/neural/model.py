"""A set of skills as a cost-to-go network with a termination rule.

The reward of stopping in a state is known without learning. So a skill is learned as a cost-to-go,
the loss relative to the largest reward:

    L(s; s_0, z)     loss of stopping in s: the largest reward minus the reward of s
    C(s, a; s_0, z)  least expected loss after taking action a in s

The skill stops where L <= min_a C, and otherwise takes the action with the lowest C. In
deterministic worlds, a greedy skill can loop between actions of nearly equal cost; with a positive
temperature it samples instead:

    pi(a | s; s_0, z)  is proportional to  exp(-C(s, a) / temperature)

C is a network with one output per skill and action. Skills whose targets have few values have
separate outputs ("cases") for each pair of first and current values, so that the network does not
have to learn this dependence.

All functions take NumPy or JAX arrays of value indices, [n, n_variables].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.core.factored import FactoredSpace
from skillfocus.machine import array_namespace
from skillfocus.objectives.objective import Objective, Term
from skillfocus.objectives.targets import Assignment
from skillfocus.skills.neural.groups import Group
from skillfocus.skills.neural.network import apply_network

MAX_CASES = 16
"""Most outputs per skill and action: pairs of first and current values of its targets."""
LOWEST = 1e-4
"""Lower bound of q, so that log q stays finite."""


class SkillModel:
    """Inputs, outputs, losses and actions of the network of a set of skills.

    Args:
        space: The variables.
        one_way: Names of the variables that never return to a value they have left.
        n_actions: Number of actions.
        objective: The skills' objective.
        assignment: Targets of every skill, or of every mode.

    The weights that methods take are a dictionary: `costs`, the network's parameters; `unit`, the
    scale of each skill's outputs, [n_skills]; `strength` of the penalty; `temperature`, 0 for
    greedy skills; `groups`, for each group one of `table` (rewards, [n_components, n_starts,
    n_values]), `network` (a discriminator's parameters, with `log_nu`, [n_components]) and `linear`
    (the direction of each component's reward, [n_dimensions, n_components]).
    """

    def __init__(
        self,
        space: FactoredSpace,
        one_way: Sequence[str],
        n_actions: int,
        objective: Objective,
        assignment: Assignment,
    ) -> None:
        self.space, self.n_actions, self.objective = space, n_actions, objective
        self.assignment = assignment
        self.reversible = np.array([name not in one_way for name in space.names])
        self.groups: list[Group] = []
        known: dict[tuple[tuple[int, ...], int | None, int], int] = {}
        parts: list[tuple[int, int, int, float]] = []
        for z, skill in enumerate(assignment.skills):
            for term in objective.terms(tuple(skill), len(space)):
                key = (term.variables, term.target, 1 if term.weight > 0 else -1)
                if key not in known:
                    known[key] = len(self.groups)
                    self.groups.append(self._group(term))
                component = z if term.target is None else skill[term.target]
                parts.append((known[key], component, z, abs(term.weight)))
        self.shares = [
            np.zeros((group.n_components, self.n_skills), np.float32) for group in self.groups
        ]
        for group, component, z, weight in parts:
            self.shares[group][component, z] += weight
        shapes: dict[object, list[int]] = {}
        for number, group in enumerate(self.groups):
            if group.is_table:
                shape = (group.n_components, group.sizes, group.start_sizes, group.sign)
                shapes.setdefault(shape, []).append(number)
        self.tables = [tuple(numbers) for numbers in shapes.values()]
        """Groups with tables of the same shape, which are indexed together."""

    def _group(self, term: Term) -> Group:
        sizes = self.space.sizes
        starts = ()
        if self.objective.reward.uses_start:
            starts = tuple(j for j in term.variables if term.target == j or self.reversible[j])
        n = self.n_skills if term.target is None else self.assignment.n_components(term.target)
        return Group(
            term.variables, starts, n, 1 if term.weight > 0 else -1,
            tuple(sizes[j] for j in term.variables), tuple(sizes[j] for j in starts),
        )  # fmt: skip

    def component(self, group: int, skills: Any) -> tuple[Any, Any]:
        """Return each skill's component on a group, and whether it has one."""
        xp, shares = array_namespace(skills), self.shares[group]
        components, among = shares.argmax(axis=0), shares.any(axis=0)
        return xp.asarray(components)[skills], xp.asarray(among)[skills]

    @property
    def n_skills(self) -> int:
        """Number of skills, or of modes of all skills."""
        return len(self.assignment)

    # ------------------------------------------------------------------ inputs and outputs

    @cached_property
    def start_inputs(self) -> tuple[int, ...]:
        """Variables whose first value is an input of the network.

        These are the reversible variables, if skills have targets; those whose first value a reward
        depends on; but not one-way targets, where their skills have cases.
        """
        needed: set[int] = set()
        if self.objective.targeted:
            needed.update(np.flatnonzero(self.reversible).tolist())
        if self.objective.reward.timing != "transition":
            for group in self.groups:
                needed.update(group.start_variables)
        for z in range(self.n_skills):
            if self.cases[z]:
                needed -= {j for j in self.assignment.targets(z) if not self.reversible[j]}
        return tuple(sorted(needed))

    @cached_property
    def cases(self) -> tuple[tuple[int, ...], ...]:
        """Sizes of each skill's targets if it has an output per pair of their values, else ()."""
        chosen = []
        for z in range(self.n_skills):
            sizes = tuple(self.space.sizes[j] for j in self.assignment.targets(z))
            few = sizes and math.prod(sizes) ** 2 <= MAX_CASES
            chosen.append(sizes if few else ())
        return tuple(chosen)

    @property
    def n_cases(self) -> int:
        """Number of outputs per skill and action."""
        return max(math.prod(sizes) ** 2 for sizes in self.cases)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network."""
        return sum(_width(size) for size in self.space.sizes) + sum(
            _width(self.space.sizes[j]) + 2 for j in self.start_inputs
        )

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the network."""
        return self.n_skills * self.n_cases * self.n_actions

    def inputs(self, starts: Any, states: Any) -> Any:
        """Return the network's inputs, float32 [n, n_inputs].

        These are indicators of current and first values, and for each variable whether they differ
        and by how much. A network is slow to learn from indicators alone whether values differ.
        """
        xp, seen = array_namespace(states), list(self.start_inputs)
        known = self.encode(starts, states, range(len(self.space)), seen)
        if not seen:
            return known
        differs = (starts[:, seen] != states[:, seen]).astype(xp.float32)
        far = xp.stack([self._distance(starts, states, j) for j in seen], axis=1)
        return xp.concatenate([known, differs, far.astype(xp.float32)], axis=1)

    def _distance(self, starts: Any, states: Any, variable: int) -> Any:
        """Return a variable's distance from its first value, relative to the largest."""
        xp, known = array_namespace(states), self.space.variables[variable]
        distances = xp.asarray(known.distances / known.largest_distance, xp.float32)
        return distances[starts[:, variable], states[:, variable]]

    def encode(
        self, starts: Any, states: Any, variables: Sequence[int], start_variables: Sequence[int]
    ) -> Any:
        """Return indicators of variables' current and first values, float32 [n, encoded_width]."""
        xp = array_namespace(states)
        columns = [self._indicators(states[:, j], j) for j in variables]
        columns += [self._indicators(starts[:, j], j) for j in start_variables]
        return xp.concatenate(columns, axis=1)

    def encoded_width(self, variables: Sequence[int], start_variables: Sequence[int]) -> int:
        """Return the number of columns of `encode`."""
        return sum(_width(self.space.sizes[j]) for j in (*variables, *start_variables))

    def _indicators(self, values: Any, variable: int) -> Any:
        xp, size = array_namespace(values), self.space.sizes[variable]
        if size <= 2:
            return (2 * values[:, None] - 1).astype(xp.float32)
        return (values[:, None] == xp.arange(size)).astype(xp.float32)

    @cached_property
    def _case_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Strides of first and of current values in the index of a skill's case."""
        first = np.zeros((len(self.space), self.n_skills), np.float32)
        now = np.zeros_like(first)
        for z, sizes in enumerate(self.cases):
            factor = 1
            for j, size in zip(reversed(self.assignment.targets(z)), reversed(sizes), strict=False):
                now[j, z] = factor
                factor *= size
            first[:, z] = now[:, z] * factor
        return first, now

    def _case(self, starts: Any, states: Any) -> Any:
        """Return the index of each skill's case, float32 [n, n_skills]."""
        xp, (first, now) = array_namespace(states), self._case_factors
        return starts.astype(xp.float32) @ first + states.astype(xp.float32) @ now

    # ------------------------------------------------------------------ losses and costs

    def costs(self, weights: Any, starts: Any, states: Any) -> Any:
        """Return C(s, a; s_0, z), [n, n_skills, n_actions]."""
        xp = array_namespace(states)
        out = apply_network(weights["costs"], self.inputs(starts, states))
        shape = (len(states), self.n_skills, self.n_cases, self.n_actions)
        out = out.reshape(shape)
        unit = weights["unit"][:, None]
        if self.n_cases == 1:
            return out[:, :, 0] * unit
        mine = self._case(starts, states)[:, :, None] == xp.arange(self.n_cases)
        return (out * mine[..., None]).sum(axis=2) * unit

    def losses(self, weights: Any, starts: Any, states: Any) -> Any:
        """Return L(s; s_0, z), [n, n_skills], without the event costs of earlier steps."""
        total = self.penalties(weights, starts, states, self.reversible)
        if self.objective.reward.timing == "transition":  # stopping earns nothing
            return total
        for numbers in self.tables:
            regret = self._regrets(numbers, weights, starts, states)
            total = total + regret @ np.concatenate([self.shares[g] for g in numbers])
        for number, group in enumerate(self.groups):
            if not group.is_table:
                parts = weights["groups"][number]
                reward = group.sign * self.reward(group, parts, starts, states)
                total = total + (self.bound(group, parts) - reward) @ self.shares[number]
        return total

    def rewards(self, weights: Any, starts: Any, states: Any) -> Any:
        """Return each skill's reward, without penalties, [n, n_skills]."""
        return sum(
            group.sign * self.reward(group, parts, starts, states) @ shares
            for group, parts, shares in zip(
                self.groups, weights["groups"], self.shares, strict=True
            )
        )

    def penalties(self, weights: Any, starts: Any, states: Any, among: np.ndarray) -> Any:
        """Return each skill's penalty for changes of variables, [n, n_skills].

        Args:
            weights: See the class.
            starts: States to compare with, [n, n_variables].
            states: Current states, [n, n_variables].
            among: Which variables to include, bool [n_variables].
        """
        xp, penalty = array_namespace(states), self.objective.penalty
        if penalty is None:
            return xp.zeros((len(states), self.n_skills), xp.float32)
        targets = [self.assignment.targets(z) for z in range(self.n_skills)]
        distinct = list(dict.fromkeys(targets))
        watched = np.stack([penalty.watched(each, len(self.space)) for each in distinct]) & among
        measured = _map_rows(
            lambda row: penalty.measure(self.space, starts, states, row), watched, xp
        )
        which = np.array([distinct.index(each) for each in targets])
        return weights["strength"] * measured.astype(xp.float32).T[:, which]

    def _regrets(self, numbers: tuple[int, ...], weights: Any, starts: Any, states: Any) -> Any:
        """Return the regret of groups with tables of equal shape, [n, groups * components].

        The regret is the largest reward over all values minus the reward.
        """
        xp, groups = array_namespace(states), [self.groups[g] for g in numbers]
        sign = groups[0].sign
        table = sign * xp.stack([weights["groups"][g]["table"] for g in numbers])
        regret = table.max(axis=3, keepdims=True) - table  # [groups, components, starts, values]
        first = xp.stack([group.start_number(starts) for group in groups], axis=1)
        now = xp.stack([group.number(states) for group in groups], axis=1)
        found = regret[np.arange(len(groups)), :, first, now]
        return found.reshape(len(states), -1)

    def reward(self, group: Group, parts: Any, starts: Any, states: Any) -> Any:
        """Return a group's reward, [n, n_components]."""
        formula = self.objective.reward.formula
        if "table" in parts:
            return parts["table"][:, group.start_number(starts), group.number(states)].T
        if "network" in parts:
            return formula(self.log_q(group, parts["network"], starts, states), parts["log_nu"])
        changes = self.coordinates(group, states) - self.coordinates(group, starts)
        return formula(changes @ parts["linear"])

    def log_q(self, group: Group, network: Any, starts: Any, states: Any) -> Any:
        """Return a discriminator network's log q(k | s, s_0), [n, n_components]."""
        xp = array_namespace(states)
        x = self.encode(starts, states, group.variables, group.start_variables)
        logits = apply_network(network, x)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_q = logits - xp.log(xp.exp(logits).sum(axis=1, keepdims=True))
        return xp.maximum(log_q, math.log(LOWEST))

    def coordinates(self, group: Group, values: Any) -> Any:
        """Return a group's variables as points, [n, n_dimensions]."""
        xp = array_namespace(values)
        points = [
            xp.asarray(self.space.variables[j].coordinates, xp.float32)[values[:, j]]
            for j in group.variables
        ]
        return xp.concatenate(points, axis=1)

    def bound(self, group: Group, parts: Any) -> Any:
        """Return an upper bound of a group's signed reward, [n_components]."""
        formula, log_nu = self.objective.reward.formula, parts.get("log_nu")
        if log_nu is not None:
            xp = array_namespace(log_nu)
            ends = [group.sign * formula(log_q, log_nu) for log_q in (0.0, math.log(LOWEST))]
            return xp.maximum(*ends)
        xp = array_namespace(parts["linear"])
        most, first = xp.zeros(group.n_components, xp.float32), 0
        for j in group.variables:
            points = np.asarray(self.space.variables[j].coordinates, np.float32)
            along = xp.asarray(points) @ parts["linear"][first : first + points.shape[1]]
            most = most + (along.max(axis=0) - along.min(axis=0))
            first += points.shape[1]
        return formula(most)

    def choose(self, weights: Any, starts: Any, states: Any, draws: Any = None) -> Any:
        """Return the action of every skill, int [n, n_skills]; `n_actions` means "terminate".

        Args:
            weights: See the class.
            starts: First states, [n, n_variables].
            states: Current states, [n, n_variables].
            draws: Uniform samples from [0, 1), [n], to sample actions by; None acts greedily.
        """
        xp = array_namespace(states)
        costs = self.costs(weights, starts, states)
        least = costs.min(axis=2)
        stop = self.losses(weights, starts, states) <= least
        if draws is None:
            return xp.where(stop, self.n_actions, costs.argmin(axis=2))
        temperature = xp.maximum(weights["temperature"], LOWEST) * weights["unit"][:, None]
        cumulative = xp.cumsum(xp.exp((least[:, :, None] - costs) / temperature), axis=2)
        below = cumulative <= draws[:, None, None] * cumulative[:, :, -1:]
        return xp.where(stop, self.n_actions, below[:, :, :-1].sum(axis=2))


def _map_rows(function: Callable[[Any], Any], rows: np.ndarray, xp: Any) -> Any:
    """Map a function over rows; vectorized in JAX."""
    if xp is np:
        return np.stack([function(row) for row in rows])
    import jax

    return jax.vmap(function)(xp.asarray(rows))


def _width(size: int) -> int:
    """Return the number of inputs of a variable."""
    return 1 if size <= 2 else size
