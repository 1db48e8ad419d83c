"""Skills as networks: a cost-to-go network for all skills of a set, and its policies.

This file has the feed-forward network that all networks here are (`init_network`,
`apply_network`), the model of a set of skills with its inputs, losses and actions (`SkillModel`),
and the policies that act by it (`NeuralPolicy`). Functions take NumPy and JAX arrays alike; acting
takes NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from skillfocus.machine import array_namespace
from skillfocus.mdp import TabularMDP, index_values
from skillfocus.objectives.kinds import SkillKinds
from skillfocus.objectives.objective import Objective, Term
from skillfocus.skills.policy import Policy, TabularPolicy, Traced
from skillfocus.spaces import Space
from skillfocus.worlds.jax.world import jax, jnp

# -------------------- A feed-forward network with layer normalization
#
#     x -> [linear, layer norm, max(0, .)] per hidden layer -> linear

EPSILON = 1e-5
Parameters = dict[str, Any]
"""Arrays by name: `w0`, `b0`, `g0`, …, as in files."""


def init_network(
    sizes: Sequence[int], rng: np.random.Generator, *, output_bias: float = 0.0
) -> Parameters:
    """Return initial parameters: He-normal weights, and near-zero ones in the last layer.

    Args:
        sizes: Widths of all layers, input and output included.
        rng: Source of randomness.
        output_bias: Initial bias of the outputs.
    """
    parameters: Parameters = {}
    last = len(sizes) - 2
    for i, (fan_in, width) in enumerate(pairwise(sizes)):
        scale = (0.01 if i == last else 2.0**0.5) / fan_in**0.5
        parameters[f"w{i}"] = (rng.standard_normal((fan_in, width)) * scale).astype(np.float32)
        parameters[f"b{i}"] = np.full(width, output_bias if i == last else 0.0, np.float32)
        if i < last:
            parameters[f"g{i}"] = np.ones(width, np.float32)
    return parameters


def apply_network(parameters: Parameters, x: Any) -> Any:
    """Return the outputs, [..., n_outputs], for inputs [..., n_inputs]."""
    xp = array_namespace(x)
    last = sum(name.startswith("w") for name in parameters) - 1
    for i in range(last):
        x = normalize(x @ parameters[f"w{i}"])
        x = xp.maximum(x * parameters[f"g{i}"] + parameters[f"b{i}"], 0.0)
    return x @ parameters[f"w{last}"] + parameters[f"b{last}"]


def normalize(x: Any) -> Any:
    """Return x with mean 0 and variance 1 over the last axis."""
    x = x - x.mean(axis=-1, keepdims=True)
    return x / array_namespace(x).sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)


def log_softmax(logits: Any, lowest: float) -> Any:
    """Return log q over the last axis, bounded below by the log of `lowest`."""
    xp = array_namespace(logits)
    logits = logits - logits.max(axis=-1, keepdims=True)
    log_q = logits - xp.log(xp.exp(logits).sum(axis=-1, keepdims=True))
    return xp.maximum(log_q, math.log(lowest))


# --------------------
#
# Groups of variables that copies of the base reward depend on, and indices of their values

MAX_TABLE = 1 << 21
"""Largest table of rewards, in entries; larger groups have a discriminator network."""


@dataclass(frozen=True)
class Group:
    """The variables that one copy of the base reward depends on.

    Attributes:
        variables: Indices of the variables.
        start_variables: Indices of those whose first value it depends on as well.
        n_components: Number of components that skills have on the group.
        sign: 1 if the copy is added to the reward, -1 if it is subtracted.
        all_sizes: Numbers of values of all variables of the world.
    """

    variables: tuple[int, ...]
    start_variables: tuple[int, ...]
    n_components: int
    sign: int
    all_sizes: Sequence[int]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of values of the variables."""
        return tuple(self.all_sizes[j] for j in self.variables)

    @property
    def n_values(self) -> int:
        """Number of value combinations."""
        return math.prod(self.sizes)

    @property
    def n_starts(self) -> int:
        """Number of combinations of first values."""
        return math.prod(self.all_sizes[j] for j in self.start_variables)

    @property
    def is_table(self) -> bool:
        """Whether a table of rewards is small enough."""
        return self.n_components * self.n_values * self.n_starts <= MAX_TABLE

    def number(self, values: Any) -> Any:
        """Return the index of each state's value combination."""
        return self._number(values, self.variables)

    def start_number(self, starts: Any) -> Any:
        """Return the index of each first state's value combination."""
        return self._number(starts, self.start_variables)

    def _number(self, values: Any, variables: Sequence[int]) -> Any:
        code = values[:, 0] * 0
        for j in variables:
            code = code * self.all_sizes[j] + values[:, j]
        return code


