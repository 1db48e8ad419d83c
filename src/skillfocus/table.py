"""`tabulate(world)`: the integer arrays every kernel runs on.

States are numbered; `values[s]` are the indices of a state's values. For state s and action a,
outcome m leads to `successors[s, a, m]` with `probabilities[s, a, m]` (rows are padded with
probability 0). `marks` and `again` carry what the variables hide (see `Outcome`): with mark
k >= 0, a world whose bit k is set goes to `again[s, a, m]` instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from skillfocus.errors import UserError
from skillfocus.factored import FactoredSpace, State
from skillfocus.worlds.world import World

STATE_LIMIT = 200_000


@dataclass(frozen=True, eq=False)
class Table:
    space: FactoredSpace
    values: np.ndarray
    successors: np.ndarray
    probabilities: np.ndarray
    marks: np.ndarray
    again: np.ndarray
    marks_in: np.ndarray
    n_marks: int

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
    def can_change(self) -> np.ndarray:
        """[state, variable]: whether the variable's value is one that can still change."""
        columns = []
        for j, change in enumerate(self._value_changes):
            leaves = np.asarray(change.any(axis=1))
            columns.append(leaves[self.values[:, j]])
        return np.stack(columns, axis=1)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the dynamics and the variables: equal for equal worlds."""
        digest = hashlib.sha256()
        for variable in self.space.variables:
            digest.update(f"{variable.name}|{variable.values}|{variable.largest_distance}".encode())
        for array in (self.values, self.successors, self.probabilities, self.marks, self.again):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def tabulate(world: World, limit: int = STATE_LIMIT) -> Table:
    """Enumerate every state that can be reached from `world.states()`."""
    numbers: dict[State, int] = {}
    order: list[State] = []

    def number(state: State) -> int:
        if state not in numbers:
            if len(order) >= limit:
                raise UserError(
                    f"{world.id} has more than {limit:,} states: use fewer variables or values, "
                    f"or raise the limit with tabulate(world, limit=…)"
                )
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    for state in world.states():
        number(tuple(state))
    outcomes: list[list[list[tuple[float, int, int, int]]]] = []
    done = 0
    while done < len(order):
        state = order[done]
        done += 1
        per_action = []
        for action in range(len(world.actions)):
            rows = []
            total = 0.0
            for outcome in world.transition(state, action):
                target = number(outcome.state)
                again = target if outcome.again is None else number(outcome.again)
                rows.append((outcome.probability, target, outcome.mark, again))
                total += outcome.probability
            if abs(total - 1) > 1e-9 or min(row[0] for row in rows) < 0:
                raise UserError(
                    f"{world.id}: the outcomes of {world.actions[action]!r} in state "
                    f"{world.space.labels(state)} have probabilities that sum to {total:g}, not 1"
                )
            per_action.append(rows)
        outcomes.append(per_action)
    return _arrays(world, order, outcomes)


def _arrays(
    world: World, order: list[State], outcomes: list[list[list[tuple[float, int, int, int]]]]
) -> Table:
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
    return Table(
        space=world.space,
        values=np.array(order, dtype=np.int32).reshape(len(order), len(world.space)),
        successors=successors,
        probabilities=probabilities,
        marks=marks,
        again=again,
        marks_in=np.array([world.marks_in(state) for state in order], dtype=np.int32),
        n_marks=world.n_marks,
    )
