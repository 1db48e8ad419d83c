"""State coverage of skill chains (the paper's Figure 2).

Coverage at length l is the fraction of all states that are the last state of some chain of l
skills, where every chain of that length is run from the same first state.

Chains are run as a tree: each state a chain has reached is continued once with every skill. The
subtrees are independent, so the expected coverage can be computed: with q_l(x, s) the probability
that no chain of l skills from x ends in s,

    q_0(x, s) = [x != s],    q_l(x, s) = prod_z sum_x' P_z(x' | x) q_{l-1}(x', s).

Where a world has hidden marks, one tree per first state is sampled instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.metrics.propagation import Dynamics, SkillMode, SparseRows, transition_matrix
from skillfocus.metrics.reachability import fresh_starts, other_variables
from skillfocus.metrics.side_effects import SkillEffects
from skillfocus.rollout import Options, draw_context, follow, mdp_arrays, reset_marks
from skillfocus.skills.skills import Skills

LENGTHS = 5
"""Chain lengths of the paper's figure."""
SAMPLED_STARTS = 10
"""First states of sampled coverage by default, as in the paper."""
BLOCK = 128
"""Columns of q computed together: they fit the processor's cache."""
CELL_LIMIT = 400_000_000
"""The most (state, state) pairs that exact coverage computes."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """Coverage of one set of skills.

    Example:
        >>> coverage = sf.metrics.coverage(skills)
        >>> coverage.curve, coverage.auc
    """

    fractions: np.ndarray
    """float64 [n_lengths, n_starts]: row l - 1 is the coverage by chains of l skills."""
    starts: np.ndarray
    """int [n_starts]: first states, by number."""
    exact: bool
    """False if trees were sampled."""

    @property
    def curve(self) -> np.ndarray:
        """float64 [n_lengths]: the mean over first states."""
        return self.fractions.mean(axis=1)

    @property
    def auc(self) -> float:
        """The area under `curve`."""
        return area(self.curve)

    def summary(self) -> dict[str, object]:
        """Return the averages as JSON-serializable values."""
        return {"coverage": self.curve.tolist(), "auc": self.auc, "coverage_exact": self.exact}


def area(curve: Sequence[float] | np.ndarray) -> float:
    """Return the area under a curve over chain lengths 1, 2, …, by the trapezoid rule."""
    curve = np.asarray(curve)
    return float((curve[1:] + curve[:-1]).sum() / 2)


def check_countable(skills: Skills) -> None:
    """Raise a `UserError` if the world has too many states for a share of them to mean anything."""
    if not skills.has_table:
        raise UserError(
            f"coverage is a share of all states, and {skills.world.id} has too many to count: "
            f"leave coverage out (of real-valued variables, see metrics.coverage_by_variable)"
        )


def coverage(
    skills: Skills,
    lengths: int = LENGTHS,
    *,
    sample: int | None = None,
    rng: np.random.Generator | None = None,
) -> Coverage:
    """Return the state coverage of chains of 1 to `lengths` skills.

    Chains start where nothing but the world's default target may have changed, or, if there is no
    such state, in the states the world starts from.

    Args:
        skills: The skills to chain.
        lengths: The longest chain.
        sample: Sample one tree from each of so many first states (the paper: 10) instead of
            computing exact coverage from all of them. Worlds with hidden marks are always sampled.
        rng: Generator for sampling.

    Raises:
        UserError: If `lengths` or `sample` is below 1, if sampling has no `rng`, or if the world
            has too many states for exact coverage.
    """
    if lengths < 1:
        raise UserError(f"lengths must be at least 1, got {lengths}")
    check_countable(skills)
    mdp = skills.mdp
    default_target = mdp.space.index(skills.world.default_target)
    starts = fresh_starts(mdp, other_variables(mdp, default_target))
    if not len(starts):  # in an explored world, first values need not occur together
        starts = np.unique([mdp.number(state) for state in skills.world.states()])
    if sample is None and not mdp.n_marks:
        n = mdp.n_states
        if n * n > CELL_LIMIT:
            raise UserError(
                f"exact coverage of {n:,} states takes too much memory; sample it (sample=10, "
                f"rng=…)"
            )
        matrices = [_transition_rows(skills, z) for z in range(len(skills))]
        return Coverage(_expected_coverage(matrices, n, starts, lengths), starts, exact=True)
    sample = SAMPLED_STARTS if sample is None else sample
    if rng is None or sample < 1:
        raise UserError(
            "sampled coverage needs a random generator and at least one first state: pass rng, "
            "and sample=1 or more"
        )
    drawn = rng.choice(starts, size=sample, replace=sample > len(starts))
    options = Options(mdp_arrays(mdp), skills.arrays, skills.step_limit)
    return Coverage(sample_trees(options, drawn, lengths, mdp.n_marks, rng), drawn, exact=False)


@njit(cache=True, nogil=True)
def sample_trees(options, starts, lengths, n_marks, rng):
    """Run one tree of chains per first state.

    Args:
        options: `Options`.
        starts: int64 [n_starts].
        lengths: The longest chain.
        n_marks: The number of hidden marks of the world.
        rng: Generator.

    Returns:
        float64 [lengths, n_starts]: the fraction of states that are the last state of a chain.
    """
    mdp, policy, step_limit = options
    n = mdp.successors.shape[0]
    n_skills = policy.n_modes.shape[0]
    fractions = np.zeros((lengths, starts.shape[0]))
    states = np.empty(lengths + 1, np.int64)
    marks = np.zeros((lengths + 1, n_marks), np.uint8)
    next_skill = np.zeros(lengths, np.int64)
    seen = np.zeros((lengths, n), np.uint8)
    path = np.empty(step_limit + 1, np.int32)
    for i in range(starts.shape[0]):
        seen[:] = 0
        states[0] = starts[i]
        reset_marks(mdp.marks_in, starts[i], marks[0], rng)
        next_skill[:] = 0
        depth = 0
        while depth >= 0:
            if depth == lengths or next_skill[depth] == n_skills:
                depth -= 1
                continue
            z = next_skill[depth]
            next_skill[depth] += 1
            marked = marks[depth + 1]
            marked[:] = marks[depth]
            context = draw_context(policy, z, states[depth], rng)
            k = follow(
                mdp, policy, z, states[depth], context, step_limit, None, marked, rng, path, None
            )
            seen[depth, path[k]] = 1
            depth += 1
            states[depth] = path[k]
            if depth < lengths:
                next_skill[depth] = 0
        for length in range(lengths):
            fractions[length, i] = seen[length].sum() / n
    return fractions


@njit(cache=True, nogil=True)
def multiply_in(rows, q, product):
    """Compute product[x] *= sum_x' P_z(x' | x) q[x'] for a block of columns.

    Args:
        rows: `SparseRows`, P_z.
        q: float32 [n_states, n_columns].
        product: float32 [n_states, n_columns], updated.
    """
    indptr, indices, data = rows
    total = np.empty(q.shape[1], np.float32)
    for x in range(product.shape[0]):
        total[:] = 0
        for k in range(indptr[x], indptr[x + 1]):
            share = data[k]
            row = q[indices[k]]
            for j in range(total.shape[0]):
                total[j] += share * row[j]
        into = product[x]
        for j in range(total.shape[0]):
            into[j] *= total[j]


def _transition_rows(skills: Skills, z: int) -> SparseRows:
    """Return P_z(x' | x), averaged over the skill's modes."""
    mdp, n_modes = skills.mdp, skills.n_modes[z]
    dynamics = Dynamics(mdp.successors, mdp.probabilities)
    total = csr_array((mdp.n_states, mdp.n_states), dtype=np.float64)
    for mode in range(n_modes):
        skill = SkillMode(skills.policy_of(z, mode), skills.contexts[z], skills.step_limit)
        indptr, indices, data = transition_matrix(dynamics, skill)
        total += csr_array((data / n_modes, indices, indptr), shape=total.shape)
    return _sparse_rows(csr_array(total))


def _sparse_rows(matrix: csr_array) -> SparseRows:
    return SparseRows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32),
        matrix.data.astype(np.float32),
    )  # fmt: skip


def chain_coverage(
    matrices: Sequence[np.ndarray], starts: np.ndarray, lengths: int = LENGTHS
) -> np.ndarray:
    """Return the exact coverage of skills of which only P_z(x' | x) is known.

    Args:
        matrices: Per skill, float [n_states, n_states]: P_z(x' | x) in row x.
        starts: int [n_starts]: first states.
        lengths: The longest chain.

    Returns:
        float64 [lengths, n_starts].
    """
    rows = [_sparse_rows(csr_array(matrix)) for matrix in matrices]
    return _expected_coverage(rows, len(matrices[0]), starts, lengths)


def _expected_coverage(
    matrices: Sequence[SparseRows], n: int, starts: np.ndarray, lengths: int
) -> np.ndarray:
    covered = np.zeros((lengths, len(starts)))
    for first in range(0, n, BLOCK):
        columns = np.arange(first, min(first + BLOCK, n))
        q = np.ones((n, len(columns)), np.float32)
        q[columns, np.arange(len(columns))] = 0
        for length in range(lengths):
            product = np.ones_like(q)
            for rows in matrices:
                multiply_in(rows, q, product)
            q = product
            covered[length] += (1 - q[starts].astype(float)).sum(axis=1)
    return covered / n


# --------------------
#
# Coverage of real-valued variables: the share of equal-sized bins in which skills end

BINS = 10
"""Bins per dimension of a variable."""
MAX_BINS = 1_000_000


def binned_coverage(
    values: np.ndarray, low: np.ndarray, high: np.ndarray, bins: int = BINS
) -> float:
    """Return the share of equal-sized bins of a box that contain a value.

    Args:
        values: float [n, dimensions].
        low: Lower corner, [dimensions].
        high: Upper corner, [dimensions]; values outside are clipped to the nearest bin.
        bins: Bins per dimension.

    Raises:
        UserError: If the box is unbounded, or has too many bins.
    """
    low, high = np.asarray(low, float), np.asarray(high, float)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        raise UserError("coverage needs bounded variables")
    if bins ** len(low) > MAX_BINS:
        raise UserError(f"{bins} bins per dimension make more than {MAX_BINS:,} bins; use fewer")
    places = np.floor((values - low) / (high - low) * bins).astype(int).clip(0, bins - 1)
    codes = places @ (bins ** np.arange(len(low)))
    return len(np.unique(codes)) / bins ** len(low)


def coverage_by_variable(
    effects: Sequence[SkillEffects], skills: Skills, bins: int = BINS
) -> dict[str, float]:
    """Return, for each real-valued target, the share of its bins in which one of its skills ends.

    For skills without targets, every variable counts as a target. Unbounded variables are left out.
    """
    space, found = skills.world.space, {}
    for name, variable, at in zip(space.names, space.variables, space.slices, strict=True):
        ends = [e.ends[:, at] for e in effects if name in e.targets or not e.targets]
        if ends and not variable.is_finite and np.isfinite([*variable.low, *variable.high]).all():
            low, high = np.array(variable.low), np.array(variable.high)
            found[name] = binned_coverage(np.concatenate(ends), low, high, bins)
    return found