# -------------------- A set of skills as a cost-to-go network with a termination rule
#
# The reward of stopping in a state is known without learning. So a skill is learned as a
# cost-to-go, the loss relative to the largest reward:
#
#     L(s; s_0, z)     loss of stopping in s: the largest reward minus the reward of s
#     C(s, a; s_0, z)  least expected loss after taking action a in s
#
# The skill stops where L <= min_a C, and otherwise takes the action with the lowest C. In
# deterministic worlds, a greedy skill can loop between actions of nearly equal cost; with a
# positive temperature it samples instead:
#
#     pi(a | s; s_0, z)  is proportional to  exp(-C(s, a) / temperature)
#
# C is a network with one output per skill and action. Skills whose targets have few values have
# separate outputs ("cases") for each pair of first and current values, so that the network does not
# have to learn this dependence.
#
# All functions take NumPy or JAX arrays of value indices, [n, n_variables].

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
        kinds: The skills, or the modes of all skills.

    Attributes:
        n_skills: Number of skills, or of modes of all skills.
        reversible: Which variables can return to a value they have left, bool [n_variables].
        groups: The groups of variables that copies of the base reward depend on.
        shares: Per group, how much each component adds to each skill's reward,
            float32 [n_components, n_skills].
        tables: Numbers of groups with tables of the same shape, which are indexed together.
        cases: Sizes of each skill's targets if it has an output per pair of their values, else ().
        n_cases: Number of outputs per skill and action.
        start_inputs: Variables whose first value is an input: the reversible ones, if skills have
            targets, and those whose first value a reward depends on; but not one-way targets whose
            skills have cases.
        n_inputs: Number of inputs of the network.
        n_outputs: Number of outputs of the network.

    The weights that methods take are a dictionary: `q_params`, the network's parameters;
    `reward_scale`, the scale of each skill's outputs, [n_skills]; `strength` of the penalty;
    `temperature`, 0 for greedy skills; `groups`, for each group one of `table` (rewards,
    [n_components, n_starts, n_values]), `network` (a discriminator's parameters, with `log_nu`,
    [n_components]) and `linear` (the direction of each component's reward, [n_dimensions,
    n_components]).
    """

    def __init__(
        self,
        space: Space,
        one_way: Sequence[str],
        n_actions: int,
        objective: Objective,
        kinds: SkillKinds,
    ) -> None:
        self.space, self.n_actions, self.objective = space, n_actions, objective
        self.kinds, self.n_skills = kinds, len(kinds)
        self.reversible = np.array([name not in one_way for name in space.names])
        self._set_groups()
        targets = [kinds.targets(z) for z in range(self.n_skills)]
        sizes = [tuple(space.sizes[j] for j in each) for each in targets]
        self.cases = tuple(s if s and math.prod(s) ** 2 <= MAX_CASES else () for s in sizes)
        self.n_cases = max(math.prod(each) ** 2 for each in self.cases)
        seen: set[int] = set()
        if objective.targeted:
            seen.update(np.flatnonzero(self.reversible).tolist())
        if objective.reward.timing != "transition":
            seen.update(*(group.start_variables for group in self.groups))
        for each, cases in zip(targets, self.cases, strict=True):
            if cases:
                seen -= {j for j in each if not self.reversible[j]}
        self.start_inputs = tuple(sorted(seen))
        width = self.encoded_width(range(len(space)), self.start_inputs)
        self.n_inputs = width + 2 * len(self.start_inputs)
        self.n_outputs = self.n_skills * self.n_cases * n_actions

    def _set_groups(self) -> None:
        self.groups: list[Group] = []
        known: dict[tuple[tuple[int, ...], int | None, int], int] = {}
        parts: list[tuple[int, int, int, float]] = []
        for z, skill in enumerate(self.kinds.skills):
            for term in self.objective.terms(tuple(skill), len(self.space)):
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
                start_sizes = tuple(group.all_sizes[j] for j in group.start_variables)
                shape = (group.n_components, group.sizes, start_sizes, group.sign)
                shapes.setdefault(shape, []).append(number)
        self.tables = [tuple(numbers) for numbers in shapes.values()]

    def _group(self, term: Term) -> Group:
        starts = ()
        if self.objective.reward.uses_start:
            starts = tuple(j for j in term.variables if term.target == j or self.reversible[j])
        n = self.n_skills if term.target is None else self.kinds.n_components(term.target)
        sign = 1 if term.weight > 0 else -1
        return Group(term.variables, starts, n, sign, self.space.sizes)

    def component(self, group: int, skills: Any) -> tuple[Any, Any]:
        """Return each skill's component on a group, and whether it has one."""
        xp, shares = array_namespace(skills), self.shares[group]
        components, among = shares.argmax(axis=0), shares.any(axis=0)
        return xp.asarray(components)[skills], xp.asarray(among)[skills]

    # ------------------------------------------------------------------ inputs and outputs

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
        variables = [self.space.variables[j] for j in seen]
        far = xp.stack(
            [
                xp.asarray(v.distances / v.largest_distance, xp.float32)[starts[:, j], states[:, j]]
                for j, v in zip(seen, variables, strict=True)
            ],
            axis=1,
        )
        return xp.concatenate([known, differs, far], axis=1)

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
        sizes = [self.space.sizes[j] for j in (*variables, *start_variables)]
        return sum(1 if size <= 2 else size for size in sizes)

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
            for j, size in zip(reversed(self.kinds.targets(z)), reversed(sizes), strict=False):
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
        out = apply_network(weights["q_params"], self.inputs(starts, states))
        out = out.reshape(len(states), self.n_skills, self.n_cases, self.n_actions)
        unit = weights["reward_scale"][:, None]
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
        targets = [self.kinds.targets(z) for z in range(self.n_skills)]
        distinct = list(dict.fromkeys(targets))
        watched = np.stack([penalty.watched(each, len(self.space)) for each in distinct]) & among

        def measure(row: Any) -> Any:
            return penalty.measure(self.space, starts, states, row)

        measured = (
            np.stack([measure(row) for row in watched]) if xp is np else jax.vmap(measure)(watched)
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
        x = self.encode(starts, states, group.variables, group.start_variables)
        return log_softmax(apply_network(network, x), LOWEST)

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
        temperature = xp.maximum(weights["temperature"], LOWEST) * weights["reward_scale"][:, None]
        cumulative = xp.cumsum(xp.exp((least[:, :, None] - costs) / temperature), axis=2)
        below = cumulative <= draws[:, None, None] * cumulative[:, :, -1:]
        return xp.where(stop, self.n_actions, below[:, :, :-1].sum(axis=2))


# -------------------- The policies of a set of skills as one cost-to-go network

SMALL_BATCH = 64
"""Batches up to this size are evaluated in NumPy, which needs no compilation."""
BATCH = 2048
"""States per JAX call; a fixed number, so that JAX compiles once."""
MAX_NUMBERS = 1 << 26
"""Largest number of activations of a layer per call."""
BLOCK = 65_536
"""Pairs of first and current state that are tabulated at once."""


class NeuralPolicy(Policy):
    """Policies as a cost-to-go network; see `SkillModel`.

    With a positive temperature, rollouts sample actions; tables, and calls without `draws`, are
    greedy. Large batches are evaluated by JAX if it is installed, otherwise by NumPy; the two may
    break near ties differently.

    Args:
        model: The skill model.
        weights: Its weights, see `SkillModel`.
        modes: Number of modes of each skill.
        mdp: The tabular MDP of the world, if it has one.
    """

    def __init__(
        self, model: SkillModel, weights: Any, modes: tuple[int, ...], mdp: TabularMDP | None = None
    ) -> None:
        self.model, self.weights, self.mdp = model, weights, mdp
        self.n_modes = np.array(modes, dtype=np.int64)
        self._first = np.cumsum((0, *modes[:-1]))
        contexts = []
        for z in self._first.tolist():
            cases = model.kinds.targets(z) if model.cases[z] else ()
            contexts.append(dict.fromkeys([*model.start_inputs, *cases]))
        names = model.space.names
        self.context_variables = tuple(tuple(names[j] for j in seen) for seen in contexts)

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Evaluate the network; see `Policy.actions`."""
        z = int(self._first[skill]) + mode
        return self.all_actions(starts, states)[:, z]

    @property
    def n_draws(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One number per action if actions are sampled, else none."""
        return int(self.weights["temperature"] > 0)

    def act(
        self,
        skills: np.ndarray,
        modes: np.ndarray,
        starts: np.ndarray,
        values: np.ndarray,
        *,
        observations: np.ndarray | None = None,
        steps: np.ndarray | None = None,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Evaluate the network once for all skills; see `Policy.act`."""
        del observations, steps
        sampled = None if draws is None or not self.n_draws else draws[:, 0]
        chosen = self.all_actions(starts, values, sampled)
        return chosen[np.arange(len(chosen)), self._first[skills] + modes]

    def trace(self) -> Traced:
        """Return the policy as a function in JAX; see `Policy.trace`."""
        first, n_draws, choose = jnp.asarray(self._first), self.n_draws, self.model.choose

        def act(
            weights: Any, skill: Any, mode: Any, start: Any, values: Any, observation: Any,
            step: Any, key: Any,
        ) -> Any:  # fmt: skip
            del observation, step
            draws = jax.random.uniform(key, (1,)) if n_draws else None
            return choose(weights, start[None], values[None], draws)[0, first[skill] + mode]

        return Traced(jax.tree.map(jnp.asarray, self.weights), act)

    def all_actions(
        self, starts: np.ndarray, states: np.ndarray, draws: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the action of every skill and mode, int [n, total number of modes]."""
        starts, states = np.asarray(starts, np.int32), np.asarray(states, np.int32)
        compiled = None if len(states) <= SMALL_BATCH else self._compiled
        widest = max(array.shape[-1] for array in self.weights["q_params"].values())
        parts, size = [], max(1, min(BATCH, MAX_NUMBERS // widest))
        for i in range(0, len(states), size):
            first, now = starts[i : i + size], states[i : i + size]
            some = None if draws is None else np.asarray(draws[i : i + size], np.float32)
            if compiled is None:
                with np.errstate(all="ignore"):  # a file's weights may be as large as floats get
                    parts.append(self.model.choose(self.weights, first, now, some))
            else:
                missing = ((0, size - len(now)), (0, 0))
                some = None if some is None else np.pad(some, missing[0])
                chosen = compiled(np.pad(first, missing), np.pad(now, missing), some)
                parts.append(np.asarray(chosen)[: len(now)])
        return np.concatenate(parts) if parts else np.empty((0, self.model.n_skills), np.int32)

    @cached_property
    def _compiled(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray | None], Any] | None:
        """`model.choose` with these weights, compiled; None without JAX."""
        try:
            weights, choose = jax.device_put(self.weights), jax.jit(self.model.choose)
        except ImportError:
            return None
        return lambda starts, states, draws: choose(weights, jax.device_put(starts), states, draws)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return the greedy policy as a table; skills with equal contexts share evaluations."""
        tables: dict[int, np.ndarray] = {}
        for names in dict.fromkeys(self.context_variables):
            skills = [z for z, seen in enumerate(self.context_variables) if seen == names]
            columns = [self._first[z] + mode for z in skills for mode in range(self.n_modes[z])]
            firsts = mdp.values[index_values(mdp, sorted(mdp.space.indices(names))).example]
            chosen = np.empty((len(firsts), mdp.n_states, len(columns)), np.uint8)
            width = max(1, BLOCK // mdp.n_states)
            for i in range(0, len(firsts), width):
                some = firsts[i : i + width]
                starts = np.repeat(some, mdp.n_states, axis=0)
                actions = self.all_actions(starts, np.tile(mdp.values, (len(some), 1)))[:, columns]
                chosen[i : i + width] = actions.reshape(len(some), mdp.n_states, -1)
            ends = np.cumsum(self.n_modes[skills])
            for z, part in zip(skills, np.split(chosen, ends[:-1], axis=2), strict=True):
                tables[z] = part.transpose(1, 0, 2).ravel()
        flat = np.concatenate([tables[z] for z in range(len(self.context_variables))])
        return TabularPolicy(mdp, self.context_variables, flat, self.n_modes)
