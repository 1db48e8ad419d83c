"""Breadth-first enumeration of the states that a model can reach.

`tabulate` enumerates the states of a world, and explored worlds (`worlds/explored.py`) enumerate
those of a foreign model. Both use `enumerate_states`, which knows nothing about either: a state is
any hashable *key*, and `expand(key)` says what can follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar, overload

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


@dataclass(frozen=True, eq=False)
class StateGraph(Generic[Key]):
    """Every reachable state and every transition between them."""

    states: Sequence[Key]
    """The states in the order they were reached; a state's number is its place here."""
    transitions: Sequence[Sequence[Sequence[Transition]]]
    """`transitions[state][action]`: the outcomes of an action."""
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
    transitions: list[list[list[Transition]]] = []
    while (done := len(transitions)) < len(states):
        if progress is not no_progress:  # formatting the text is not free
            activity = f"exploring {name}: {len(states):,} states found, {done:,} of them done"
            progress(done / len(states), activity)
        transitions.append(
            [
                [
                    Transition(p, number(key), mark, number(key if again is None else again))
                    for p, key, mark, again in outcomes
                ]
                for outcomes in expand(states[done])
            ]
        )
    return StateGraph(states, transitions, n_starts)


# -------------------- The transitions of a world as arrays, in place of lists of `Transition`


@dataclass(frozen=True, eq=False)
class PackedTransitions(Sequence[Sequence[Sequence[Transition]]]):
    """Transitions without hidden marks; indexed, they are lists as `StateGraph` has them.

    Attributes:
        n_actions: Number of actions.
        begins: int64 [n_states * n_actions + 1], where the outcomes of each action begin.
        probabilities: float64 [n_outcomes].
        successors: int32 [n_outcomes].
    """

    n_actions: int
    begins: np.ndarray
    probabilities: np.ndarray
    successors: np.ndarray

    def __post_init__(self) -> None:
        counts = np.diff(self.begins)
        n, rest = divmod(len(counts), self.n_actions)
        ends = self.begins[[0, -1]].tolist()
        if rest or not n or counts.min() < 1 or ends != [0, len(self.successors)]:
            raise UserError("the outcomes of actions do not lie one after another")
        if len(self.probabilities) != len(self.successors):
            raise UserError("there must be as many probabilities as successors")
        sums = np.add.reduceat(self.probabilities, self.begins[:-1])
        if not (np.abs(sums - 1) <= 1e-9).all() or self.probabilities.min() < 0:
            raise UserError("the probabilities of an action must be 0 or more and sum to 1")
        if self.successors.min() < 0 or self.successors.max() >= n:
            raise UserError(f"successors must be numbers of states, 0 to {n - 1}")

    def __len__(self) -> int:
        return (len(self.begins) - 1) // self.n_actions

    @overload
    def __getitem__(self, index: int) -> list[list[Transition]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[list[Transition]]]: ...
    def __getitem__(self, index: int | slice) -> list:
        if isinstance(index, slice):
            return [self[s] for s in range(len(self))[index]]
        s = range(len(self))[index]
        begins = self.begins[s * self.n_actions : (s + 1) * self.n_actions + 1].tolist()
        outcomes = slice(begins[0], begins[-1])
        listed = [
            Transition(p, after, -1, after)
            for p, after in zip(
                self.probabilities[outcomes].tolist(), self.successors[outcomes].tolist(),
                strict=True,
            )
        ]  # fmt: skip
        return [listed[first - begins[0] : last - begins[0]] for first, last in pairwise(begins)]

    def padded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return successors, int32, and probabilities, [n_states, n_actions, n_outcomes], padded as
        `TabularMDP` has them."""
        counts = np.diff(self.begins)
        n, width = len(self), int(counts.max())
        successors = np.repeat(np.arange(n, dtype=np.int32), self.n_actions * width)
        probabilities = np.zeros(len(successors))
        slot = np.arange(len(self.successors)) - np.repeat(self.begins[:-1], counts)
        place = np.repeat(np.arange(len(counts)), counts) * width + slot
        successors[place], probabilities[place] = self.successors, self.probabilities
        shape = (n, self.n_actions, width)
        return successors.reshape(shape), probabilities.reshape(shape)


def pack_transitions(
    transitions: Sequence[Sequence[Sequence[Transition]]], n_actions: int
) -> PackedTransitions:
    """Return transitions without hidden marks as arrays."""
    outcomes = [each for by_action in transitions for each in by_action]
    counts = np.fromiter(map(len, outcomes), np.int64, len(outcomes))
    total = int(counts.sum())
    flat = [transition for each in outcomes for transition in each]
    return PackedTransitions(
        n_actions,
        np.concatenate([[0], np.cumsum(counts)]),
        np.fromiter((t.probability for t in flat), np.float64, total),
        np.fromiter((t.successor for t in flat), np.int32, total),
    )
