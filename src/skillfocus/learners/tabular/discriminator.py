"""Skill discriminators d(z | value, start) as exponentially weighted moving averages.

After skill z was seen at (start, value), d there moves towards z by the weight w (appendix):
d(z') <- (1 - w) d(z') + w [z' = z]. The parameters hold log d, and log nu beside it:

  dense   params[z, value, start] = log d, params[z, V, start] = log nu, V the number of values
  sparse  where start x value pairs would not fit: an open-addressing table of the pairs seen,
          params[z, slot, 0] = log d, with the pair's key in the last two rows; pairs not in it
          are uniform. A full neighbourhood forgets its first entry, so memory is bounded.

The initial d is random, because skills that start out equal stay equal (a uniform start is
available): a Dirichlet draw per entry, its largest share given to the entry's owner. Values are
dealt out to owners in turn, counted from the start's own value, so that the skill that stays
where it is does so from every start, and with as many skills as values each gets one. A skill
that owned nothing would earn less than nothing wherever it ended, and with a discount it would
put off ending for ever.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from skillfocus.learners.tabular.compiled import reward_function, update_function
from skillfocus.objectives.objective import Init

LOWEST = 1e-4
"""No skill's probability is taken to be less, so that log d stays finite."""
SPARSE_SLOTS = 1 << 20
PROBES = 16
PRIOR_RATE = 0.01
_SPLIT = 1 << 12


def initial(random: bool) -> Init:
    """Dense parameters before learning: random or uniform d, uniform nu."""

    def init(n: int, n_starts: int, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n_values = len(values)
        params = np.full((n, n_values + 1, n_starts), -math.log(n), dtype=np.float32)
        if random:
            owner = deal(n, n_values, rng)
            starts = np.arange(n_starts)
            for value in range(n_values):
                d = rng.standard_exponential((n, n_starts), dtype=np.float32)
                d /= d.sum(axis=0)
                mine, largest = owner[(value - starts) % n_values], d.argmax(axis=0)
                held = d[mine, starts]
                d[mine, starts] = d[largest, starts]
                d[largest, starts] = held
                params[:, value] = np.log(np.maximum(d, LOWEST))
        return params

    return init


def deal(n: int, n_values: int, rng: np.random.Generator) -> np.ndarray:
    """An owner for each value, all skills in turn, in random order."""
    rounds = -(-n_values // n)
    return np.concatenate([rng.permutation(n) for _ in range(rounds)])[:n_values]


def initial_sparse(
    n: int, n_starts: int, values: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """An empty sparse table: every pair is uniform until it is seen."""
    del n_starts, values, rng
    params = np.zeros((n + 2, SPARSE_SLOTS, 1), dtype=np.float32)
    params[n:] = -1.0
    return params


@reward_function
def log_ratio(params, values, skill, start, value):
    """log d(z | value, start) - log nu(z | start)"""
    return params[skill, value, start] - params[skill, values.shape[0], start]


@njit(cache=True, nogil=True)
def move(params, n, skill, row, column, rate):
    """d <- (1 - rate) d + rate [this skill], in one place"""
    for k in range(n):
        d = (1.0 - rate) * math.exp(params[k, row, column])
        if k == skill:
            d += rate
        params[k, row, column] = math.log(max(d, LOWEST))


@update_function
def ewma(params, values, skill, start, value, rate):
    move(params, params.shape[0], skill, value, start, rate)


@njit(cache=True, nogil=True)
def find(params, n_values, start, value):
    """The slot of a pair in a sparse table; -1 if it is not there."""
    key = start * n_values + value
    slots = params.shape[1]
    place = (key * 2654435761) % slots
    for probe in range(PROBES):
        slot = (place + probe) % slots
        if params[-2, slot, 0] == key // _SPLIT and params[-1, slot, 0] == key % _SPLIT:
            return slot
    return -1


@njit(cache=True, nogil=True)
def insert(params, n_values, start, value):
    """Take a slot for a pair not yet in a sparse table, uniform to begin with."""
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


@reward_function
def sparse_log_ratio(params, values, skill, start, value):
    slot = find(params, values.shape[0], start, value)
    return 0.0 if slot < 0 else params[skill, slot, 0] + math.log(params.shape[0] - 2.0)


@update_function
def sparse_ewma(params, values, skill, start, value, rate):
    slot = find(params, values.shape[0], start, value)
    if slot < 0:
        slot = insert(params, values.shape[0], start, value)
    move(params, params.shape[0] - 2, skill, slot, 0, rate)


@update_function
def ewma_and_prior(params, values, skill, start, value, rate):
    """`ewma`, after one step of exponentiated gradient on nu(.|start): the skill's share grows
    with its reward (the last line of Algorithm 1)."""
    n_values = values.shape[0]
    n = params.shape[0]
    params[skill, n_values, start] += PRIOR_RATE * log_ratio(params, values, skill, start, value)
    total = 0.0
    for k in range(n):
        total += max(math.exp(params[k, n_values, start]), LOWEST)
    for k in range(n):
        share = max(math.exp(params[k, n_values, start]), LOWEST) / total
        params[k, n_values, start] = math.log(share)
    ewma(params, values, skill, start, value, rate)
