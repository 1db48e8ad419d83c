"""Foreign models: what an adapter provides, and their exploration.

An adapter describes an environment by its starts and a `Model`: a function that returns what can
follow a state and an action. A `Simulator` is the environment itself, to be stepped.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from skillfocus.core.enumeration import StateGraph, Successor, enumerate_states
from skillfocus.progress import Progress, no_progress

Values = tuple[Hashable, ...]
"""A state of a model: the value of each of its variables."""
exploration_progress: ContextVar[Progress] = ContextVar("exploration_progress", default=no_progress)
"""Progress callback of exploration, called once per state with the number of states found and done.

A context variable rather than an argument: the arguments of `make` and of the adapters are settings
of the world, which skills files store.
"""


class ModelOutcome(NamedTuple):
    """One possible outcome of an action in a foreign model."""

    probability: float
    values: Values
    """The values of the model's variables afterwards."""
    ended: bool = False
    """Whether the episode ends here."""


Model = Callable[[Values, int], Iterable[ModelOutcome]]
"""`model(values, action)`: the possible outcomes of an action, given by its index."""
Key = tuple[Values, bool]
"""A state of the model: its values, and whether the episode has ended."""


class Simulator(Protocol):
    """The environment that a world was explored in, to be stepped one action at a time."""

    def reset(self, values: Values, seed: int | None = None) -> None:
        """Go to a state; a seed resets the random number generator."""

    def state(self) -> Values:
        """Return the current values of the variables."""
        ...

    def step(self, action: int) -> ModelOutcome:
        """Take an action and return what happened, with probability 1."""
        ...


def explore(
    world_id: str, n_actions: int, starts: Iterable[Values], model: Model, limit: int
) -> StateGraph[Key]:
    """Enumerate the states of a model, and report to `exploration_progress`.

    Outcomes of probability 0 are dropped, equal ones merged, and no action leaves a final state.

    Args:
        world_id: The world's id, for errors and progress.
        n_actions: How many actions there are.
        starts: The first states.
        model: What can follow a state and an action.
        limit: The most states to accept.

    Raises:
        UserError: If there are no starts, or too many states.
    """

    def expand(key: Key) -> Iterator[list[Successor[Key]]]:
        values, ended = key
        for action in range(n_actions):
            merged: dict[Key, float] = {key: 1.0} if ended else {}
            for probability, after, over in () if ended else model(values, action):
                if probability > 0:
                    successor = (after, bool(over))
                    merged[successor] = merged.get(successor, 0.0) + probability
            yield [(p, successor, -1, None) for successor, p in merged.items()]

    return enumerate_states(
        world_id,
        ((values, False) for values in starts),
        expand,
        limit=limit,
        limit_advice="use a smaller one, leave out variables, or raise the limit with limit=…",
        progress=exploration_progress.get(),
    )
