"""The first states from which a skill is judged, and shortest paths.

A *fair start* is a first state from which some behaviour changes the skill's targets and brings
every other variable that can be changed back to its first value, within the step limit, with
probability 0.9 or more (see `best_focus.py`). Shortest paths assume that every action has its
likeliest outcome; a *round trip* is the shortest path that does what a fair start asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import likeliest_successors
from skillfocus.metrics.best_focus import best_focus, products_per_start

FAIR_PROBABILITY = 0.9
"""The probability of a focused change that is possible from a fair start, at least. In the paper's
worlds these are the starts whose round trip takes at most three quarters of the step limit."""
MIN_STARTS = 20
"""First states that are evaluated at least, however long it takes."""
MAX_PAIRS = 30_000_000
"""The most (first state, state) pairs that are evaluated; more first states are sampled."""
MAX_PRODUCTS = 1e10
"""The most products in dynamic programming over all first states: a few seconds. Where outcomes
are very many, fewer first states are evaluated."""
BATCHES = 10
"""How many samples of first states are searched for fair ones."""
CHUNK = 20_000_000
"""(First state, state) pairs held in memory at once."""
_found: WeakKeyDictionary[TabularMDP, dict[tuple, np.ndarray]] = WeakKeyDictionary()
"""Fair starts that were found, as many runs share a world."""


def max_starts(mdp: TabularMDP) -> int:
    """Return how many first states are evaluated at most."""
    return max(200, MAX_PAIRS // mdp.n_states)


def max_fair_starts(mdp: TabularMDP, targets: Sequence[int], step_limit: int) -> int:
    """Return how many first states are searched for fair ones at once; of more, samples are."""
    if not targets:
        return max_starts(mdp)
    affordable = int(MAX_PRODUCTS // products_per_start(mdp, targets, step_limit, "reversible"))
    return min(max_starts(mdp), max(MIN_STARTS, affordable))


def sample_starts(starts: np.ndarray, mdp: TabularMDP) -> np.ndarray:
    """Return `starts`, or a sorted random sample of `max_starts`, the same on every call."""
    size = max_starts(mdp)
    if len(starts) <= size:
        return starts
    return np.sort(np.random.default_rng(0).choice(starts, size=size, replace=False))


def shortest_steps(mdp: TabularMDP, sources: np.ndarray) -> np.ndarray:
    """Return the fewest steps between states if every action has its likeliest outcome.

    Args:
        mdp: The world's MDP.
        sources: int [n_sources]: first states.

    Returns:
        float64 [n_sources, n_states]; infinite where there is no path.
    """
    sources = np.asarray(sources, dtype=np.int64)
    origins = np.repeat(np.arange(mdp.n_states), mdp.n_actions)
    graph = csr_array(
        (np.ones(len(origins), dtype=np.int8), (origins, likeliest_successors(mdp).ravel())),
        shape=(mdp.n_states, mdp.n_states),
    )
    return dijkstra(graph, indices=sources, unweighted=True)


def round_trips(mdp: TabularMDP, targets: Sequence[int | str], sources: np.ndarray) -> np.ndarray:
    """Return the length of the shortest round trip from each first state.

    At the end of a round trip every target has changed, and every other variable that can be
    changed back has its first value.

    Args:
        mdp: The world's MDP.
        targets: The target variables, by index or name.
        sources: int [n_sources]: first states.

    Returns:
        float64 [n_sources]: steps; infinite where there is no round trip.
    """
    targets, sources = mdp.space.indices(targets), np.asarray(sources, dtype=np.int64)
    restored = [j for j in np.flatnonzero(mdp.reversible).tolist() if j not in targets]
    trips = np.empty(len(sources))
    chunk = max(1, CHUNK // mdp.n_states)
    for first in range(0, len(sources), chunk):
        starts = sources[first : first + chunk]
        steps = shortest_steps(mdp, starts)
        for j in restored:
            steps[_differs(mdp, starts, j)] = np.inf
        for j in targets:
            steps[~_differs(mdp, starts, j)] = np.inf
        trips[first : first + chunk] = steps.min(axis=1)
    return trips


def _differs(mdp: TabularMDP, starts: np.ndarray, variable: int) -> np.ndarray:
    """Return bool [n_starts, n_states]: whether the variable's value differs from the start's."""
    return mdp.values[starts, variable][:, None] != mdp.values[None, :, variable]


def isolated_change_chances(
    mdp: TabularMDP, step_limit: int, default_target: int = 0, max_sources: int = 200
) -> dict[str, float | None]:
    """Return how likely each variable can be made to change alone.

    Args:
        mdp: The world's MDP.
        step_limit: The most steps the change may take.
        default_target: Index of the world's default target.
        max_sources: The most first states that are evaluated; more are sampled, and large worlds
            evaluate fewer.

    Returns:
        Per variable, the highest probability of changing it within `step_limit` steps with every
        other variable at its first value in the end, averaged over the states in which it has a
        value that can change somewhere, without states that no action leaves (with hidden marks,
        over the fresh ones of them); None if there are none.
    """
    max_sources = max(40, min(max_sources, 5_000_000 // mdp.n_states))
    affordable = int(MAX_PRODUCTS // products_per_start(mdp, [0], step_limit)) // len(mdp.space)
    max_sources = max(MIN_STARTS, min(max_sources, affordable))
    sources = np.flatnonzero(~mdp.absorbing)
    if mdp.n_marks:
        sources = fresh_starts(mdp, other_variables(mdp, default_target))
    if len(sources) > max_sources:
        sources = np.random.default_rng(0).choice(sources, size=max_sources, replace=False)
    chances: dict[str, float | None] = {}
    for j, name in enumerate(mdp.space.names):
        changeable = sources[mdp.can_change[sources, j]]
        values = best_focus(mdp, [j], changeable, step_limit)
        chances[name] = float(values.mean()) if len(values) else None
    return chances


def other_variables(mdp: TabularMDP, variable: int) -> list[int]:
    """Return the indices of all variables but one."""
    return [j for j in range(len(mdp.space)) if j != variable]


def fresh_starts(mdp: TabularMDP, variables: Sequence[int]) -> np.ndarray:
    """Return the states in which none of `variables` has changed yet.

    A variable that can be changed back has not changed if it has its first value; any other, if its
    value is one that no transition leads to (see `TabularMDP.pristine`).

    Args:
        mdp: The world's MDP.
        variables: Indices of the variables.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    return np.flatnonzero(mdp.pristine[:, list(variables)].all(axis=1))


