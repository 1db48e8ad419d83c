"""Policies small enough for a page: of a large one, only the states its skill can reach.

A policy has an action for every state and context, 44 million for sixteen plain VIC skills in
FourRooms, nearly all of them for states that the skill never reaches. A *walk* visits, for one
context, the states that the skill can reach, likeliest first, and records the action in each. The
page walks the same way and reads the actions off in the order in which they were recorded, so the
states themselves need not be stored. Costs are integers (an outcome of probability p costs
-16 log2 p, rounded), and both walks end where everything left costs more than a limit; therefore
they agree to the last state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillfocus.compilation import njit
from skillfocus.core.mdp import TabularMDP

COST_PER_BIT = 16
"""Cost of one bit of improbability."""
LIMITS = (24, 32, 48, 96)
"""Limits of a walk in bits of improbability, tried until little enough is left out."""
MAX_LEFT_OUT = 1e-5
"""How likely a run may be to reach a state that was left out."""
NEGLIGIBLE = 1e-12
"""Less probability than this is not followed further."""
SAMPLED_STARTS = 200
"""Number of first states that this probability is averaged over."""


@dataclass(frozen=True, eq=False)
class PolicyWalk:
    """One policy [n_states, n_columns] as walks through its columns."""

    actions: np.ndarray
    """[counts.sum()] bytes: the actions of column after column, in the order of the walk."""
    counts: np.ndarray
    """[n_columns]: the number of states visited in each column."""
    limit: int
    """The limit of the walks, as a cost."""
    left_out: float
    """The mean probability, over first states, of reaching a state that was left out."""


class Transitions(NamedTuple):
    """The tables of an MDP that walks read, each [n_states, n_actions, n_outcomes]."""

    successors: np.ndarray
    marks: np.ndarray
    """The hidden mark that an outcome sets, or -1."""
    again: np.ndarray
    """The successor where that mark is set already."""
    probabilities: np.ndarray
    costs: np.ndarray


def outcome_costs(probabilities: np.ndarray) -> np.ndarray:
    """Return the integer cost of each outcome; impossible ones cost more than any limit."""
    possible = np.where(probabilities > 0, probabilities, 2.0**-1000)
    return np.rint(-COST_PER_BIT * np.log2(possible)).astype(np.int32)


def walk_policy(
    mdp: TabularMDP, policy: np.ndarray, contexts: np.ndarray, n_modes: int, step_limit: int
) -> PolicyWalk:
    """Walk through every column of a policy from all first states that have its context.

    Args:
        mdp: The world.
        policy: [n_states, n_contexts × n_modes] bytes: actions, the number of actions to stop.
        contexts: [n_states]: the context of each first state.
        n_modes: Modes of the skill; a column is context × n_modes + mode.
        step_limit: The skill's step limit.
    """
    tables = Transitions(
        mdp.successors, mdp.marks, mdp.again, mdp.probabilities, outcome_costs(mdp.probabilities)
    )
    sources = np.argsort(contexts, kind="stable")
    begins = np.searchsorted(contexts[sources], np.arange(policy.shape[1] // n_modes + 1))
    starts = np.unique(np.linspace(0, mdp.n_states - 1, SAMPLED_STARTS).astype(np.int64))
    for bits in LIMITS:
        limit = bits * COST_PER_BIT
        visited = np.zeros(policy.shape, np.uint8)
        actions, counts = _walk(tables, policy, sources, begins, n_modes, limit, visited)
        left_out = _left_out(tables, policy, visited, contexts, n_modes, starts, step_limit)
        if left_out <= MAX_LEFT_OUT or bits == LIMITS[-1]:
            return PolicyWalk(actions, counts, limit, left_out)
    raise AssertionError("the last limit is accepted as it is")


@njit(cache=True, nogil=True)
def _walk(tables, policy, sources, begins, n_modes, limit, visited):
    """Walk through all columns.

    States wait in one first-in-first-out queue per cost: linked lists over shared arrays.

    Args:
        tables: `Transitions`.
        policy: [n_states, n_columns]: actions, n_actions to stop.
        sources: [n_states]: first states, sorted by context.
        begins: [n_contexts + 1]: where each context's first states begin in `sources`.
        n_modes: Modes of the skill.
        limit: States that cost more are not visited.
        visited: [n_states, n_columns], zeros; set to 1 for visited states.

    Returns:
        The recorded actions of column after column, and [n_columns] how many each has.
    """
    successors, marks, again, costs = tables.successors, tables.marks, tables.again, tables.costs
    n, terminate = successors.shape[0], successors.shape[1]
    n_outcomes = successors.shape[2]
    actions = np.empty(n, np.uint8)
    filled = 0
    counts = np.zeros(policy.shape[1], np.int32)
    first = np.empty(limit + 1, np.int64)
    last = np.empty(limit + 1, np.int64)
    capacity = n + 2 * n * n_outcomes
    waiting = np.empty(capacity, np.int64)
    following = np.empty(capacity, np.int64)
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
                if visited[s, column]:
                    continue
                visited[s, column] = 1
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
                        if visited[target, column]:
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
def _left_out(tables, policy, visited, contexts, n_modes, starts, step_limit):
    """Return the mean probability of reaching a state that was not visited.

    An outcome with a hidden mark has two successors; the one that was not visited counts.

    Args:
        tables: `Transitions`.
        policy: [n_states, n_columns]: actions, n_actions to stop.
        visited: [n_states, n_columns]: 1 for visited states.
        contexts: [n_states]: the context of each first state.
        n_modes: Modes of the skill.
        starts: The first states to average over.
        step_limit: The skill's step limit.
    """
    successors, marks, again = tables.successors, tables.marks, tables.again
    n, terminate = successors.shape[0], successors.shape[1]
    total = 0.0
    mass = np.zeros(n)
    moved = np.zeros(n)
    active = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    for first in starts:
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
                            q = mass[s] * tables.probabilities[s, a, m]
                            if q == 0.0:
                                continue
                            target = successors[s, a, m]
                            if marks[s, a, m] >= 0 and not visited[again[s, a, m], column]:
                                target = again[s, a, m]
                            if not visited[target, column]:
                                total += q / n_modes
                                continue
                            if moved[target] == 0.0:
                                reached[n_reached] = target
                                n_reached += 1
                            moved[target] += q
                    mass[s] = 0.0
                count = 0
                for i in range(n_reached):
                    s = reached[i]
                    if moved[s] >= NEGLIGIBLE:
                        active[count] = s
                        mass[s] = moved[s]
                        count += 1
                    moved[s] = 0.0
                if count == 0:
                    break
            for i in range(count):
                mass[active[i]] = 0.0
    return total / len(starts)
