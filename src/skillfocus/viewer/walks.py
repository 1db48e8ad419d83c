"""Policies small enough to travel: of a large one, only what its skill can come to.

A policy has an action for every state and context, 44 million for sixteen plain VIC skills in
FourRooms, nearly all of them for places where such a skill never comes. A *walk* visits, for one
context, the states the skill can come to, likeliest first, and notes the action in each. The page
walks the same way and reads the actions off in the order in which they were noted, so that the
states themselves need not be told. Costs are whole numbers (an outcome of probability p costs
-16 log2 p, rounded), and both walks end where everything left costs more than a limit; so they
agree to the last state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from skillfocus.core.mdp import TabularMDP

UNITS = 16
"""Costs per bit of improbability."""
LIMITS = (24, 32, 48, 96)
"""Bits of improbability tried as a walk's limit, until little enough is left out."""
LEFT_OUT = 1e-5
"""How likely a run may be to come to a state that was left out."""
PROBES = 200
"""First states from which that is worked out."""
UNKNOWN = 255


@dataclass(frozen=True, eq=False)
class Walked:
    """One policy, [state, column], as walks through its columns."""

    actions: np.ndarray
    """Column after column, in the order of the walk."""
    counts: np.ndarray
    """[column]: how many."""
    limit: int
    """The walk's limit, in costs."""
    left_out: float
    """The mean probability, over first states, of coming to a state that was left out."""


def costs_of(probabilities: np.ndarray) -> np.ndarray:
    """What outcomes cost; of those that cannot be, whatever is more than any limit."""
    possible = np.where(probabilities > 0, probabilities, 2.0**-1000)
    return np.rint(-UNITS * np.log2(possible)).astype(np.int32)


def walk_policy(
    mdp: TabularMDP, policy: np.ndarray, contexts: np.ndarray, n_modes: int, step_limit: int
) -> Walked:
    """Walk through every column of a policy [state, context and mode] from all first states that
    have its context [first state]."""
    costs = costs_of(mdp.probabilities)
    sources = np.argsort(contexts, kind="stable")
    begins = np.searchsorted(contexts[sources], np.arange(policy.shape[1] // n_modes + 1))
    probes = np.unique(np.linspace(0, mdp.n_states - 1, PROBES).astype(np.int64))
    for bits in LIMITS:
        carried = np.zeros(policy.shape, np.uint8)
        actions, counts = _walk(
            mdp.successors, mdp.marks, mdp.again, costs, policy, sources, begins,
            n_modes, bits * UNITS, carried,
        )  # fmt: skip
        left_out = _lost(
            mdp.successors, mdp.probabilities, mdp.marks, mdp.again, policy, carried,
            contexts, n_modes, probes, step_limit,
        )  # fmt: skip
        if left_out <= LEFT_OUT or bits == LIMITS[-1]:
            return Walked(actions, counts, bits * UNITS, left_out)
    raise AssertionError("the last limit is taken as it is")


@njit(cache=True, nogil=True)
def _walk(successors, marks, again, costs, policy, sources, begins, n_modes, limit, carried):
    """The actions met and how many in each column. Waiting states are kept in one queue per cost,
    first in, first out."""
    n, terminate = successors.shape[0], successors.shape[1]
    n_outcomes = successors.shape[2]
    actions = np.empty(n, np.uint8)
    filled = 0
    counts = np.zeros(policy.shape[1], np.int32)
    first = np.empty(limit + 1, np.int64)
    last = np.empty(limit + 1, np.int64)
    most = n + 2 * n * n_outcomes
    waiting = np.empty(most, np.int64)
    following = np.empty(most, np.int64)
    for column in range(policy.shape[1]):
        context = column // n_modes
        first[:] = -1
        used = 0
        for i in range(begins[context], begins[context + 1]):
            waiting[used] = sources[i]
            following[used] = -1
            if first[0] < 0:
                first[0] = used
            else:
                following[last[0]] = used
            last[0] = used
            used += 1
        for cost in range(limit + 1):
            while first[cost] >= 0:
                s = waiting[first[cost]]
                first[cost] = following[first[cost]]
                if carried[s, column]:
                    continue
                carried[s, column] = 1
                if filled == actions.shape[0]:
                    actions = np.concatenate((actions, np.empty(filled, np.uint8)))
                a = policy[s, column]
                actions[filled] = a
                filled += 1
                counts[column] += 1
                if a == terminate:
                    continue
                for m in range(n_outcomes):
                    then = cost + costs[s, a, m]
                    if then > limit:
                        continue
                    for k in range(1 if marks[s, a, m] < 0 else 2):
                        target = successors[s, a, m] if k == 0 else again[s, a, m]
                        if carried[target, column]:
                            continue
                        waiting[used] = target
                        following[used] = -1
                        if first[then] < 0:
                            first[then] = used
                        else:
                            following[last[then]] = used
                        last[then] = used
                        used += 1
    return actions[:filled].copy(), counts


@njit(cache=True, nogil=True)
def _lost(
    successors, probabilities, marks, again, policy, carried, contexts, n_modes, probes, step_limit
):
    """The mean probability of coming to a state that is not carried; of an outcome with a mark,
    whichever of its two successors is worse."""
    n, terminate = successors.shape[0], successors.shape[1]
    total = 0.0
    mass = np.zeros(n)
    moved = np.zeros(n)
    active = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    for first in probes:
        for mode in range(n_modes):
            column = contexts[first] * n_modes + mode
            mass[first] = 1.0
            active[0] = first
            count = 1
            for _ in range(step_limit):
                n_reached = 0
                for i in range(count):
                    s = active[i]
                    a = policy[s, column]
                    if a != terminate:
                        for m in range(successors.shape[2]):
                            q = mass[s] * probabilities[s, a, m]
                            if q == 0.0:
                                continue
                            target = successors[s, a, m]
                            if marks[s, a, m] >= 0 and not carried[again[s, a, m], column]:
                                target = again[s, a, m]
                            if not carried[target, column]:
                                total += q / n_modes
                                continue
                            if moved[target] == 0.0:
                                reached[n_reached] = target
                                n_reached += 1
                            moved[target] += q
                    mass[s] = 0.0
                for i in range(n_reached):
                    active[i] = reached[i]
                    mass[reached[i]] = moved[reached[i]]
                    moved[reached[i]] = 0.0
                count = n_reached
            for i in range(count):
                mass[active[i]] = 0.0
    return total / len(probes)
