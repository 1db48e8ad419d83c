"""Exact distributions of a skill's last state s_T, and the effects expected under them.

Probability is propagated step by step from a first state; nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError

NEGLIGIBLE = 1e-9
"""Less probability than this is not propagated further but counted where it is. Most states a skill
could reach take six slips in a row; together they change effects after the eighth digit alone."""
NEGLIGIBLE_IN_CHAINS = 1e-12
"""The same for chains of skills, of which there are so many that states this rare are reached."""
SMALLEST = 1e-9
"""Less likely last states are dropped from P_z(x' | x); the rest is scaled to sum to 1."""


class Dynamics(NamedTuple):
    """The transition probabilities of a world without hidden marks."""

    successors: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: next states."""
    probabilities: np.ndarray
    """float64 [n_states, n_actions, n_outcomes]"""


class SkillMode(NamedTuple):
    """One mode of one skill."""

    actions: np.ndarray
    """uint8 [n_states, n_contexts]; n_actions means "terminate"."""
    contexts: np.ndarray
    """int32 [n_states]: the context of a rollout that starts in a state."""
    step_limit: int


class SparseRows(NamedTuple):
    """A matrix P_z(x' | x) in CSR form."""

    indptr: np.ndarray
    """int64 [n_states + 1]: where each x's entries begin."""
    indices: np.ndarray
    """int32 [n_entries]: last states x'."""
    data: np.ndarray
    """float32 [n_entries]: their probabilities."""


class VariableArrays(NamedTuple):
    """The variables of a world, and which of them a skill targets."""

    values: np.ndarray
    """int32 [n_states, n_variables]: value indices."""
    distances: np.ndarray
    """float64 [n_variables, n_values, n_values]: between two values, padded to one array."""
    is_target: np.ndarray
    """bool [n_variables]"""
    is_reversible: np.ndarray
    """bool [n_variables]"""
    wanted: np.ndarray
    """int32 [n_variables]: the value that the skill is told to reach; -1 if any other than the
    first will do."""


class Buffers(NamedTuple):
    """Working memory of `propagate`."""

    mass: np.ndarray
    """float64 [n_states]: probability of each state that has any now."""
    moved: np.ndarray
    """float64 [n_states]: the same one step later; zeros between calls."""
    active: np.ndarray
    """uint64 [2 * n_states + 1]: states with probability now; from the middle on, later."""
    final: np.ndarray
    """float64 [n_states]: the result, the distribution of s_T; the caller resets it to zeros."""


@njit(cache=True, nogil=True)
def new_buffers(n_states):
    """Allocate the working memory of `propagate`."""
    active = np.zeros(2 * n_states + 1, np.uint64)
    return Buffers(np.zeros(n_states), np.zeros(n_states), active, np.zeros(n_states))


@njit(cache=True, nogil=True, forceinline=True)
def propagate(dynamics, skill, start, negligible, buffers):
    """Add the distribution of s_T from `start` to `buffers.final`; return the expected steps.

    Args:
        dynamics: `Dynamics`.
        skill: `SkillMode`.
        start: The first state.
        negligible: Probability below which a state is not followed further.
        buffers: `Buffers`.
    """
    successors, probabilities = dynamics
    actions, contexts, step_limit = skill
    mass, moved, active, final = buffers
    half = np.uint64(active.shape[0] // 2)  # unsigned indices spare checks for negative ones
    terminate = successors.shape[1]
    context = np.uint64(contexts[start])
    mass[start] = 1.0
    active[0] = start
    n = np.uint64(1)
    steps = 0.0
    for _ in range(step_limit):
        end = half
        for i in range(n):
            s = active[i]
            p = mass[s]
            a = actions[s, context]
            if a == terminate:
                final[s] += p
                continue
            steps += p
            following, share = successors[s, np.uint64(a)], probabilities[s, np.uint64(a)]
            for m in range(following.shape[0]):
                q = p * share[m]
                if q > 0.0:
                    after = np.uint64(following[m])
                    so_far = moved[after]
                    active[end] = after
                    end += np.uint64(so_far == 0.0)
                    moved[after] = so_far + q
        n = np.uint64(0)
        for i in range(half, end):
            s = active[i]
            p = moved[s]
            moved[s] = 0.0
            if p < negligible:
                final[s] += p
            else:
                active[n] = s
                mass[s] = p
                n += np.uint64(1)
        if n == 0:  # all rollouts have terminated
            break
    for i in range(n):
        final[active[i]] += mass[active[i]]
    return steps


@njit(cache=True, nogil=True)
def transition_matrix(dynamics, skill):
    """Return P_z(x' | x) of one skill and mode as `SparseRows`.

    Args:
        dynamics: `Dynamics`.
        skill: `SkillMode`.
    """
    n = dynamics.successors.shape[0]
    buffers = new_buffers(n)
    final = buffers.final
    indptr = np.zeros(n + 1, np.int64)
    indices = np.empty(16 * n, np.int32)
    data = np.empty(16 * n, np.float32)
    filled = 0
    for x in range(n):
        propagate(dynamics, skill, x, NEGLIGIBLE_IN_CHAINS, buffers)
        total = 0.0
        for s in range(n):
            if final[s] > SMALLEST:
                total += final[s]
        if filled + n > indices.shape[0]:
            indices = np.concatenate((indices, np.empty(max(n, indices.shape[0]), np.int32)))
            data = np.concatenate((data, np.empty(max(n, data.shape[0]), np.float32)))
        for s in range(n):
            if final[s] > SMALLEST:
                indices[filled] = s
                data[filled] = final[s] / total
                filled += 1
            final[s] = 0.0
        indptr[x + 1] = filled
    return SparseRows(indptr, indices[:filled].copy(), data[:filled].copy())


@njit(cache=True, nogil=True)
def expected_effects(dynamics, skill, variables, starts):
    """Compute the exact effects of one mode of a skill.

    Args:
        dynamics: `Dynamics`.
        skill: `SkillMode`.
        variables: `VariableArrays`.
        starts: int64 [n_starts].

    Returns:
        `changed`, `amount`, `controlled`, `alone`, `clean`, `steps` and `ends` of `SkillEffects`.
    """
    values, distances, is_target, is_reversible, wanted = variables
    n_states, n_variables = values.shape
    changed = np.zeros((starts.shape[0], n_variables))
    amount = np.zeros((starts.shape[0], n_variables))
    controlled = np.zeros(starts.shape[0])
    alone = np.zeros(starts.shape[0])
    clean = np.zeros((starts.shape[0], 2))
    steps = np.zeros(starts.shape[0])
    ends = np.zeros(n_states)
    buffers = new_buffers(n_states)
    final = buffers.final
    for i in range(starts.shape[0]):
        first = starts[i]
        steps[i] = propagate(dynamics, skill, first, NEGLIGIBLE, buffers)
        for s in range(n_states):
            p = final[s]
            if p > 0.0:
                final[s] = 0.0
                ends[s] += p / starts.shape[0]
                all_targets = True
                done = True
                others = False
                reversible_others = False
                for j in range(n_variables):
                    if values[s, j] != values[first, j]:
                        changed[i, j] += p
                        amount[i, j] += p * distances[j, values[first, j], values[s, j]]
                        others |= not is_target[j]
                        reversible_others |= not is_target[j] and is_reversible[j]
                    elif is_target[j]:
                        all_targets = False
                        done &= wanted[j] >= 0
                    if wanted[j] >= 0:
                        done &= values[s, j] == wanted[j]
                if all_targets:
                    controlled[i] += p
                if done and not others:
                    alone[i] += p
                if not others:
                    clean[i, 0] += p
                if not reversible_others:
                    clean[i, 1] += p
    return changed, amount, controlled, alone, clean, steps, ends


# -------------------- Compare distances under a learned representation with true distances


@dataclass(frozen=True)
class RepresentationFit:
    """Fit of a learned representation to true distances.

    Attributes:
        correlation: Pearson correlation of |phi(x) - phi(y)| and the true distance.
        most: Largest ratio of the two: the empirical Lipschitz constant.
        mean: Mean ratio.
    """

    correlation: float
    most: float
    mean: float


def representation_fit(
    phi: np.ndarray, distances: np.ndarray, other: np.ndarray
) -> RepresentationFit:
    """Compare distances under phi with true ones.

    Args:
        phi: phi(x) of each pair, float [n, width].
        distances: True distance of each pair, float [n]; pairs at distance 0 are ignored.
        other: phi(y) of each pair, float [n, width].
    """
    apart = np.linalg.norm(phi - other, axis=1)
    counts = distances > 1e-6
    if counts.sum() < 2:
        raise UserError("a comparison of distances needs at least two pairs at a positive distance")
    ratio = apart[counts] / distances[counts]
    flat = apart[counts].std() == 0 or distances[counts].std() == 0
    correlation = 0.0 if flat else float(np.corrcoef(apart[counts], distances[counts])[0, 1])
    return RepresentationFit(correlation, float(ratio.max()), float(ratio.mean()))
