"""Estimators: what supplies the arguments of a reward formula, in arrays.

An objective declares what its formula reads (`objectives/objective.py`); `tabular_estimator` finds
the estimator that supplies it here. To supply another declaration, register a function for its
type, or let the declaration itself have the methods of an `Estimator`:

    @tabular_estimator.register
    def _(estimate: MyEstimate, n_entries: int) -> Estimator: ...
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Protocol, runtime_checkable

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.core.types import FunctionType
from numba.core.typing.templates import Signature

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.objectives.objective import (
    Discriminator,
    FunctionEstimate,
    Representation,
    ValueNumbers,
    no_parameters,
)

# -------------------- Compiling formulas and estimators to fixed signatures
#
# Kernels call them through pointers, so that a kernel is compiled once, and cached on disk,
# whatever the objective. A call through a pointer costs as much as dozens of rewards, so rewards
# are asked for by the row: of one component at one value, for many starts.

PARAMS = types.Array(types.float32, 3, "C")
COORDINATES = types.Array(types.float64, 2, "C")
FLOATS = types.Array(types.float32, 1, "C")
STARTS = types.Array(types.uint32, 1, "C")
_ARGUMENTS = (PARAMS, COORDINATES, types.int64, types.int64, types.int64)
REWARD = types.float64(*_ARGUMENTS)
"""`reward(params, coordinates, component, start, value) -> float`"""
UPDATE = types.void(*_ARGUMENTS, types.float64)
"""`update(params, coordinates, component, start, value, rate)`, in place"""
ROW = types.void(*_ARGUMENTS[:4], STARTS, FLOATS)
"""`row(params, coordinates, component, value, starts, out)`: out[start] = reward for each start"""
ROW_POINTER = FunctionType(ROW)
UPDATE_POINTER = FunctionType(UPDATE)

_compiled: dict[tuple, Callable] = {}


def update_function(function: Callable) -> Callable:
    """Compile a built-in update, cached on disk."""
    return njit(UPDATE, cache=True, nogil=True)(function)


@update_function
def _no_update(params, coordinates, component, start, value, rate):
    """For estimators that learn nothing."""


def compiled_update(update: Callable | None) -> Callable:
    """Return an estimator's update, compiled."""
    return _no_update if update is None else compile_function(update, UPDATE)


def compiled_reward(formula: Callable, predict: Callable) -> Callable:
    """Return `reward(params, coordinates, component, start, value)`, compiled."""
    key = (formula, predict, REWARD)
    if key not in _compiled:
        evaluate, estimate = compile_function(formula), compile_function(predict)

        def reward(params, coordinates, component, start, value):
            return evaluate(*estimate(params, coordinates, component, start, value))

        _compiled[key] = _compile(reward, REWARD, f"the formula {formula.__name__}")
    return _compiled[key]


def compiled_row(formula: Callable, predict: Callable) -> Callable:
    """Return `row(params, coordinates, component, value, starts, out)`, compiled."""
    key = (formula, predict, ROW)
    if key not in _compiled:
        evaluate, estimate = compile_function(formula), compile_function(predict)

        def row(params, coordinates, component, value, starts, out):
            for i in range(starts.shape[0]):
                start = np.int64(starts[i])
                out[starts[i]] = evaluate(*estimate(params, coordinates, component, start, value))

        _compiled[key] = _compile(row, ROW, f"the formula {formula.__name__}")
    return _compiled[key]


def compile_function(function: Callable, signature: Signature | None = None) -> Callable:
    """Return a function compiled; functions that are compiled already pass through.

    Raises:
        UserError: If it uses what cannot be compiled.
    """
    if hasattr(function, "py_func"):
        return function
    key = (function, signature)
    if key not in _compiled:
        _compiled[key] = _compile(function, signature, function.__name__)
    return _compiled[key]


def _compile(function: Callable, signature: Signature | None, name: str) -> Callable:
    try:
        return (
            njit(nogil=True)(function)
            if signature is None
            else njit(signature, nogil=True)(function)
        )
    except (NumbaError, TypeError, NotImplementedError) as error:
        raise UserError(
            f"{name} cannot be compiled ({_reason(error)}): take the arguments that its estimate "
            f"gives, use numbers and array elements only, and return a number"
        ) from None