def possible_starts(mdp: TabularMDP, targets: Sequence[int], default_target: int) -> np.ndarray:
    """Return the states a skill with these targets could be judged from.

    Some action leaves them, and targets that cannot be changed back are fresh. In a world with
    hidden marks, everything but the default target must be fresh, because the variables do not say
    which marks are set.

    Args:
        mdp: The world's MDP.
        targets: Indices of the skill's targets.
        default_target: Index of the world's default target.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    if mdp.n_marks:
        fresh = fresh_starts(mdp, other_variables(mdp, default_target))
    else:
        fresh = fresh_starts(mdp, [j for j in targets if not mdp.reversible[j]])
    return fresh[~mdp.absorbing[fresh]]


def fair_starts(
    mdp: TabularMDP, targets: Sequence[int | str], step_limit: int, default_target: int | str
) -> np.ndarray:
    """Return the first states a skill is judged from.

    These are the possible starts from which the targets can be changed, and what can be changed
    back restored, with probability `FAIR_PROBABILITY`. There may be none. If there are very many
    possible starts, random samples of them are searched until enough are fair.

    Args:
        mdp: The world's MDP.
        targets: The skill's targets, by index or name; every possible start is fair if there are
            none.
        step_limit: The most steps of the skill.
        default_target: The world's default target, by index or name.

    Returns:
        int64 [n]: numbered states, ascending.
    """
    targets, (default_target,) = mdp.space.indices(targets), mdp.space.indices([default_target])
    known, key = _found.setdefault(mdp, {}), (targets, step_limit, default_target)
    if key not in known:
        known[key] = _find_fair_starts(mdp, targets, step_limit, default_target)
    return known[key].copy()


def _find_fair_starts(
    mdp: TabularMDP, targets: Sequence[int], step_limit: int, default_target: int
) -> np.ndarray:
    possible = possible_starts(mdp, targets, default_target)
    size = max_fair_starts(mdp, targets, step_limit)
    if not targets:
        return sample_starts(possible, mdp)
    if len(possible) <= size:
        return possible[_is_fair(mdp, targets, step_limit, possible)]
    order, fair = np.random.default_rng(0).permutation(possible), []
    for first in range(0, min(len(order), BATCHES * size), size):
        batch = order[first : first + size]
        fair.extend(batch[_is_fair(mdp, targets, step_limit, batch)].tolist())
        if len(fair) >= size // 2:
            break
    return np.sort(np.array(fair[:size], dtype=np.int64))


def _is_fair(
    mdp: TabularMDP, targets: Sequence[int], step_limit: int, starts: np.ndarray
) -> np.ndarray:
    """Return bool [n_starts]."""
    return best_focus(mdp, targets, starts, step_limit, "reversible") >= FAIR_PROBABILITY
