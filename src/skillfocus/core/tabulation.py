"""`tabulate`: from a world to its `TabularMDP`, with every state and outcome checked."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral

import numpy as np

from skillfocus.core.enumeration import StateGraph, Successor, Transition, enumerate_states
from skillfocus.core.factored import State
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.packed_transitions import PackedTransitions
from skillfocus.core.world import MAX_ACTIONS, Outcome, World, check_declared
from skillfocus.errors import UserError

_LIMIT_ADVICE = (
    "use fewer variables or values, or raise the world's limit, or tabulate(world, limit=…)"
)


def tabulate(world: World, limit: int | None = None) -> TabularMDP:
    """Enumerate the reachable states of a world and return its dynamics as arrays.

    Args:
        world: The world. One that was explored when it was made is not explored again.
        limit: The most states to accept (default: `world.limit`).

    Raises:
        UserError: If there are too many states or actions, or if the world breaks its contract:
            a state out of range, probabilities that do not sum to 1, a mark beyond `n_marks`.
    """
    check_declared(world)
    limit = world.limit if limit is None else limit
    if not 1 <= len(world.actions) <= MAX_ACTIONS:
        raise UserError(
            f"{world.id} has {len(world.actions)} actions; it needs between 1 and {MAX_ACTIONS}"
        )
    graph = world.state_graph
    if graph is None:
        graph = enumerate_states(
            world.id,
            _starts(world),
            lambda state: _expand(world, state),
            limit=limit,
            limit_advice=_LIMIT_ADVICE,
        )
    else:
        _check_graph(world, graph, limit)
    mdp = _to_arrays(world, graph)
    _check_marks(world, mdp)
    return mdp


def _starts(world: World) -> Iterator[State]:
    """Yield the states that a world starts from as tuples."""
    starts = world.states()
    if not isinstance(starts, Iterable):
        raise UserError(f"{world.id}: states() must return a list of states, got {starts!r}")
    for state in starts:
        if not isinstance(state, Iterable):
            raise UserError(
                f"{world.id}: states() must return a list of states, such as [(0, 0)], and "
                f"{state!r} is none"
            )
        yield tuple(state)


def _expand(world: World, state: State) -> Iterator[Sequence[Successor[State]]]:
    """Yield the checked outcomes of each action in a state."""
    _check_state(world, state)
    for action in range(len(world.actions)):
        outcomes = world.transition(state, action)
        if not isinstance(outcomes, list | tuple) and isinstance(outcomes, Iterable):
            outcomes = list(outcomes)
        try:
            _check_outcomes(world, state, action, outcomes)
        except (TypeError, AttributeError):
            raise UserError(
                f"{world.id}: transition must return a list such as [sf.Outcome(1.0, state)], and "
                f"for {world.actions[action]!r} in state {world.space.labels(state)} it returns "
                f"{reprlib.repr(outcomes)}"
            ) from None
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
    if isinstance(graph.transitions, PackedTransitions):
        return  # they were checked when they were made, and have no marks
    for state, by_action in zip(graph.states, graph.transitions, strict=True):
        for action, outcomes in enumerate(by_action):
            _check_outcomes(world, state, action, outcomes)


def _check_state(world: World, state: State) -> None:
    sizes = world.space.sizes
    if len(state) != len(sizes) or not all(
        isinstance(i, Integral) and 0 <= i < n for i, n in zip(state, sizes, strict=True)
    ):
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
    if isinstance(graph.transitions, PackedTransitions):
        successors, probabilities = graph.transitions.padded()
        marks = np.full(successors.shape, -1, dtype=np.int32)
        return _make_mdp(world, graph, successors, probabilities, marks, successors.copy())
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
    return _make_mdp(world, graph, successors, probabilities, marks, again)


def _make_mdp(
    world: World,
    graph: StateGraph[State],
    successors: np.ndarray,
    probabilities: np.ndarray,
    marks: np.ndarray,
    again: np.ndarray,
) -> TabularMDP:
    return TabularMDP(
        space=world.space,
        values=np.array(graph.states, dtype=np.int32).reshape(len(graph.states), len(world.space)),
        successors=successors,
        probabilities=probabilities,
        marks=marks,
        again=again,
        marks_in=np.array([world.marks_in(state) for state in graph.states], dtype=np.int32),
        n_marks=world.n_marks,
        actions=tuple(world.actions),
    )