def _reason(error: Exception) -> str:
    """Return the line of Numba's message that says most: its first ones name the compiler's
    steps, its last ones the place."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # Numba colours it if colorama is installed
    lines = [line.strip() for line in plain.splitlines()]
    telling = [
        line
        for line in lines
        if line and not line.startswith(("Failed in nopython", "During:", "File ", ">>>", "def "))
    ]
    return (telling or lines or [type(error).__name__])[0]


# --------------------
#
# Skill discriminators q(z | value, start) as exponentially weighted moving averages
#
# After skill z was seen at (start, value), q there moves towards z by the weight w (appendix):
#
#     q(z') <- (1 - w) q(z') + w [z' = z]
#
# The parameters hold log q, and log nu beside it:
#
#     dense    params[z, value, start] = log q, params[z, V, start] = log nu, V the number of values
#     sparse   where start x value pairs would not fit: an open-addressing hash table of the pairs
#              seen, params[z, slot, 0] = log q, with the pair's key in the last two rows; pairs not
#              in it are uniform. A full neighbourhood drops its first entry, so memory is bounded.
#
# The initial q is random, because skills that start out equal stay equal (a uniform q is
# available). Values are assigned to owners round-robin, counted from the start's own value, so that
# the skill that stays where it is does so from every start, and with as many skills as values each
# owns one. A skill that owned no value would have a negative reward everywhere. The owner's share
# of an entry is uniform in [1/2, 1]; what it leaves is split among the others at random. Two skills
# that share a value get 1/2 each: with less, an owner would rather share another's value than reach
# its own, which then nobody visits and nothing teaches.

LOWEST = 1e-4
"""Smallest probability of a skill, so that log q stays finite."""
SPARSE_SLOTS = 1 << 20
PROBES = 16
PRIOR_RATE = 0.01
_SPLIT = 1 << 12
"""Keys are stored as two float32 numbers, quotient and remainder of this, to be exact."""


class UniformPrior:
    """Part of estimators that leave the prior nu uniform."""

    def log_prior(self, params: np.ndarray) -> np.ndarray | None:
        """Return None: the prior is uniform."""
        del params
        return None


@njit(cache=True, nogil=True)
def _move(params, n, component, row, column, rate):
    """q <- (1 - rate) q + rate [component], in one entry."""
    # Adding logarithms is ten times as fast with the hundred modes of scattered skills.
    q = (1.0 - rate) * math.exp(params[component, row, column]) + rate
    lowest, shrink = math.log(LOWEST), math.log(max(1.0 - rate, LOWEST))
    for k in range(n):
        params[k, row, column] = max(params[k, row, column] + shrink, lowest)
    params[component, row, column] = math.log(q)


# ---------------------------------------------------------------------- dense


@njit(cache=True, nogil=True)
def predict_dense(params, coordinates, component, start, value):
    """log q(z | value, start), log nu(z | start)"""
    return params[component, value, start], params[component, coordinates.shape[0], start]


@update_function
def ewma(params, coordinates, component, start, value, rate):
    """Move q(. | value, start) towards the component."""
    _move(params, params.shape[0], component, value, start, rate)


@update_function
def ewma_and_prior(params, coordinates, component, start, value, rate):
    """`ewma`, after one step of exponentiated gradient on nu(. | start): the skill's share grows
    with its reward (the last line of Algorithm 1)."""
    n, nu = params.shape[0], coordinates.shape[0]
    log_ratio = params[component, value, start] - params[component, nu, start]
    params[component, nu, start] += PRIOR_RATE * log_ratio
    total = 0.0
    for k in range(n):
        total += max(math.exp(params[k, nu, start]), LOWEST)
    for k in range(n):
        share = max(math.exp(params[k, nu, start]), LOWEST) / total
        params[k, nu, start] = math.log(share)
    _move(params, n, component, value, start, rate)


@dataclass(frozen=True)
class DenseDiscriminator:
    """log q and log nu for every component, value and start.

    Attributes:
        random_init: Whether q starts random; otherwise it starts uniform.
        learns_prior: Whether nu is learned; otherwise it stays as it is.
        prior: Probability of each component under nu at first (default: uniform).
        owned_share: Smallest initial probability of a value's owner.
    """

    random_init: bool = True
    learns_prior: bool = False
    prior: float | None = None
    owned_share: float = 0.5
    predict = staticmethod(predict_dense)

    @property
    def update(self) -> Callable:
        """Moving average, with the prior if it is learned."""
        return ewma_and_prior if self.learns_prior else ewma

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return float32 [n_components, n_values + 1, n_starts]."""
        n, n_values = n_components, len(coordinates)
        params = np.full((n, n_values + 1, n_starts), -math.log(n), dtype=np.float32)
        if self.prior is not None:
            params[:, n_values] = math.log(self.prior)
        if self.random_init:
            owner = assign_owners(n, n_values, rng)
            starts = np.arange(n_starts)
            for value in range(n_values):
                q = rng.standard_exponential((n, n_starts), dtype=np.float32)
                mine = owner[(value - starts) % n_values]
                share = rng.uniform(self.owned_share, 1.0, n_starts)
                q[mine, starts] = 0.0
                q *= (1.0 - share) / np.maximum(q.sum(axis=0), LOWEST)
                q[mine, starts] = share
                params[:, value] = np.log(np.maximum(q, LOWEST))
        return params

    def swap(self, params: np.ndarray, one: int, other: int) -> None:
        """Let two components change places, in place."""
        params[[one, other]] = params[[other, one]]

    def log_prior(self, params: np.ndarray) -> np.ndarray | None:
        """Return log nu, float32 [n_components, n_starts]; None if it is uniform."""
        return params[:, -1] if self.learns_prior else None


