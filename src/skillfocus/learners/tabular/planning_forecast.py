"""What planning costs: cells swept, times the time that a sweep takes on this machine."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skillfocus._internal.threads import usable_cores
from skillfocus.core.mdp import TabularMDP
from skillfocus.learners.base import Problem
from skillfocus.learners.forecast import Forecast
from skillfocus.learners.tabular import lean_model, problem_builder
from skillfocus.learners.tabular.parts import independent_parts, part_of_problem
from skillfocus.learners.tabular.product_model import MANY_OUTCOMES, WIDTH, product_model
from skillfocus.learners.tabular.sweeps import Backup, new_stamps, sweep
from skillfocus.learners.tabular.value_iteration import BLOCK

if TYPE_CHECKING:
    from skillfocus.learners.tabular.planning import Planning

TYPICAL_SWEEPS = 40
"""Sweeps until values change no more: 20 in MiniGrid's UnlockPickup, 58 in a slippery maze."""
PROGRAM_BYTES = 200_000_000
"""Memory of Python with its libraries and compiled code."""
QUICK_SECONDS = 5.0
"""What would take less at `QUICK_RATE` is not timed."""
QUICK_RATE = 4e8
"""Cells times actions times outcomes per second, on a slow machine."""
SAMPLE_CELLS = 4_000_000
"""Cells that are swept once to see how long that takes."""


def forecast_planning(planning: Planning, problem: Problem) -> Forecast:
    """Return what learning a problem by planning will cost."""
    mdp = problem.mdp
    if not planning.memory:
        parts, lean = [[1] * len(problem.assignment)], False
    else:
        whole = problem_builder.context_counts(problem)
        lean = mdp.n_states * sum(whole) > problem_builder.MAX_CELLS
        members = independent_parts(problem) if lean else []
        parts = [problem_builder.context_counts(part_of_problem(problem, m)) for m in members]
        parts = parts or [whole]
    updates = sum(count_updates(planning, mdp, widths, lean) for widths in parts)
    cores = usable_cores() if lean or mdp.successors.shape[2] >= MANY_OUTCOMES else 1
    return Forecast(
        mdp.n_states,
        mdp.n_states * sum(map(sum, parts)),
        count_bytes(mdp, parts, lean),
        updates * _seconds_per_cell(mdp, updates) / cores,
    )


def count_updates(planning: Planning, mdp: TabularMDP, widths: Sequence[int], lean: bool) -> float:
    """Return how many cells planning sweeps for some skills, each sweep of a cell counted.

    Args:
        planning: The learner.
        mdp: The MDP.
        widths: Per skill, how many contexts it has.
        lean: Whether memory is spared, and values are kept only where they fit.
    """
    solution = min(planning.final_sweeps, TYPICAL_SWEEPS)
    kept = planning.warm_start and not (
        lean and mdp.n_states * sum(widths) > lean_model.KEPT_VALUES
    )
    contexts = 0.0
    for width in widths:
        crowded = width > planning.rollouts
        drawn = -width * math.expm1(-planning.rollouts / width) if crowded else width
        later = planning.sweeps * (-(-width // planning.rollouts) if crowded else 1)
        later = min(later, solution) if kept else solution
        contexts += solution * drawn + (planning.rounds - 1) * later * drawn + solution * width
    return mdp.n_states * contexts


def count_bytes(mdp: TabularMDP, parts: Sequence[Sequence[int]], lean: bool) -> int:
    """Return the peak memory of planning.

    Args:
        mdp: The MDP.
        parts: Per part that is learned on its own, its skills' numbers of contexts.
        lean: Whether memory is spared.
    """
    n, outcomes = mdp.n_states, mdp.successors.size
    dynamics = 40 * outcomes + 4 * len(mdp.space) * n
    tables = max(4 * max(widths) ** 2 for widths in parts)
    if not lean:
        return PROGRAM_BYTES + dynamics + tables + 5 * n * sum(map(sum, parts))
    values = max(4 * n * sum(w) if n * sum(w) <= lean_model.KEPT_VALUES else 0 for w in parts)
    rounds = usable_cores() * 12 * n * BLOCK
    packed = n * sum(map(sum, parts)) // 16
    return PROGRAM_BYTES + dynamics + tables + values + rounds + packed


def _seconds_per_cell(mdp: TabularMDP, updates: float) -> float:
    """Return how long it takes to sweep a cell once, measured if it matters."""
    guess = mdp.successors.shape[1] * mdp.successors.shape[2] / QUICK_RATE
    if updates * guess < QUICK_SECONDS:
        return guess
    factors = product_model(mdp)
    width = WIDTH if factors else min(BLOCK, max(8, SAMPLE_CELLS // mdp.n_states))
    values = np.zeros((mdp.n_states, width), np.float32)
    if factors:
        scratch = factors.scratch(width)
        return _time(lambda: factors.expected(values, scratch)) / values.size
    outcomes = mdp.successors.shape[2]
    padding = ((0, 0), (0, 0), (0, -outcomes % 4 if outcomes > 1 else 0))
    zero, one = np.float32(0), np.float32(1)
    backup = Backup(
        np.ascontiguousarray(np.pad(mdp.successors, padding)),
        np.pad(mdp.probabilities, padding).astype(np.float32),
        np.zeros(mdp.successors.shape[:2], np.float32), one, one, zero, one,
    )  # fmt: skip
    return (
        _time(lambda: sweep(values, values.copy(), backup, False, new_stamps(len(values)), 0))
        / values.size
    )


def _time(run) -> float:
    """Return the shorter of two runs' times, in seconds of computing; the first one compiles."""
    times = []
    for _ in range(3):
        began = time.thread_time()
        run()
        times.append(time.thread_time() - began)
    return min(times[1:])
