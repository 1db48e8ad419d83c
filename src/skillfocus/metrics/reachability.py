"""How long an errand takes at best: the shortest round trip of a skill, without slips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from skillfocus.core.mdp import TabularMDP

FAIR_SHARE = 0.75
CHUNK = 20_000_000
"""Pairs of states looked at together."""


BATCHES = 10
"""How many samples are looked at for fair starts."""
MOST_PAIRS = 30_000_000
"""Of first states times states; of more first states, a sample is looked at."""


def most_starts(mdp: TabularMDP) -> int:
    """How many first states are looked at."""
    return max(200, MOST_PAIRS // mdp.n_states)


def some_of(starts: np.ndarray, mdp: TabularMDP) -> np.ndarray:
    """All of these first states, or of a large world a random sample, the same every time."""
    most = most_starts(mdp)
    if len(starts) <= most:
        return starts
    return np.sort(np.random.default_rng(0).choice(starts, size=most, replace=False))


def shortest_steps(mdp: TabularMDP, sources: np.ndarray) -> np.ndarray:
    """[source, state]: the fewest steps if every action has its likeliest outcome."""
    likeliest = mdp.probabilities.argmax(axis=2)[:, :, None]
    targets = np.take_along_axis(mdp.successors, likeliest, axis=2)[:, :, 0]
    origins = np.repeat(np.arange(mdp.n_states), mdp.n_actions)
    graph = csr_array(
        (np.ones(len(origins), dtype=np.int8), (origins, targets.ravel())),
        shape=(mdp.n_states, mdp.n_states),
    )
    return dijkstra(graph, indices=sources, unweighted=True)


def round_trips(mdp: TabularMDP, targets: Sequence[int], sources: np.ndarray) -> np.ndarray:
    """Per first state, the fewest steps after which every target has changed and every other
    variable that can be changed back has its first value again; infinite if that cannot be."""
    kept = [j for j in np.flatnonzero(mdp.reversible) if j not in targets]
    trips = np.empty(len(sources))
    chunk = max(1, CHUNK // mdp.n_states)
    for first in range(0, len(sources), chunk):
        some = sources[first : first + chunk]
        steps = shortest_steps(mdp, some)
        for j in kept:
            steps[mdp.values[some, j][:, None] != mdp.values[None, :, j]] = np.inf
        for j in targets:
            steps[mdp.values[some, j][:, None] == mdp.values[None, :, j]] = np.inf
        trips[first : first + chunk] = steps.min(axis=1)
    return trips


def changes_alone(mdp: TabularMDP, step_limit: int, most: int = 200) -> dict[str, float | None]:
    """Per variable: of the states in which it can still change, the share from which it can do so
    within the step limit with every other variable as it was; None if there are none. Of many
    states, a sample is looked at."""
    most = max(40, min(most, 5_000_000 // mdp.n_states))
    sources = np.arange(mdp.n_states)
    if len(sources) > most:
        sources = np.random.default_rng(0).choice(sources, size=most, replace=False)
    near = shortest_steps(mdp, sources) <= step_limit
    differs = [
        mdp.values[sources, j][:, None] != mdp.values[None, :, j] for j in range(len(mdp.space))
    ]
    near &= np.sum(differs, axis=0) == 1
    shares: dict[str, float | None] = {}
    for j, name in enumerate(mdp.space.names):
        able = mdp.can_change[sources, j]
        alone = (near & differs[j]).any(axis=1)[able]
        shares[name] = float(alone.mean()) if len(alone) else None
    return shares


def fresh_starts(mdp: TabularMDP, targets: Sequence[int], default_target: int) -> np.ndarray:
    """The first states in which the targets are untouched (where they cannot be changed back). In
    a world with hidden marks, also: nothing but the roaming variable has changed yet, since which
    marks are set is not known otherwise."""
    fresh = [j for j in targets if not mdp.reversible[j]]
    if mdp.n_marks:
        fresh = [j for j in range(len(mdp.space)) if j != default_target]
    return np.flatnonzero(mdp.pristine[:, fresh].all(axis=1))


def fair_starts(
    mdp: TabularMDP, targets: Sequence[int], step_limit: int, default_target: int
) -> np.ndarray:
    """The first states a skill is judged from: fresh ones from which the round trip takes at most
    three quarters of the step limit. There may be none. Of very many, a random sample is looked at,
    and more of them as long as few are fair."""
    fresh, most = fresh_starts(mdp, targets, default_target), most_starts(mdp)
    if not targets or len(fresh) <= most:
        starts = some_of(fresh, mdp)
        return starts[_fair(mdp, targets, step_limit, starts)]
    order, found = np.random.default_rng(0).permutation(fresh), []
    for first in range(0, min(len(order), BATCHES * most), most):
        some = order[first : first + most]
        found.extend(some[_fair(mdp, targets, step_limit, some)].tolist())
        if len(found) >= most // 2:
            break
    return np.sort(np.array(found[:most], dtype=np.int64))


def _fair(
    mdp: TabularMDP, targets: Sequence[int], step_limit: int, starts: np.ndarray
) -> np.ndarray:
    if not targets:
        return np.ones(len(starts), dtype=bool)
    return round_trips(mdp, targets, starts) <= FAIR_SHARE * step_limit