def assign_owners(n: int, n_values: int, rng: np.random.Generator) -> np.ndarray:
    """Return an owner for each value, int [n_values]: all n round-robin, in random order."""
    rounds = -(-n_values // n)
    return np.concatenate([rng.permutation(n) for _ in range(rounds)])[:n_values]


# ---------------------------------------------------------------------- sparse


@njit(cache=True, nogil=True)
def find_slot(params, n_values, start, value):
    """Return the slot of a (start, value) pair; -1 if it is not in the table."""
    key = start * n_values + value
    slots = params.shape[1]
    place = (key * 2654435761) % slots
    for probe in range(PROBES):
        slot = (place + probe) % slots
        if params[-2, slot, 0] == key // _SPLIT and params[-1, slot, 0] == key % _SPLIT:
            return slot
    return -1


@njit(cache=True, nogil=True)
def insert_pair(params, n_values, start, value):
    """Return a slot for a pair that is not in the table yet, uniform to begin with."""
    key = start * n_values + value
    slots = params.shape[1]
    n = params.shape[0] - 2
    slot = place = (key * 2654435761) % slots
    for probe in range(PROBES):
        if params[-1, (place + probe) % slots, 0] < 0:
            slot = (place + probe) % slots
            break
    for k in range(n):
        params[k, slot, 0] = -math.log(n)
    params[-2, slot, 0] = key // _SPLIT
    params[-1, slot, 0] = key % _SPLIT
    return slot


@njit(cache=True, nogil=True)
def predict_sparse(params, coordinates, component, start, value):
    """log q(z | value, start), log nu(z); pairs never seen are uniform."""
    log_nu = -math.log(params.shape[0] - 2.0)
    slot = find_slot(params, coordinates.shape[0], start, value)
    return (log_nu if slot < 0 else np.float64(params[component, slot, 0])), log_nu


@update_function
def sparse_ewma(params, coordinates, component, start, value, rate):
    """Move q(. | value, start) towards the component."""
    slot = find_slot(params, coordinates.shape[0], start, value)
    if slot < 0:
        slot = insert_pair(params, coordinates.shape[0], start, value)
    _move(params, params.shape[0] - 2, component, slot, 0, rate)


def require_slots(n_components: int) -> None:
    """Raise a `UserError` if a sparse discriminator of so many skills does not fit in memory."""
    require_memory(
        4 * (n_components + 2) * SPARSE_SLOTS, f"discriminators of {n_components:,} skills",
        "ask for fewer skills",
    )  # fmt: skip


@dataclass(frozen=True)
class SparseDiscriminator(UniformPrior):
    """log q for the pairs of start and value that were seen, in a hash table; nu is uniform."""

    predict = staticmethod(predict_sparse)
    update = staticmethod(sparse_ewma)

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return an empty table, float32 [n_components + 2, SPARSE_SLOTS, 1]."""
        del n_starts, coordinates, rng
        require_slots(n_components)
        params = np.zeros((n_components + 2, SPARSE_SLOTS, 1), dtype=np.float32)
        params[n_components:] = -1.0
        return params


# --------------------
#
# phi(x) = W x: a 1-Lipschitz linear map of the variables' coordinates, for LSD
#
#     <phi(s_T) - phi(s_0), z>
#
# A policy that does not see its start is rewarded for the change expected over all starts, which
# for a linear map is the change from their mean. z is a centred one-hot vector: 1 for the skill, -1
# / (K - 1) for the K - 1 others. W follows the gradient of the reward by SGD; after each step it is
# divided by its largest singular value (estimated by one power iteration), so that phi is
# 1-Lipschitz in the coordinates.
#
# params[0] holds the K rows of W, then the mean of all coordinates, the power iteration's vector,
# the sum of W's rows, and a row of working space.

MEAN, VECTOR, SUM, WORK = -4, -3, -2, -1
"""Rows of params[0] after those of W."""


@njit(cache=True, nogil=True)
def _project(params, component, origin, point):
    n = params.shape[1] - 4
    other = -1.0 / (n - 1) if n > 1 else 0.0
    total = 0.0
    for j in range(point.shape[0]):
        direction = params[0, component, j] * (1.0 - other) + other * params[0, SUM, j]
        total += direction * (point[j] - origin[j])
    return (total,)


@njit(cache=True, nogil=True)
def project(params, coordinates, component, start, value):
    """<W (x_value - x_start), z>"""
    return _project(params, component, coordinates[start], coordinates[value])


@njit(cache=True, nogil=True)
def project_from_mean(params, coordinates, component, start, value):
    """<W (x_value - mean x), z>"""
    return _project(params, component, params[0, MEAN], coordinates[value])


@njit(cache=True, nogil=True)
def _ascend(params, coordinates, component, origin, value, rate):
    n = params.shape[1] - 4
    other = -1.0 / (n - 1) if n > 1 else 0.0
    dim = coordinates.shape[1]
    w = params[0]
    square = length = 0.0
    for j in range(dim):
        change = rate * (coordinates[value, j] - origin[j])
        for k in range(n):
            w[k, j] += change * (1.0 if k == component else other)
        w[SUM, j] = w[WORK, j] = 0.0
    for k in range(n):  # with v of length 1: u = W v, |u| is about sigma, the next v is W^T u
        u = 0.0
        for j in range(dim):
            u += w[k, j] * w[VECTOR, j]
        square += u * u
        for j in range(dim):
            w[WORK, j] += u * w[k, j]
    for j in range(dim):
        length += w[WORK, j] ** 2
    sigma, length = math.sqrt(square), math.sqrt(length)
    if sigma > 1e-12 and length > 1e-12:
        for j in range(dim):
            w[VECTOR, j] = w[WORK, j] / length
            for k in range(n):
                w[k, j] /= sigma
    for j in range(dim):
        for k in range(n):
            w[SUM, j] += w[k, j]


@update_function
def ascend(params, coordinates, component, start, value, rate):
    """Ascend the projection's gradient, then divide W by its largest singular value."""
    _ascend(params, coordinates, component, coordinates[start], value, rate)


@update_function
def ascend_from_mean(params, coordinates, component, start, value, rate):
    """`ascend` for `project_from_mean`."""
    _ascend(params, coordinates, component, params[0, MEAN], value, rate)


@dataclass(frozen=True)
class LinearMap(UniformPrior):
    """The projection of a group's change on each component's direction.

    Attributes:
        from_mean: Whether the change is from the mean of all values instead of the start.
    """

    from_mean: bool = False

    @property
    def predict(self) -> Callable:
        """The projection."""
        return project_from_mean if self.from_mean else project

    @property
    def update(self) -> Callable:
        """Gradient ascent on it."""
        return ascend_from_mean if self.from_mean else ascend

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return float32 [1, n_components + 4, n_dimensions].

        Directions are random, centred and isotropic. Otherwise skills that share a direction push
        the others away from it, and some directions end up with no skill.
        """
        del n_starts
        weights = rng.standard_normal((n_components, coordinates.shape[1]))
        if n_components > 1:
            weights -= weights.mean(axis=0)
        left, singular, right = np.linalg.svd(weights, full_matrices=False)
        proper = singular > 1e-9
        weights = left[:, proper] @ right[proper]
        mean, zeros = coordinates.mean(axis=0), np.zeros(coordinates.shape[1])
        rows = [*weights, mean, right[0], weights.sum(axis=0), zeros]
        return np.array([rows], dtype=np.float32)

    def swap(self, params: np.ndarray, one: int, other: int) -> None:
        """Let two components change places, in place."""
        params[0, [one, other]] = params[0, [other, one]]


# --------------------
#
# phi(x) = W f_x: a table of a variable's values, 1-Lipschitz in their indicators, for LSD
#
#     <phi(s_T) - phi(s_0), z> = c z^T (W[:, value] - W[:, start])
#
# f_x = c e_x with e_x the indicator of value x. Two values are c sqrt 2 apart, the root mean square
# distance of the variable's coordinates, so that rewards are as large as with `LinearMap`. As
# there, z is a centred one-hot vector and W follows the gradient of the reward; a singular value
# that exceeds 1 is set to 1, which leaves the other directions as they are.
#
# Of all W with singular values of at most 1, those that send components to values of their own earn
# the most: two that share a value share a singular vector, and get 1 / sqrt 2 each instead of 1.
# The gradient does not see values that nobody visits, so W starts as such an assignment, in random
# order.
#
# params[0] holds the K rows of W, then their sum, and c.

TOTAL, SCALE = -2, -1
"""Rows of params[0] after those of W."""


@njit(cache=True, nogil=True)
def project_value(params, coordinates, component, start, value):
    """c z^T (W[:, value] - W[:, start])"""
    n = params.shape[1] - 2
    other = -1.0 / (n - 1) if n > 1 else 0.0
    w = params[0]
    own = w[component, value] - w[component, start]
    total = own * (1.0 - other) + other * (w[TOTAL, value] - w[TOTAL, start])
    return (w[SCALE, 0] * total,)


@update_function
def ascend_value(params, coordinates, component, start, value, rate):
    """Ascend the projection's gradient, then set a singular value above 1 to 1.

    Only directions near the gradient's can exceed 1, so one power iteration begins there.
    """
    if value == start:
        return
    n = params.shape[1] - 2
    other = -1.0 / (n - 1) if n > 1 else 0.0
    w = params[0]
    step = rate * w[SCALE, 0]
    u = np.empty(n, np.float32)
    v = np.zeros(params.shape[2], np.float32)
    for k in range(n):
        change = np.float32(step * (1.0 if k == component else other))
        w[k, value] += change
        w[k, start] -= change
        u[k] = w[k, value] - w[k, start]
    for k in range(n):
        v += u[k] * w[k]
    v /= np.float32(math.sqrt((v * v).sum()) + 1e-12)
    square = 0.0
    for k in range(n):
        u[k] = (w[k] * v).sum()
        square += u[k] * u[k]
    if square > 1.0:
        excess = np.float32(1.0 - 1.0 / math.sqrt(square))
        for k in range(n):
            w[k] -= excess * u[k] * v
        w[TOTAL] -= excess * u.sum() * v  # z sums to 0: the gradient does not change it


@dataclass(frozen=True)
class ValueMap(UniformPrior):
    """The projection of a change of value on each component's direction."""

    predict = staticmethod(project_value)
    update = staticmethod(ascend_value)

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return float32 [1, n_components + 2, n_values]."""
        del n_starts
        n, n_values = n_components, len(coordinates)
        weights = np.zeros((n, n_values))
        if n <= n_values:
            weights[assign_owners(n, n_values, rng), np.arange(n_values)] = 1.0
        else:
            weights[np.arange(n), assign_owners(n_values, n, rng)] = 1.0
        weights /= np.linalg.norm(weights, 2)
        pairs = max(1, n_values - 1) / n_values  # the share of pairs of different values
        scale = math.sqrt(coordinates.var(axis=0).sum() / pairs)
        rows = [*weights, weights.sum(axis=0), np.full(n_values, scale)]
        return np.array([rows], dtype=np.float32)


DENSE_LIMIT = 120_000_000
"""Discriminators with more (component, start, value) entries are kept in a sparse table."""


@runtime_checkable
class Estimator(Protocol):
    """Parameters in an array, and compiled functions that read and update them.

    Attributes:
        predict: `predict(params, coordinates, component, start, value) -> tuple`, the formula's
            arguments. Plain Python or Numba; numbers and array elements only.
        update: `update(params, coordinates, component, start, value, rate)`, in place; None if
            nothing is learned.
    """

    @property
    def predict(self) -> Callable:
        """The estimate, as a function of parameters and indices."""
        ...

    @property
    def update(self) -> Callable | None:
        """Learning from one observation."""
        ...

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return initial parameters, float32 with three dimensions.

        Args:
            n_components: How many components skills have on the group.
            n_starts: How many different starts the reward can see.
            coordinates: float64 [n_values, n_dimensions], points of the group's values.
            rng: Source of random parameters.
        """
        ...

    def log_prior(self, params: np.ndarray) -> np.ndarray | None:
        """Return log nu(z | start), float32 [n_components, n_starts]; None if it is uniform."""
        ...


@singledispatch
def tabular_estimator(estimate: object, n_entries: int) -> Estimator:
    """Return the estimator that supplies what an objective declares.

    Args:
        estimate: The declaration.
        n_entries: Most (component, start, value) triples of any group.
    """
    del n_entries
    if not isinstance(estimate, Estimator):
        raise UserError(
            f"no tabular estimator is known for {type(estimate).__name__}: register one with "
            f"tabular_estimator.register, or give it init, predict, update and log_prior"
        )
    return estimate


@tabular_estimator.register
def _(estimate: Discriminator, n_entries: int) -> Estimator:
    if n_entries > DENSE_LIMIT and estimate.prior == "uniform":
        return SparseDiscriminator()
    prior = estimate.prior if isinstance(estimate.prior, float) else None
    return DenseDiscriminator(
        estimate.random_init, estimate.learns_prior, prior, estimate.owned_share
    )


@tabular_estimator.register
def _(estimate: Representation, n_entries: int) -> Estimator:
    del n_entries
    if estimate.features == "indicators":
        return ValueMap()
    return LinearMap(estimate.from_mean)


@njit(cache=True, nogil=True)
def _numbers(params, coordinates, component, start, value):
    return component, start, value


class NumberEstimator(UniformPrior):
    """Passes the component, the start and the value on."""

    predict = staticmethod(_numbers)
    update = None
    init = staticmethod(no_parameters)


@tabular_estimator.register
def _(estimate: ValueNumbers, n_entries: int) -> Estimator:
    del estimate, n_entries
    return NumberEstimator()


@dataclass(frozen=True)
class FunctionEstimator(UniformPrior):
    """An estimate of the user's, written as functions on arrays."""

    estimate: FunctionEstimate

    @property
    def predict(self) -> Callable:
        """The user's function, returning a tuple of one number."""
        predict = self.estimate.predict
        if (predict, tuple) not in _compiled:
            compiled = compile_function(predict, REWARD)

            @njit(nogil=True)
            def in_tuple(params, coordinates, component, start, value):
                return (compiled(params, coordinates, component, start, value),)

            _compiled[predict, tuple] = in_tuple
        return _compiled[predict, tuple]

    @property
    def update(self) -> Callable | None:
        """The user's update, if there is one."""
        return self.estimate.update

    def init(
        self, n_components: int, n_starts: int, coordinates: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the user's initial parameters."""
        return self.estimate.init(n_components, n_starts, coordinates, rng)


@tabular_estimator.register
def _(estimate: FunctionEstimate, n_entries: int) -> Estimator:
    del n_entries
    return FunctionEstimator(estimate)
