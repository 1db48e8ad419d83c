"""How long an errand takes at best: the shortest round trip of a skill, without slips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from skillfocus.table import Table


def shortest_steps(table: Table, sources: np.ndarray) -> np.ndarray:
    """[source, state]: the fewest steps if every action has its likeliest outcome."""
    likeliest = table.probabilities.argmax(axis=2)[:, :, None]
    targets = np.take_along_axis(table.successors, likeliest, axis=2)[:, :, 0]
    origins = np.repeat(np.arange(table.n_states), table.n_actions)
    graph = csr_array(
        (np.ones(len(origins), dtype=np.int8), (origins, targets.ravel())),
        shape=(table.n_states, table.n_states),
    )
    return dijkstra(graph, indices=sources, unweighted=True)


def round_trips(table: Table, targets: Sequence[int], sources: np.ndarray) -> np.ndarray:
    """Per first state, the fewest steps after which every target has changed and every other
    variable that can be changed back has its first value again; infinite if that cannot be."""
    steps = shortest_steps(table, sources)
    kept = [j for j in np.flatnonzero(table.reversible) if j not in targets]
    fits = np.ones(steps.shape, dtype=bool)
    for j in kept:
        fits &= table.values[None, :, j] == table.values[sources, j][:, None]
    for j in targets:
        fits &= table.values[None, :, j] != table.values[sources, j][:, None]
    return np.where(fits, steps, np.inf).min(axis=1)


def fair_starts(
    table: Table,
    targets: Sequence[int],
    step_limit: int,
    roams: int,
    share: float = 0.75,
) -> np.ndarray:
    """The first states a skill is judged from: its targets still have their first value (where
    they cannot be changed back) and the round trip takes at most this share of the step limit.
    In a world with hidden marks, also: nothing but the roaming variable has changed yet, since
    which marks are set is not known otherwise."""
    untouched = [j for j in targets if not table.reversible[j]]
    if table.n_marks:
        untouched = [j for j in range(len(table.space)) if j != roams]
    starts = np.flatnonzero((table.values[:, untouched] == 0).all(axis=1))
    if not targets:
        return starts
    return starts[round_trips(table, targets, starts) <= share * step_limit]
