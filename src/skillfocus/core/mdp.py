"""Finite worlds as arrays: the `TabularMDP` that every kernel runs on (see `tabulation.py`).

States are numbered in the order in which a breadth-first search reaches them. Axes are always
`[n_states, n_actions, n_outcomes]`, where `n_outcomes` is the largest number of outcomes of any
action; shorter rows are padded with outcomes of probability 0 that lead back to the state itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skillfocus.core.factored import FactoredSpace, State
from skillfocus.errors import UserError


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

    def number(self, state: Sequence[int] | Mapping[str, Hashable]) -> int:
        """Return the number of a state given as value indices, or as {variable: value}.

        Raises:
            UserError: If there is no such state.
        """
        try:
            return self._numbers[tuple(state)]  # pyright: ignore[reportArgumentType]
        except (KeyError, TypeError):  # no such state, or given in another form
            pass
        values = self.space.as_state(state)
        if values not in self._numbers:
            raise UserError(
                f"no state has the value indices {values}: the world never is in "
                f"{self.space.labels(values)}"
            )
        return self._numbers[values]

    def state(self, number: int) -> State:
        """Return the value indices of a state given by its number."""
        if not 0 <= number < self.n_states:
            raise UserError(
                f"there is no state {number}: states are numbered 0 to {self.n_states - 1}"
            )
        return tuple(self.values[number].tolist())

    @cached_property
    def value_changes(self) -> list[np.ndarray]:
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
        for change in self.value_changes:
            n_components, _ = connected_components(coo_array(change), connection="strong")
            answers.append(n_components < len(change))
        return np.array(answers)

    @cached_property
    def one_way(self) -> tuple[str, ...]:
        """Names of the variables that never return to a value they have left."""
        names = zip(self.space.names, self.reversible, strict=True)
        return tuple(name for name, returns in names if not returns)

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """Names of the variables that no action changes."""
        changes = zip(self.space.names, self.value_changes, strict=True)
        return tuple(name for name, change in changes if not change.any())

    @cached_property
    def irrecoverable_values(self) -> dict[str, tuple[Hashable, ...]]:
        """Per variable, the values that can be left but never regained.

        An unlocked door that is never locked again has "locked" here. Variables without such values
        are absent.
        """
        irrecoverable = {}
        for variable, change in zip(self.space.variables, self.value_changes, strict=True):
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
        for j, change in enumerate(self.value_changes):
            leaves = np.asarray(change.any(axis=1))
            columns.append(leaves[self.values[:, j]])
        return np.stack(columns, axis=1)

    @cached_property
    def absorbing(self) -> np.ndarray:
        """Which states no action leaves, bool [n_states]: final ones, for example."""
        here = np.arange(self.n_states)[:, None, None]
        stays = (self.successors == here) & (self.again == here)
        return (stays | (self.probabilities == 0.0)).all(axis=(1, 2))

    @cached_property
    def pristine(self) -> np.ndarray:
        """Whether a variable has a value that no change leads to, bool [n_states, n_variables].

        For a reversible variable, where every value may be reached, it is the first one.
        """
        columns = []
        for j, change in enumerate(self.value_changes):
            never_entered = np.asarray(~change.any(axis=0))
            if self.reversible[j]:
                never_entered = np.arange(len(change)) == 0
            columns.append(never_entered[self.values[:, j]])
        return np.stack(columns, axis=1)

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
