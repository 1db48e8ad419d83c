"""Kernels of value iteration over (state, context), for one skill at a time.

Values are swept towards the optimum of the skill's current reward T(s, c):

    V(s, c) = max( k T(s, c),  e T(s, c) + later( max_a sum_m p_m [V(s_m, c) - cost_m] ) )

Terminating earns T: k = 1. Of what comes a step later, gains are multiplied by gamma, and losses by
1 / gamma: if losses were discounted, a skill that can only lose would postpone its end forever.
For rewards earned at the end, e = 0. For rewards earned at every step, e = 1 - gamma, gains and
losses are both multiplied by gamma, and a skill that terminates goes on earning, which in these
units is worth T too; if it does not go on earning, k = e. Rewards of transitions are negative
costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skillfocus.compilation import njit

TOLERANCE = 1e-5
"""A change of a value, or an advantage of an action, that does not count."""


class Backup(NamedTuple):
    """What a sweep needs of the MDP and of one skill.

    Attributes:
        successors: int32 [n_states, n_actions, n_outcomes], outcomes padded to a multiple of four
            unless every action has a single one.
        probabilities: float32 [n_states, n_actions, n_outcomes].
        costs: float32 [n_states, n_actions], expected cost of each action.
        gamma: Factor of gains that come a step later.
        waiting: Factor of losses that come a step later.
        earned: Share e of its reward that a skill earns by passing through a state.
        kept: Share k of its reward that a skill earns by terminating in a state.
    """

    successors: np.ndarray
    probabilities: np.ndarray
    costs: np.ndarray
    gamma: np.float32
    waiting: np.float32
    earned: np.float32
    kept: np.float32


@njit(cache=True, nogil=True, fastmath={"contract"})
def action_values(v, s, a, model, value):
    """value[c] = sum_m p_m v[s_m, c] - cost"""
    successors, probabilities, costs = model.successors, model.probabilities, model.costs
    if successors.shape[2] == 1:
        cost = costs[s, a]
        v0 = v[successors[s, a, 0]]
        for c in range(value.shape[0]):
            value[c] = v0[c] - cost
        return
    for m in range(0, successors.shape[2], 4):
        p0 = probabilities[s, a, m]
        p1 = probabilities[s, a, m + 1]
        p2 = probabilities[s, a, m + 2]
        p3 = probabilities[s, a, m + 3]
        v0 = v[successors[s, a, m]]
        v1 = v[successors[s, a, m + 1]]
        v2 = v[successors[s, a, m + 2]]
        v3 = v[successors[s, a, m + 3]]
        if m == 0:
            cost = costs[s, a]
            for c in range(value.shape[0]):
                value[c] = p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c] - cost
        else:
            for c in range(value.shape[0]):
                value[c] += p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c]


class Stamps(NamedTuple):
    """When rows of values were last updated and changed, in rows updated since the first sweep.

    Attributes:
        updated: int64 [n_states].
        changed: int64 [n_states].
    """

    updated: np.ndarray
    changed: np.ndarray


def new_stamps(n_states: int) -> Stamps:
    """Return stamps of rows that were never updated: the first sweep updates all."""
    return Stamps(np.full(n_states, -1), np.zeros(n_states, dtype=np.int64))


@njit(cache=True, nogil=True)
def is_settled(s, model, stamps):
    """Return whether nothing that the values of a state depend on has changed since their last
    update, so that another would leave them as they are, bit for bit."""
    successors, probabilities = model.successors, model.probabilities
    updated = stamps.updated[s]
    for a in range(successors.shape[1]):
        for m in range(successors.shape[2]):
            if stamps.changed[successors[s, a, m]] >= updated and probabilities[s, a, m] > 0.0:
                return False
    return True


@njit(cache=True, nogil=True, fastmath={"contract"})
def sweep(v, t, model, backwards, stamps, tick):
    """Sweep the values [n_states, n_contexts] of all states in place, and return the largest
    change; t are the values of terminating. Settled states are left out; `tick` is how many rows
    earlier sweeps with these stamps had. (Plain loops over c are what vectorises.)"""
    successors, probabilities, costs = model.successors, model.probabilities, model.costs
    gamma, waiting, earned, kept = model.gamma, model.waiting, model.earned, model.kept
    n, width = v.shape
    best = np.empty(width, np.float32)
    value = np.empty(width, np.float32)
    change = np.zeros(width, np.float32)
    for i in range(n):
        s = n - 1 - i if backwards else i
        if is_settled(s, model, stamps):
            continue
        action_values(v, s, 0, model, best)
        for a in range(1, successors.shape[1]):
            if successors.shape[2] == 1:
                cost = costs[s, a]
                v0 = v[successors[s, a, 0]]
                for c in range(width):
                    best[c] = max(best[c], v0[c] - cost)
            elif successors.shape[2] == 4:  # the same as below in one pass: twice as fast
                cost = costs[s, a]
                p0 = probabilities[s, a, 0]
                p1 = probabilities[s, a, 1]
                p2 = probabilities[s, a, 2]
                p3 = probabilities[s, a, 3]
                v0 = v[successors[s, a, 0]]
                v1 = v[successors[s, a, 1]]
                v2 = v[successors[s, a, 2]]
                v3 = v[successors[s, a, 3]]
                for c in range(width):
                    q = p0 * v0[c] + p1 * v1[c] + p2 * v2[c] + p3 * v3[c] - cost
                    best[c] = max(best[c], q)
            else:
                action_values(v, s, a, model, value)
                for c in range(width):
                    best[c] = max(best[c], value[c])
        row = v[s]
        stop = t[s]
        moved = np.int32(0)
        for c in range(width):
            later = min(gamma * best[c], waiting * best[c])
            new = max(kept * stop[c], earned * stop[c] + later)
            change[c] = max(change[c], abs(new - row[c]))
            moved += np.int32(new != row[c])
            row[c] = new
        stamps.updated[s] = tick + i
        if moved:
            stamps.changed[s] = tick + i
    return change.max()


@njit(cache=True, nogil=True, fastmath={"contract"})
def greedy(v, t, model):
    """Return the best action, uint8 [n_states, n_contexts]; terminate unless another is better."""
    gamma, waiting, earned, kept = model.gamma, model.waiting, model.earned, model.kept
    n, width = v.shape
    n_actions = model.successors.shape[1]
    policy = np.empty((n, width), np.uint8)
    best = np.empty(width, np.float32)
    value = np.empty(width, np.float32)
    choice = np.empty(width, np.int32)
    tolerance = np.float32(TOLERANCE)
    for s in range(n):
        choice[:] = 0
        action_values(v, s, 0, model, best)
        for a in range(1, n_actions):
            action_values(v, s, a, model, value)
            for c in range(width):
                better = value[c] > best[c] + tolerance
                best[c] = value[c] if better else best[c]
                choice[c] = a if better else choice[c]
        stop = t[s]
        for c in range(width):
            later = min(gamma * best[c], waiting * best[c])
            stops = earned * stop[c] + later <= kept * stop[c] + tolerance
            policy[s, c] = n_actions if stops else choice[c]
    return policy


@njit(cache=True, nogil=True)
def gather_columns(values, columns):
    """Return values[:, columns], faster than numpy."""
    out = np.empty((values.shape[0], columns.shape[0]), values.dtype)
    for s in range(out.shape[0]):
        row, into = values[s], out[s]
        for i in range(columns.shape[0]):
            into[i] = row[columns[i]]
    return out


@njit(cache=True, nogil=True)
def scatter_columns(values, columns, out):
    """Do out[:, columns] = values, faster than numpy."""
    for s in range(out.shape[0]):
        row, into = values[s], out[s]
        for i in range(columns.shape[0]):
            into[columns[i]] = row[i]
