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

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillfocus.compilation import njit
from skillfocus.mdp import TabularMDP

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
        loss_discount: Factor of losses that come a step later.
        step_share: Share e of its reward that a skill earns by passing through a state.
        stop_share: Share k of its reward that a skill earns by terminating in a state.
    """

    successors: np.ndarray
    probabilities: np.ndarray
    costs: np.ndarray
    gamma: np.float32
    loss_discount: np.float32
    step_share: np.float32
    stop_share: np.float32


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
    gamma, loss_discount = model.gamma, model.loss_discount
    step_share, stop_share = model.step_share, model.stop_share
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
            later = min(gamma * best[c], loss_discount * best[c])
            new = max(stop_share * stop[c], step_share * stop[c] + later)
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
    gamma, loss_discount = model.gamma, model.loss_discount
    step_share, stop_share = model.step_share, model.stop_share
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
            later = min(gamma * best[c], loss_discount * best[c])
            stops = step_share * stop[c] + later <= stop_share * stop[c] + tolerance
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


# --------------------
#
# Sweeps for actions with very many outcomes: matrix products, in two factors where variables move
#
# independently.
#
# With ten variables that each may or may not change, an action has 1,024 outcomes, and a sweep that
# adds them up one by one takes seconds. Let the variables fall into two parts A and B that move
# independently given state and action, as they do in most RDDL domains:
#
#     E[V | s, a] = sum_x p_A(x | s, a)  U(r, x),      U(r, x) = sum_y p_B(y | r) V(x, y)
#
# p_B depends on few variables, so there are few different rows r of it, and U is one matrix
# product. With A empty this is the plain product of all rows with V. All values of a sweep come
# from those of the last one (Jacobi); the kernels above use new ones at once.

MANY_OUTCOMES = 128
"""Actions with fewer outcomes are swept one by one."""
WIDTH = 64
"""Contexts swept together: few enough for U to stay in the cache."""
MAX_MATRIX = 100_000_000
"""Most entries of the matrix [n_states, n_actions, n_states] of all probabilities."""
INDEPENDENT = 1e-9
"""How far a probability may be from the product of its factors."""


class Scratch(NamedTuple):
    """Arrays that `ProductModel.expected` overwrites."""

    by_state: np.ndarray
    """float32 [n_states, n]: values in the order of (y, x)."""
    partial: np.ndarray
    """float32 [n_rows, n_x, n]: U."""
    expected: np.ndarray
    """float32 [n_pairs, n]: the result."""


@dataclass(frozen=True, eq=False)
class ProductModel:
    """Transition probabilities in two factors; pairs (state, action) are sorted by their row.

    Attributes:
        states: int [n_y, n_x], the state that each (y, x) makes up.
        rows: float32 [n_rows, n_y], the different p_B.
        shares: float32 [n_pairs, n_x], p_A of each pair.
        begins: int64 [n_rows + 1], where each row's pairs begin.
        place: int64 [n_states, n_actions], where each pair is.
    """

    states: np.ndarray
    rows: np.ndarray
    shares: np.ndarray
    begins: np.ndarray
    place: np.ndarray

    def expected(self, values: np.ndarray, scratch: Scratch | None = None) -> np.ndarray:
        """Return E[V | s, a] of values [n_states, n], float32 [n_pairs, n], pairs as sorted."""
        scratch = scratch or self.scratch(values.shape[1])
        np.take(values, self.states.ravel(), axis=0, out=scratch.by_state)
        by_y = scratch.by_state.reshape(1, len(self.states), -1)
        partial = scratch.partial.reshape(len(self.rows), -1)
        _combine(by_y, self.rows, np.array([0, len(self.rows)]), partial)
        _combine(scratch.partial, self.shares, self.begins, scratch.expected)
        return scratch.expected

    def scratch(self, n: int) -> Scratch:
        """Allocate what `expected` overwrites, for n contexts."""
        n_y, n_x = self.states.shape
        return Scratch(
            np.empty((n_y * n_x, n), np.float32),
            np.empty((len(self.rows), n_x, n), np.float32),
            np.empty((len(self.shares), n), np.float32),
        )

    def solve(
        self, values: np.ndarray, t: np.ndarray, backup: Backup, sweeps: int, tolerance: float
    ) -> np.ndarray:
        """Sweep values in place until they change no more; see `value_iteration.Model.solve`.

        After n sweeps from t they are what is best with at most n steps to go.
        """
        policy = np.empty(t.shape, np.uint8)
        for first in range(0, t.shape[1], WIDTH):
            part = slice(first, first + WIDTH)
            v, stop = np.ascontiguousarray(values[:, part]), np.ascontiguousarray(t[:, part])
            scratch = self.scratch(v.shape[1])
            for _ in range(sweeps):
                expected = self.expected(v, scratch)
                if _finish_sweep(v, stop, expected, self.place, backup) < tolerance:
                    break
            expected = self.expected(v, scratch)
            policy[:, part] = _greedy(stop, expected, self.place, backup, np.float32(tolerance))
            values[:, part] = v
        return policy


def product_model(mdp: TabularMDP) -> ProductModel | None:
    """Return an MDP's probabilities in two factors, or in one where variables depend on each other.

    None if its actions have few outcomes, or the matrix would be too large.
    """
    n_states, n_actions, n_outcomes = mdp.successors.shape
    if n_outcomes < MANY_OUTCOMES or n_states**2 * n_actions > MAX_MATRIX:
        return None
    matrix = np.zeros((n_states * n_actions, n_states))
    pair = np.repeat(np.arange(len(matrix)), n_outcomes)
    np.add.at(matrix, (pair, mdp.successors.ravel()), mdp.probabilities.ravel())
    for states in _splits(mdp):
        factors = [_factorize(mdp, matrix, either) for either in (states, states.T)]
        found = [made for made in factors if made is not None]
        if found:
            return min(found, key=lambda made: len(made.rows))
    return _factorize(mdp, matrix, np.arange(n_states)[:, None])


def _splits(mdp: TabularMDP) -> list[np.ndarray]:
    """Return states as [y, x] for variables cut in two, the most even cuts first; none if some
    combination of values is no state."""
    sizes = mdp.space.sizes
    if math.prod(sizes) != mdp.n_states:
        return []
    order = np.argsort(mdp.space.encode(mdp.values, range(len(sizes))))
    widths = [math.prod(sizes[:cut]) for cut in range(1, len(sizes))]
    even = sorted(widths, key=lambda width: width + mdp.n_states // width)
    return [order.reshape(width, -1).T for width in even]


def _factorize(mdp: TabularMDP, matrix: np.ndarray, states: np.ndarray) -> ProductModel | None:
    """Return the two factors of all probabilities for x and y; None if they depend on each other.

    Args:
        mdp: The MDP.
        matrix: float64 [n_pairs, n_states].
        states: int [n_y, n_x].
    """
    joint = matrix[:, states.ravel()].reshape(-1, *states.shape)
    of_x, of_y = joint.sum(axis=1), joint.sum(axis=2)
    for first in range(0, len(joint), 1000):
        part = slice(first, first + 1000)
        apart = np.abs(joint[part] - of_y[part][:, :, None] * of_x[part][:, None, :])
        if apart.max() > INDEPENDENT:
            return None
    rows, row_of = np.unique(of_y.astype(np.float32), axis=0, return_inverse=True)
    row_of = row_of.reshape(-1)
    order = np.argsort(row_of, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return ProductModel(
        states, rows, np.ascontiguousarray(of_x[order], np.float32),
        np.searchsorted(row_of[order], np.arange(len(rows) + 1)),
        place.reshape(mdp.n_states, mdp.n_actions),
    )  # fmt: skip


@njit(cache=True, nogil=True, fastmath={"contract"})
def _combine(partial, shares, begins, out):
    """out[i] = sum_x shares[i, x] partial[row of i, x]"""
    n_x, width = partial.shape[1], partial.shape[2]
    for r in range(partial.shape[0]):
        u = partial[r]
        for i in range(begins[r], begins[r + 1]):
            into = out[i]
            into[:] = 0
            x = 0
            while x + 4 <= n_x:
                p0, p1, p2, p3 = shares[i, x], shares[i, x + 1], shares[i, x + 2], shares[i, x + 3]
                u0, u1, u2, u3 = u[x], u[x + 1], u[x + 2], u[x + 3]
                for c in range(width):
                    into[c] += p0 * u0[c] + p1 * u1[c] + p2 * u2[c] + p3 * u3[c]
                x += 4
            while x < n_x:
                p0, u0 = shares[i, x], u[x]
                for c in range(width):
                    into[c] += p0 * u0[c]
                x += 1


@njit(cache=True, nogil=True, fastmath={"contract"})
def _finish_sweep(v, t, expected, place, model):
    """Set v to the maxima over actions and terminating, and return the largest change."""
    gamma, loss_discount = model.gamma, model.loss_discount
    step_share, stop_share = model.step_share, model.stop_share
    width = v.shape[1]
    best = np.empty(width, np.float32)
    change = np.zeros(width, np.float32)
    for s in range(v.shape[0]):
        best[:] = -np.inf
        for a in range(place.shape[1]):
            q, cost = expected[place[s, a]], model.costs[s, a]
            for c in range(width):
                best[c] = max(best[c], q[c] - cost)
        row, stop = v[s], t[s]
        for c in range(width):
            later = min(gamma * best[c], loss_discount * best[c])
            new = max(stop_share * stop[c], step_share * stop[c] + later)
            change[c] = max(change[c], abs(new - row[c]))
            row[c] = new
    return change.max()


@njit(cache=True, nogil=True, fastmath={"contract"})
def _greedy(t, expected, place, model, tolerance):
    """Return the best action, uint8 [n_states, n_contexts]; terminate unless another is better."""
    n, width = t.shape
    n_actions = place.shape[1]
    policy = np.empty((n, width), np.uint8)
    for s in range(n):
        for c in range(width):
            best, choice = expected[place[s, 0], c] - model.costs[s, 0], 0
            for a in range(1, n_actions):
                value = expected[place[s, a], c] - model.costs[s, a]
                if value > best + tolerance:
                    best, choice = value, a
            later = min(model.gamma * best, model.loss_discount * best)
            stops = model.step_share * t[s, c] + later <= model.stop_share * t[s, c] + tolerance
            policy[s, c] = n_actions if stops else choice
    return policy
