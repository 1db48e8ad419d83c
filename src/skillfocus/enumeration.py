"""Breadth-first enumeration of the states that a model can reach.

`tabulate` enumerates the states of a world, and explored worlds (`worlds/explored.py`) enumerate
those of a foreign model. Both use `enumerate_states`, which knows nothing about either: a state is
any hashable *key*, and `expand(key)` says what can follow it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from skillfocus.errors import UserError
from skillfocus.progress import Progress, no_progress

Key = TypeVar("Key", bound=Hashable)
Successor = tuple[float, Key, int, Key | None]
"""One outcome of an action, as `expand` returns it: probability, next state, hidden mark (-1: none)
and next state if that mark is already set (`None`: the same). An `Outcome` is one."""


class Transition(NamedTuple):
    """One outcome of an action, with states given by their numbers."""

    probability: float
    successor: int
    mark: int
    """The hidden mark this outcome sets, or -1."""
    again: int
    """The next state if the mark is already set; equals `successor` if there is no mark."""


class Transitions:
    """Every transition of a world, as arrays; `transitions[state][action]` lists the outcomes.

    Args:
        n_actions: Number of actions.
        begins: int64 [n_states * n_actions + 1], where the outcomes of each action begin.
        probabilities: float64 [n_outcomes].
        successors: int32 [n_outcomes].
        marks: int32 [n_outcomes], the hidden mark that an outcome sets, or -1 (default: none).
        again: int32 [n_outcomes], the next state if the mark is already set.

    Raises:
        UserError: If the arrays do not fit together.
    """

    def __init__(
        self,
        n_actions: int,
        begins: np.ndarray,
        probabilities: np.ndarray,
        successors: np.ndarray,
        marks: np.ndarray | None = None,
        again: np.ndarray | None = None,
    ) -> None:
        self.n_actions, self.begins = n_actions, begins
        self.probabilities, self.successors = probabilities, successors
        self.marks = np.full(len(successors), -1, np.int32) if marks is None else marks
        self.again = successors if again is None else again
        n, rest = divmod(len(begins) - 1, n_actions)
        if rest or not n or (np.diff(begins) < 0).any() or begins[-1] != len(successors):
            raise UserError("the outcomes of actions do not lie one after another")
        if len(probabilities) != len(successors):
            raise UserError("there must be as many probabilities as successors")
        if len(successors) and not 0 <= successors.min() <= successors.max() < n:
            raise UserError(f"successors must be numbers of states, 0 to {n - 1}")

    def __len__(self) -> int:
        return (len(self.begins) - 1) // self.n_actions

    def __getitem__(self, state: int) -> list[list[Transition]]:
        first = range(len(self))[state] * self.n_actions
        begins = self.begins[first : first + self.n_actions + 1].tolist()
        columns = (self.probabilities, self.successors, self.marks, self.again)
        listed = [
            Transition(*each)
            for each in zip(
                *(column[begins[0] : begins[-1]].tolist() for column in columns), strict=True
            )
        ]
        return [listed[a - begins[0] : b - begins[0]] for a, b in pairwise(begins)]

    def wrong_sums(self, tolerance: float) -> np.ndarray:
        """Return the actions, numbered through all states, whose probabilities are negative or do
        not sum to 1."""
        counts = np.diff(self.begins)
        action = np.repeat(np.arange(len(counts)), counts)
        sums = np.bincount(action, self.probabilities, len(counts))
        negative = np.bincount(action, self.probabilities < 0, len(counts)) > 0
        return np.flatnonzero(~(np.abs(sums - 1) <= tolerance) | negative)

    def padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return successors, probabilities, marks and `again` as `TabularMDP` has them,
        [n_states, n_actions, n_outcomes]."""
        counts = np.diff(self.begins)
        n, width = len(self), int(counts.max())
        slot = np.arange(len(self.successors)) - np.repeat(self.begins[:-1], counts)
        place = np.repeat(np.arange(len(counts)), counts) * width + slot
        here = np.repeat(np.arange(n, dtype=np.int32), self.n_actions * width)

        def spread(column: np.ndarray, padding: np.ndarray) -> np.ndarray:
            padding[place] = column
            return padding.reshape(n, self.n_actions, width)

        return (
            spread(self.successors, here.copy()),
            spread(self.probabilities, np.zeros(len(here))),
            spread(self.marks, np.full(len(here), -1, np.int32)),
            spread(self.again, here),
        )


@dataclass(frozen=True, eq=False)
class StateGraph(Generic[Key]):
    """Every reachable state and every transition between them."""

    states: Sequence[Key]
    """The states in the order they were reached; a state's number is its place here."""
    transitions: Transitions
    """The outcomes of every action in every state."""
    n_starts: int
    """How many of the states, the first ones, are starts."""


def enumerate_states(
    name: str,
    starts: Iterable[Key],
    expand: Callable[[Key], Iterable[Iterable[Successor[Key]]]],
    *,
    limit: int,
    limit_advice: str,
    progress: Progress = no_progress,
) -> StateGraph[Key]:
    """Enumerate every state that can be reached from `starts`, breadth first.

    The order is deterministic: starts as given, then successors in the order of states, actions and
    outcomes. Fingerprints of worlds depend on it.

    Args:
        name: The world's name, for errors and progress.
        starts: The first states; duplicates count once.
        expand: Returns the outcomes of every action, called once per state.
        limit: The most states to accept.
        limit_advice: What a user can do about too many states, for the error.
        progress: Called once per state. The fraction is that of expanded states among those reached
            so far, so it can fall.

    Raises:
        UserError: If there are no starts, or more than `limit` states.
    """
    numbers: dict[Key, int] = {}
    states: list[Key] = []

    def number(key: Key) -> int:
        try:
            known = key in numbers
        except TypeError:
            raise UserError(f"{name}: {key!r} cannot be a state: it cannot be hashed") from None
        if not known:
            if len(states) >= limit:
                raise UserError(f"{name} has more than {limit:,} states: {limit_advice}")
            numbers[key] = len(states)
            states.append(key)
        return numbers[key]

    for key in starts:
        number(key)
    n_starts = len(states)
    if not states:
        raise UserError(f"{name} names no state to start from")
    done, outcomes, begins = 0, array("d"), array("q", [0])
    numbered = array("i")  # successor, mark and successor if it is set, of each outcome
    while done < len(states):
        if progress is not no_progress:  # formatting the text is not free
            activity = f"exploring {name}: {len(states):,} states found, {done:,} of them done"
            progress(done / len(states), activity)
        for action in expand(states[done]):
            for p, key, mark, again in action:
                successor = number(key)
                outcomes.append(p)
                numbered.extend((successor, mark, successor if again is None else number(again)))
            begins.append(len(outcomes))
        done += 1
    successors, marks, repeated = np.array(numbered, np.int32).reshape(-1, 3).T.copy()
    transitions = Transitions(
        (len(begins) - 1) // done, np.array(begins), np.array(outcomes), successors, marks, repeated
    )
    return StateGraph(states, transitions, n_starts)
