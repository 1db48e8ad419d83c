"""State coverage of skill chains (the paper's Figure 2): of all states, the fraction that is the
last state of some chain of l skills, every chain of that length run from the same first state.

Chains are run as a tree: each state a chain has come to is continued once with every skill. Then
the expected coverage can be computed: with q_l(x, s) the probability that no chain of l skills
from x ends in s,

    q_0(x, s) = [x != s],    q_l(x, s) = prod_z sum_x' P_z(x' | x) q_{l-1}(x', s),

because the subtrees are independent. Where a world hides something, one tree per first state is
drawn instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import begin, mdp_arrays, reset_marks, step
from skillfocus.errors import UserError
from skillfocus.metrics.side_effects import propagate
from skillfocus.skills.skills import Skills

LENGTHS = 5
BLOCK = 128
"""Columns of q worked on together: they stay in the processor's cache."""
SMALLEST = 1e-9
"""Less likely last states are left out of P_z; what is left is scaled to sum to 1."""
CELL_LIMIT = 400_000_000
"""More (state, state) pairs than this are not tabulated."""
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of a sparse matrix P_z(x' | x): where each x's entries begin, the x', and how likely each is."""


@dataclass(frozen=True, eq=False)
class Coverage:
    fractions: np.ndarray
    """[length - 1, start]"""
    starts: np.ndarray
    """First states, by number."""
    exact: bool

    @property
    def curve(self) -> np.ndarray:
        """The mean over first states, per chain length from 1 up."""
        return self.fractions.mean(axis=1)

    @property
    def auc(self) -> float:
        return area(self.curve)

    def summary(self) -> dict[str, object]:
        """As JSON can hold it."""
        return {"coverage": self.curve.tolist(), "auc": self.auc, "coverage_exact": self.exact}


def area(curve: Sequence[float] | np.ndarray) -> float:
    """The area under a curve over chain lengths, by the trapezoid rule."""
    curve = np.asarray(curve)
    return float((curve[1:] + curve[:-1]).sum() / 2)


def fresh_starts(mdp: TabularMDP, default_target: int) -> np.ndarray:
    """States in which nothing has changed yet, wherever the roaming variable is."""
    others = [j for j in range(len(mdp.space)) if j != default_target]
    return np.flatnonzero(mdp.pristine[:, others].all(axis=1))


def coverage(
    skills: Skills,
    lengths: int = LENGTHS,
    *,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
) -> Coverage:
    """Coverage by chains of 1 to `lengths` skills, from every first state in which nothing has
    changed yet (where there is none, from every state the world starts in): exact, or of one tree
    from each of `sample` such states drawn from `rng` (the paper: 10; the default where a world
    hides something)."""
    if lengths < 1:
        raise UserError(f"chains of {lengths} skills were asked for; they need at least 1")
    mdp = skills.mdp
    starts = fresh_starts(mdp, mdp.space.index(skills.world.default_target))
    if not len(starts):  # first values need not occur together in a world that was found
        starts = np.unique([mdp.number(state) for state in skills.world.states()])
    if sample is None and not mdp.n_marks:
        return Coverage(_exact(skills, starts, lengths), starts, exact=True)
    sample = 10 if sample is None else sample
    if rng is None or sample < 1:
        raise UserError("sampled coverage needs a random generator, and at least one first state")
    drawn = rng.choice(starts, size=sample, replace=sample > len(starts))
    fractions = tree(
        mdp_arrays(mdp), skills.arrays, drawn, skills.step_limit, mdp.n_marks, lengths, rng
    )  # fmt: skip
    return Coverage(fractions, drawn, exact=False)


@njit(cache=True, nogil=True)
def tree(arrays, skills, starts, limit, n_marks, lengths, rng):
    """[length - 1, start]: the fraction of states that end a chain, one tree per first state."""
    policy, offsets, widths, _, _ = skills
    n, terminate = arrays[0].shape[0], arrays[0].shape[1]
    n_skills = offsets.shape[0] - 1
    fractions = np.zeros((lengths, starts.shape[0]))
    states = np.empty(lengths + 1, np.int64)
    marks = np.zeros((lengths + 1, n_marks), np.uint8)
    following = np.zeros(lengths, np.int64)
    seen = np.zeros((lengths, n), np.uint8)
    for i in range(starts.shape[0]):
        seen[:] = 0
        states[0] = starts[i]
        reset_marks(arrays[4], starts[i], marks[0], rng)
        following[:] = 0
        depth = 0
        while depth >= 0:
            if depth == lengths or following[depth] == n_skills:
                depth -= 1
                continue
            z = following[depth]
            following[depth] += 1
            s = states[depth]
            marked = marks[depth + 1]
            marked[:] = marks[depth]
            context = begin(skills, z, s, rng)
            for _ in range(limit):
                a = policy[offsets[z] + s * widths[z] + context]
                if a == terminate:
                    break
                s, _ = step(arrays, s, a, marked, rng)
            seen[depth, s] = 1
            depth += 1
            states[depth] = s
            if depth < lengths:
                following[depth] = 0
        for length in range(lengths):
            fractions[length, i] = seen[length].sum() / n
    return fractions


@njit(cache=True, nogil=True)
def last_states(successors, probabilities, policy, contexts, limit, smallest):
    """P_z(x' | x) of one skill, sparse: where each x's entries begin, the x', and how likely."""
    n = successors.shape[0]
    mass = np.zeros(n)
    moved = np.zeros(n)
    active = np.zeros(2 * n, np.int64)
    final = np.zeros(n)
    begins = np.zeros(n + 1, np.int64)
    ends = np.empty(16 * n, np.int32)
    shares = np.empty(16 * n, np.float32)
    filled = 0
    for x in range(n):
        propagate(successors, probabilities, policy, contexts[x], x, limit, mass, moved, active,
                  final)  # fmt: skip
        kept = 0.0
        for s in range(n):
            if final[s] > smallest:
                kept += final[s]
        if filled + n > ends.shape[0]:
            ends = np.concatenate((ends, np.empty(max(n, ends.shape[0]), np.int32)))
            shares = np.concatenate((shares, np.empty(max(n, shares.shape[0]), np.float32)))
        for s in range(n):
            if final[s] > smallest:
                ends[filled] = s
                shares[filled] = final[s] / kept
                filled += 1
            final[s] = 0.0
        begins[x + 1] = filled
    return begins, ends[:filled].copy(), shares[:filled].copy()


@njit(cache=True, nogil=True)
def multiply_in(begins, ends, shares, q, product):
    """product[x] *= sum_x' P_z(x' | x) q[x'], for a block of columns."""
    total = np.empty(q.shape[1], np.float32)
    for x in range(product.shape[0]):
        total[:] = 0
        for k in range(begins[x], begins[x + 1]):
            share = shares[k]
            row = q[ends[k]]
            for j in range(total.shape[0]):
                total[j] += share * row[j]
        into = product[x]
        for j in range(total.shape[0]):
            into[j] *= total[j]


def _moves(skills: Skills, z: int) -> Entries:
    """P_z(x' | x), the mean over the skill's modes."""
    mdp = skills.mdp
    total = csr_array((mdp.n_states, mdp.n_states), dtype=np.float64)
    for mode in range(skills.n_modes[z]):
        begins, ends, shares = last_states(
            mdp.successors, mdp.probabilities, skills.policy_of(z, mode), skills.contexts[z],
            skills.step_limit, SMALLEST,
        )  # fmt: skip
        total += csr_array((shares / skills.n_modes[z], ends, begins), shape=total.shape)
    return _entries(csr_array(total))


def _entries(matrix: csr_array) -> Entries:
    """As `multiply_in` takes them."""
    begins, ends, shares = matrix.indptr, matrix.indices, matrix.data
    return begins.astype(np.int64), ends.astype(np.int32), shares.astype(np.float32)


def _exact(skills: Skills, starts: np.ndarray, lengths: int) -> np.ndarray:
    """[length - 1, start]"""
    n = skills.mdp.n_states
    if n * n > CELL_LIMIT:
        raise UserError(
            f"exact coverage of {n:,} states takes too much memory; sample it (sample=10, rng=…)"
        )
    return _covered([_moves(skills, z) for z in range(len(skills))], n, starts, lengths)


def chain_coverage(
    moves: Sequence[np.ndarray], starts: np.ndarray, lengths: int = LENGTHS
) -> np.ndarray:
    """[length - 1, start]: coverage by chains of skills of which only P_z(x' | x) is known, as a
    matrix [x, x'] each."""
    sparse = [_entries(csr_array(move)) for move in moves]
    return _covered(sparse, len(moves[0]), starts, lengths)


def _covered(moves: Sequence[Entries], n: int, starts: np.ndarray, lengths: int) -> np.ndarray:
    covered = np.zeros((lengths, len(starts)))
    for first in range(0, n, BLOCK):
        columns = np.arange(first, min(first + BLOCK, n))
        q = np.ones((n, len(columns)), np.float32)
        q[columns, np.arange(len(columns))] = 0
        for length in range(lengths):
            product = np.ones_like(q)
            for move in moves:
                multiply_in(*move, q, product)
            q = product
            covered[length] += (1 - q[starts].astype(float)).sum(axis=1)
    return covered / n
