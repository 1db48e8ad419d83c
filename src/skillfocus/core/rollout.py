"""Running skills: the compiled steps that learners, skills and sampled metrics share.

Policies are one flat array of bytes. Skill z in context c does `policy[offset[z] + s * width[z]
+ c]` in state s; the action after the last move means "terminate". What a context is, is the
learner's business (`learners/problem.py`); here it is a number looked up from the first state. A
skill may have several modes: it draws one when it begins, as a part of its context.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from skillfocus.core.mdp import TabularMDP


class MDPArrays(NamedTuple):
    """What the kernels need of a tabular MDP."""

    successors: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]"""
    cumulative: np.ndarray
    """float64 [n_states, n_actions, n_outcomes]: running sums of the probabilities."""
    marks: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the hidden mark an outcome sets, or -1."""
    again: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the successor if that mark was set already."""
    marks_in: np.ndarray
    """int32 [n_states]: how many hidden marks are set."""


class PolicyArrays(NamedTuple):
    """What the kernels need of the policies of a set of skills."""

    actions: np.ndarray
    """uint8, flat: skill z takes `actions[offsets[z] + s * widths[z] + context]` in state s;
    n_actions means "terminate"."""
    offsets: np.ndarray
    """int64 [n_skills + 1]: where each skill's part begins, and where the last one ends."""
    widths: np.ndarray
    """int64 [n_skills]: columns of each policy, contexts times modes."""
    contexts: np.ndarray
    """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
    n_modes: np.ndarray
    """int64 [n_skills]: how many modes a skill draws from when it starts."""


def mdp_arrays(mdp: TabularMDP) -> MDPArrays:
    """What the kernels need of a table."""
    return MDPArrays(mdp.successors, mdp.cumulative, mdp.marks, mdp.again, mdp.marks_in)


@njit(cache=True, nogil=True)
def reset_marks(marks_in, s, marked, rng):
    """Set as many hidden marks as state s shows, at random places."""
    marked[:] = 0
    missing = marks_in[s]
    while missing > 0:
        k = int(rng.random() * marked.shape[0])
        if marked[k] == 0:
            marked[k] = 1
            missing -= 1


@njit(cache=True, nogil=True)
def outcome(arrays, s, a, marked, u):
    """One move, given its random number: mind the hidden marks, return (next state, outcome)."""
    successors, cumulative, marks, again, _ = arrays
    m = 0
    while u >= cumulative[s, a, m]:
        m += 1
    mark = marks[s, a, m]
    if mark >= 0:
        if marked[mark]:
            return again[s, a, m], m
        marked[mark] = 1
    return successors[s, a, m], m


@njit(cache=True, nogil=True)
def step(arrays, s, a, marked, rng):
    """One move: draw an outcome, return (next state, outcome drawn)."""
    return outcome(arrays, s, a, marked, rng.random())


@njit(cache=True, nogil=True)
def begin(skills, z, s, rng):
    """The context that skill z works in from s on: what it keeps of s, and the mode it draws."""
    _, _, _, contexts, modes = skills
    if modes[z] == 1:
        return contexts[z, s]
    return contexts[z, s] * modes[z] + int(rng.random() * modes[z])


@njit(cache=True, nogil=True)
def run_skill(arrays, skills, z, s, limit, marked, rng, path):
    """Follow one skill from s; `path` receives the states. Returns the number of steps."""
    policy, offsets, widths, _, _ = skills
    terminate = arrays[0].shape[1]
    reset_marks(arrays[4], s, marked, rng)
    context = begin(skills, z, s, rng)
    path[0] = s
    for t in range(limit):
        a = policy[offsets[z] + s * widths[z] + context]
        if a == terminate:
            return t
        s, _ = step(arrays, s, a, marked, rng)
        path[t + 1] = s
    return limit


@njit(cache=True, nogil=True)
def run_many(arrays, skills, chosen, starts, limit, n_marks, rng):
    """Run skill `chosen[i]` from `starts[i]`: paths [i, t] (the last state repeated) and steps."""
    n = chosen.shape[0]
    paths = np.empty((n, limit + 1), np.int32)
    steps = np.empty(n, np.int32)
    marked = np.zeros(n_marks, np.uint8)
    for i in range(n):
        t = run_skill(arrays, skills, chosen[i], starts[i], limit, marked, rng, paths[i])
        steps[i] = t
        for later in range(t + 1, limit + 1):
            paths[i, later] = paths[i, t]
    return paths, steps
