"""Breadth-first enumeration of the states that a model can reach.

`tabulate` enumerates the states of a world, and explored worlds (`worlds/explored.py`) enumerate
those of a foreign model. Both use `enumerate_states`, which knows nothing about either: a state is
any hashable *key*, and `expand(key)` says what can follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

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
