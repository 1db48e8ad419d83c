"""`tabulate(world)`: the integer arrays every kernel runs on.

States are numbered; `values[s]` are the indices of a state's values. For state s and action a,
outcome m leads to `successors[s, a, m]` with `probabilities[s, a, m]` (rows are padded with
probability 0). `marks` and `again` carry what the variables hide (see `Outcome`): with mark
k >= 0, a world whose bit k is set goes to `again[s, a, m]` instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skillfocus.core.factored import FactoredSpace, State
from skillfocus.core.world import MOST_ACTIONS, Outcome, World
from skillfocus.errors import UserError

Row = list[tuple[float, int, int, int]]
"""The outcomes of an action: probability, successor, mark, successor if the mark was set."""


@dataclass(frozen=True, eq=False)
class TabularMDP:
    space: FactoredSpace
    values: np.ndarray
    successors: np.ndarray
    probabilities: np.ndarray
    marks: np.ndarray
    again: np.ndarray
    marks_in: np.ndarray
    n_marks: int
    actions: tuple[str, ...]

    @property
    def n_states(self) -> int:
        return self.successors.shape[0]

    @property
    def n_actions(self) -> int:
        return self.successors.shape[1]

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Running sums of the probabilities, 1 from the last outcome on, to draw outcomes from."""
        sums = np.cumsum(self.probabilities, axis=2)
        return np.where(sums > 1 - 1e-9, 1.0, sums)

    @cached_property
    def _numbers(self) -> dict[State, int]:
        return {tuple(row): s for s, row in enumerate(self.values.tolist())}

    def number(self, state: Sequence[int]) -> int:
        """The number of a state given as value indices."""
        try:
            return self._numbers[tuple(int(i) for i in state)]
        except KeyError:
            raise UserError(f"no state has the value indices {tuple(state)}") from None

    def state(self, number: int) -> State:
        return tuple(self.values[number].tolist())

    @cached_property
    def _value_changes(self) -> list[np.ndarray]:
        """Per variable, which value can become which other one in a single step."""
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
        """Which variables can come back to a value they have left. The others only ever move
        on, so what a skill changed in them is changed for good."""
        answers = []
        for change in self._value_changes:
            n_parts, _ = connected_components(coo_array(change), connection="strong")
            answers.append(n_parts < len(change))
        return np.array(answers)

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """The variables that no action changes."""
        changes = zip(self.space.names, self._value_changes, strict=True)
        return tuple(name for name, change in changes if not change.any())

    @cached_property
    def left_for_good(self) -> dict[str, tuple[Hashable, ...]]:
        """Per variable, the values that can be left but never come back: an unlocked door is
        never locked again. Variables without such values are not in it."""
        lost = {}
        for variable, change in zip(self.space.variables, self._value_changes, strict=True):
            n_parts, part = connected_components(coo_array(change), connection="strong")
            alone = np.bincount(part, minlength=n_parts)[part] == 1
            places = np.flatnonzero(alone & change.any(axis=1))
            if len(places):
                lost[variable.name] = tuple(variable.values[i] for i in places)
        return lost

    @cached_property
    def can_change(self) -> np.ndarray:
        """[state, variable]: whether the variable's value is one that can still change."""
        columns = []
        for j, change in enumerate(self._value_changes):
            leaves = np.asarray(change.any(axis=1))
            columns.append(leaves[self.values[:, j]])
        return np.stack(columns, axis=1)

    @cached_property
    def untouched(self) -> np.ndarray:
        """[state, variable]: whether the value is one that no change leads to (of a variable that
        can come back: its first value)."""
        columns = []
        for j, change in enumerate(self._value_changes):
            fresh = np.asarray(~change.any(axis=0))
            if self.reversible[j]:
                fresh = np.arange(len(change)) == 0
            columns.append(fresh[self.values[:, j]])
        return np.stack(columns, axis=1)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the dynamics and the variables: equal for equal worlds."""
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
    """Enumerate every state that can be reached from `world.states()`, as many as the world's limit
    or the one given allows."""
    limit = world.limit if limit is None else limit
    numbers: dict[State, int] = {}
    order: list[State] = []
    if not 1 <= len(world.actions) <= MOST_ACTIONS:
        raise UserError(f"{world.id} has {len(world.actions)} actions; 1 to {MOST_ACTIONS} can be")

    def number(state: State) -> int:
        state = tuple(state)
        if state not in numbers:
            if len(order) >= limit:
                raise UserError(
                    f"{world.id} has more than {limit:,} states: use fewer variables or values, "
                    f"or raise the world's limit, or tabulate(world, limit=…)"
                )
            _check_state(world, state)
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    for state in world.states():
        number(state)
    if not order:
        raise UserError(f"{world.id} names no state to start from")
    outcomes: list[list[Row]] = []
    done = 0
    while done < len(order):
        state = order[done]
        done += 1
        outcomes.append([])
        for action in range(len(world.actions)):
            found = world.transition(state, action)
            _check_outcomes(world, state, action, found)
            outcomes[-1].append(
                [
                    (o.probability, number(o.state), o.mark, number(o.again or o.state))
                    for o in found
                ]
            )
    mdp = _arrays(world, order, outcomes)
    _check_marks(world, mdp)
    return mdp


def _check_state(world: World, state: State) -> None:
    sizes = world.space.sizes
    if len(state) != len(sizes) or not all(0 <= i < n for i, n in zip(state, sizes, strict=True)):
        raise UserError(
            f"{world.id}: {state} is no state: it takes {len(sizes)} value indices below {sizes}"
        )


def _check_outcomes(world: World, state: State, action: int, found: list[Outcome]) -> None:
    shares = [o.probability for o in found]
    if not abs(sum(shares) - 1) <= 1e-9 or min(shares) < 0:
        raise UserError(
            f"{world.id}: the outcomes of {world.actions[action]!r} in state "
            f"{world.space.labels(state)} have probabilities {shares}, which must be 0 or more "
            f"and sum to 1"
        )
    marks = [o.mark for o in found]
    if max(marks) >= world.n_marks:
        raise UserError(f"{world.id} sets mark {max(marks)} but has n_marks = {world.n_marks}")


def _check_marks(world: World, mdp: TabularMDP) -> None:
    if (mdp.marks_in > mdp.n_marks).any() or (mdp.marks_in < 0).any():
        raise UserError(f"{world.id}: marks_in must be between 0 and n_marks = {mdp.n_marks}")
    source, action, slot = np.nonzero(mdp.marks >= 0)
    before, after = mdp.values[source], mdp.values[mdp.again[source, action, slot]]
    lasting = (before != after) & ~mdp.reversible
    if lasting.any():
        name = mdp.space.names[int(lasting.any(axis=0).argmax())]
        raise UserError(
            f"{world.id}: an outcome whose mark is set already changes {name} for good; only the "
            f"first time may do that"
        )


def _arrays(world: World, order: list[State], outcomes: list[list[Row]]) -> TabularMDP:
    width = max(len(rows) for per_action in outcomes for rows in per_action)
    shape = (len(order), len(world.actions), width)
    successors = np.broadcast_to(np.arange(shape[0], dtype=np.int32)[:, None, None], shape).copy()
    again = successors.copy()
    marks = np.full(shape, -1, dtype=np.int32)
    probabilities = np.zeros(shape)
    for s, per_action in enumerate(outcomes):
        for a, rows in enumerate(per_action):
            for m, (p, target, mark, repeat) in enumerate(rows):
                probabilities[s, a, m] = p
                successors[s, a, m] = target
                marks[s, a, m] = mark
                again[s, a, m] = repeat
    return TabularMDP(
        space=world.space,
        values=np.array(order, dtype=np.int32).reshape(len(order), len(world.space)),
        successors=successors,
        probabilities=probabilities,
        marks=marks,
        again=again,
        marks_in=np.array([world.marks_in(state) for state in order], dtype=np.int32),
        n_marks=world.n_marks,
        actions=tuple(world.actions),
    )
