"""The transitions of a world as arrays, in place of lists of `Transition`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np

from skillfocus.core.enumeration import Transition
from skillfocus.errors import UserError


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
