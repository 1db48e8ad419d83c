"""Skill discriminators q(z | value, start) as exponentially weighted moving averages.

After skill z was seen at (start, value), q there moves towards z by the weight w (appendix):

    q(z') <- (1 - w) q(z') + w [z' = z]

The parameters hold log q, and log nu beside it:

    dense    params[z, value, start] = log q, params[z, V, start] = log nu, V the number of values
    sparse   where start x value pairs would not fit: an open-addressing hash table of the pairs
             seen, params[z, slot, 0] = log q, with the pair's key in the last two rows; pairs not
             in it are uniform. A full neighbourhood drops its first entry, so memory is bounded.

The initial q is random, because skills that start out equal stay equal (a uniform q is available).
Values are assigned to owners round-robin, counted from the start's own value, so that the skill
that stays where it is does so from every start, and with as many skills as values each owns one. A
skill that owned no value would have a negative reward everywhere. The owner's share of an entry is
uniform in [1/2, 1]; what it leaves is split among the others at random. Two skills that share a
value get 1/2 each: with less, an owner would rather share another's value than reach its own, which
then nobody visits and nothing teaches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skillfocus.compilation import njit
from skillfocus.learners.tabular.compiled import update_function
from skillfocus.machine import require_memory

LOWEST = 1e-4
"""Smallest probability of a skill, so that log q stays finite."""
MANY = 32
"""From so many components on, moving averages add logarithms."""
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
    if n < MANY:
        for k in range(n):
            q = (1.0 - rate) * math.exp(params[k, row, column])
            if k == component:
                q += rate
            params[k, row, column] = math.log(max(q, LOWEST))
        return
    # The same but for rounding, and ten times as fast with the hundred modes of scattered skills.
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
