"""Finite worlds as arrays: `tabulate(world)` returns the `TabularMDP` that every kernel runs on.

States are numbered in the order in which a breadth-first search reaches them. Axes are always
`[n_states, n_actions, n_outcomes]`, where `n_outcomes` is the largest number of outcomes of any
action; shorter rows are padded with outcomes of probability 0 that lead back to the state itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skillfocus._internal.deprecated import renamed_attribute
from skillfocus.core.enumeration import StateGraph, Successor, Transition, enumerate_states
from skillfocus.core.factored import FactoredSpace, State
from skillfocus.core.world import MAX_ACTIONS, Outcome, World
from skillfocus.errors import UserError

_LIMIT_ADVICE = (
    "use fewer variables or values, or raise the world's limit, or tabulate(world, limit=…)"
)


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """The dynamics of a world as integer arrays. There is no reward: objectives and tasks give it.

    `tabulate` makes one. A state is a number here; `number` and `state` convert from and to the
    tuples of value indices that worlds use::

        mdp = sf.tabulate(world)
        mdp.successors[mdp.number((0, 1)), action]  # where the action may lead
    """

    space: FactoredSpace
    """The variables."""
    values: np.ndarray
    """int32 [n_states, n_variables]: index of each variable's value in each state."""
    successors: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the next state."""
    probabilities: np.ndarray
    """float64 [n_states, n_actions, n_outcomes]: sums to 1 over outcomes; 0 marks padding."""
    marks: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the hidden mark that an outcome sets, or -1."""
    again: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the next state if that mark is already set; equals
    `successors` where there is no mark (see `Outcome`)."""
    marks_in: np.ndarray
    """int32 [n_states]: how many hidden marks are set in a state; which ones is unknown."""
    n_marks: int
    """How many hidden marks there are."""
    actions: tuple[str, ...]
    """Names of the actions."""

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.successors.shape[0]

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.successors.shape[1]

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Cumulative probabilities to sample outcomes from.

        float64 [n_states, n_actions, n_outcomes]; exactly 1 from the last possible outcome on, so
        that a uniform number below 1 always finds one in spite of rounding.
        """
        sums = np.cumsum(self.probabilities, axis=2)
        return np.where(sums > 1 - 1e-9, 1.0, sums)

    @cached_property
    def _numbers(self) -> dict[State, int]:
        return {tuple(row): s for s, row in enumerate(self.values.tolist())}

    def number(self, state: Sequence[int]) -> int:
        """Return the number of a state given as value indices.

        Raises:
            UserError: If there is no such state.
        """
        try:
            return self._numbers[tuple(int(i) for i in state)]
        except KeyError:
            raise UserError(f"no state has the value indices {tuple(state)}") from None

    def state(self, number: int) -> State:
        """Return the value indices of a state given by its number."""
        return tuple(self.values[number].tolist())

    @cached_property
    def _value_changes(self) -> list[np.ndarray]:
        """Per variable, bool [n_values, n_values]: whether one step can turn a value (row) into
        another (column)."""
        source, action, slot = np.nonzero(self.probabilities > 0)
        target = self.successors[source, action, slot]
        marked = self.marks[source, action, slot] >= 0
        repeated = self.again[source, action, slot][marked]
        source, target = np.append(source, source[marked]), np.append(target, repeated)
        changes = []
        for j, size in enumerate(self.space.sizes):
            change = np.zeros((size, size), dtype=bool)
            change[self.values[source, j], self.values[target, j]] = True
            np.fill_diagonal(change, False)
            changes.append(change)
        return changes

    @cached_property
    def reversible(self) -> np.ndarray:
        """Which variables can return to a value they have left, bool [n_variables].

        The others only ever move on, so whatever a skill changes in them is changed for good.
        """
        answers = []
        for change in self._value_changes:
            n_components, _ = connected_components(coo_array(change), connection="strong")
            answers.append(n_components < len(change))
        return np.array(answers)

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """Names of the variables that no action changes."""
        changes = zip(self.space.names, self._value_changes, strict=True)
        return tuple(name for name, change in changes if not change.any())

    @cached_property
    def irrecoverable_values(self) -> dict[str, tuple[Hashable, ...]]:
        """Per variable, the values that can be left but never regained.

        An unlocked door that is never locked again has "locked" here. Variables without such values
        are absent.
        """
        irrecoverable = {}
        for variable, change in zip(self.space.variables, self._value_changes, strict=True):
            n_components, component = connected_components(coo_array(change), connection="strong")
            alone = np.bincount(component, minlength=n_components)[component] == 1
            indices = np.flatnonzero(alone & change.any(axis=1))
            if len(indices):
                irrecoverable[variable.name] = tuple(variable.values[i] for i in indices)
        return irrecoverable

    @cached_property
    def can_change(self) -> np.ndarray:
        """Whether a variable has a value that can still change, bool [n_states, n_variables]."""
        columns = []
        for j, change in enumerate(self._value_changes):
            leaves = np.asarray(change.any(axis=1))
            columns.append(leaves[self.values[:, j]])
        return np.stack(columns, axis=1)

    @cached_property
    def pristine(self) -> np.ndarray:
        """Whether a variable has a value that no change leads to, bool [n_states, n_variables].

        For a reversible variable, where every value may be reached, it is the first one.
        """
        columns = []
        for j, change in enumerate(self._value_changes):
            never_entered = np.asarray(~change.any(axis=0))
            if self.reversible[j]:
                never_entered = np.arange(len(change)) == 0
            columns.append(never_entered[self.values[:, j]])
        return np.stack(columns, axis=1)

    left_for_good = renamed_attribute("left_for_good", "irrecoverable_values")
    untouched = renamed_attribute("untouched", "pristine")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the variables and the dynamics: equal for equal worlds."""
        digest = hashlib.sha256()
        for variable in self.space.variables:
            digest.update(f"{variable.name}|{variable.values}|{variable.largest_distance}".encode())
        digest.update(f"{self.n_marks}|{self.actions}".encode())
        for array in (
            self.values, self.successors, self.probabilities, self.marks, self.again, self.marks_in,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def tabulate(world: World, limit: int | None = None) -> TabularMDP:
    """Enumerate the reachable states of a world and return its dynamics as arrays.

    Args:
        world: The world. One that was explored when it was made is not explored again.
        limit: The most states to accept (default: `world.limit`).

    Raises:
        UserError: If there are too many states or actions, or if the world breaks its contract:
            a state out of range, probabilities that do not sum to 1, a mark beyond `n_marks`.
    """
    limit = world.limit if limit is None else limit
    if not 1 <= len(world.actions) <= MAX_ACTIONS:
        raise UserError(
            f"{world.id} has {len(world.actions)} actions; it needs between 1 and {MAX_ACTIONS}"
        )
    graph = world.state_graph
    if graph is None:
        graph = enumerate_states(
            world.id,
            (tuple(state) for state in world.states()),
            lambda state: _expand(world, state),
            limit=limit,
            limit_advice=_LIMIT_ADVICE,
        )
    else:
        _check_graph(world, graph, limit)
    mdp = _to_arrays(world, graph)
    _check_marks(world, mdp)
    return mdp


def _expand(world: World, state: State) -> Iterator[Sequence[Successor[State]]]:
    """Yield the checked outcomes of each action in a state."""
    _check_state(world, state)
    for action in range(len(world.actions)):
        outcomes = world.transition(state, action)
        _check_outcomes(world, state, action, outcomes)
        # A world may return states as lists; the first outcome shows which it does.
        yield (
            outcomes
            if isinstance(outcomes[0].state, tuple)
            else [
                (o.probability, tuple(o.state), o.mark, None if o.again is None else tuple(o.again))
                for o in outcomes
            ]
        )


def _check_graph(world: World, graph: StateGraph[State], limit: int) -> None:
    """Check states that a world enumerated itself, as `_expand` checks the others."""
    if len(graph.states) > limit:
        raise UserError(f"{world.id} has more than {limit:,} states: {_LIMIT_ADVICE}")
    for state, by_action in zip(graph.states, graph.transitions, strict=True):
        for action, outcomes in enumerate(by_action):
            _check_outcomes(world, state, action, outcomes)


def _check_state(world: World, state: State) -> None:
    sizes = world.space.sizes
    if len(state) != len(sizes) or not all(0 <= i < n for i, n in zip(state, sizes, strict=True)):
        raise UserError(
            f"{world.id}: {state} is not a state; a state has {len(sizes)} value indices below "
            f"{sizes}"
        )


def _check_outcomes(
    world: World, state: State, action: int, outcomes: Iterable[Outcome | Transition]
) -> None:
    probabilities = [o.probability for o in outcomes]
    if not abs(sum(probabilities) - 1) <= 1e-9 or min(probabilities) < 0:
        raise UserError(
            f"{world.id}: the outcomes of {world.actions[action]!r} in state "
            f"{world.space.labels(state)} have probabilities {probabilities}, which must be 0 or "
            f"more and sum to 1"
        )
    highest_mark = max([o.mark for o in outcomes])
    if highest_mark >= world.n_marks:
        raise UserError(f"{world.id} sets mark {highest_mark} but has n_marks = {world.n_marks}")


def _check_marks(world: World, mdp: TabularMDP) -> None:
    """Check the counts of marks, and that a repeated marked outcome changes nothing for good."""
    if (mdp.marks_in > mdp.n_marks).any() or (mdp.marks_in < 0).any():
        raise UserError(f"{world.id}: marks_in must be between 0 and n_marks = {mdp.n_marks}")
    source, action, slot = np.nonzero(mdp.marks >= 0)
    before, after = mdp.values[source], mdp.values[mdp.again[source, action, slot]]
    irreversible = (before != after) & ~mdp.reversible
    if irreversible.any():
        name = mdp.space.names[int(irreversible.any(axis=0).argmax())]
        raise UserError(
            f"{world.id}: an outcome whose mark is already set changes {name} for good; only the "
            f"first occurrence may do that"
        )


def _to_arrays(world: World, graph: StateGraph[State]) -> TabularMDP:
    n_outcomes = max(len(outcomes) for by_action in graph.transitions for outcomes in by_action)
    shape = (len(graph.states), len(world.actions), n_outcomes)
    successors = np.broadcast_to(np.arange(shape[0], dtype=np.int32)[:, None, None], shape).copy()
    again = successors.copy()
    marks = np.full(shape, -1, dtype=np.int32)
    probabilities = np.zeros(shape)
    for s, by_action in enumerate(graph.transitions):
        for a, outcomes in enumerate(by_action):
            for m, transition in enumerate(outcomes):
                probabilities[s, a, m] = transition.probability
                successors[s, a, m] = transition.successor
                marks[s, a, m] = transition.mark
                again[s, a, m] = transition.again
    return TabularMDP(
        space=world.space,
        values=np.array(graph.states, dtype=np.int32).reshape(shape[0], len(world.space)),
        successors=successors,
        probabilities=probabilities,
        marks=marks,
        again=again,
        marks_in=np.array([world.marks_in(state) for state in graph.states], dtype=np.int32),
        n_marks=world.n_marks,
        actions=tuple(world.actions),
    )
