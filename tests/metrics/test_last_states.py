from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from probes import RandomWorld
from skill_sets import matrices, random_skills, walkers
from skillfocus.metrics.propagation import (
    SMALLEST,
    Dynamics,
    SkillMode,
    new_buffers,
    propagate,
    transition_matrix,
)


def mode_of(skills, z):
    dynamics = Dynamics(skills.mdp.successors, skills.mdp.probabilities)
    return dynamics, SkillMode(skills.policy_of(z), skills.contexts[z], skills.step_limit)


def test_two_steps_by_hand():
    """To the right with slip 0.3: each move succeeds with 0.7; a slip up or down stays (0.2), one
    to the left goes back (0.1) or, in the first cell, stays."""
    skills = walkers(limit=2, slip=0.3)
    mdp, buffers = skills.mdp, new_buffers(skills.mdp.n_states)
    steps = propagate(*mode_of(skills, 0), mdp.number((0, 0)), 1e-12, buffers)
    assert steps == pytest.approx(2.0)
    ends = {mdp.state(s): p for s, p in enumerate(buffers.final) if p > 0}
    assert ends == pytest.approx(
        {(0, 0): 0.3 * 0.3 + 0.7 * 0.1, (1, 0): 0.3 * 0.7 + 0.7 * 0.2, (2, 1): 0.49}
    )


def test_a_skill_that_stops_takes_no_step_and_leaves_the_buffers_clean():
    skills = walkers()
    buffers = new_buffers(skills.mdp.n_states)
    assert propagate(*mode_of(skills, 1), 3, 1e-12, buffers) == 0.0
    assert buffers.final.tolist() == [0, 0, 0, 1, 0, 0]
    assert not buffers.moved.any()


def test_steps_that_nothing_takes_cost_nothing():
    skills = walkers()
    dynamics, skill = mode_of(skills, 1)
    buffers, begin = new_buffers(skills.mdp.n_states), time.perf_counter()
    propagate(dynamics, skill._replace(step_limit=10**11), 3, 1e-12, buffers)
    assert buffers.final[3] == 1.0
    assert time.perf_counter() - begin < 10


@given(st.integers(0, 500))
def test_matrices_are_those_of_plain_repetition(seed):
    skills = random_skills(seed, RandomWorld(seed, sizes=(3, 2)))
    n = skills.mdp.n_states
    for z, wanted in enumerate(matrices(skills)):
        indptr, indices, data = transition_matrix(*mode_of(skills, z))
        assert data.dtype == np.float32
        assert (data > SMALLEST).all()
        got = csr_array((data, indices, indptr), shape=(n, n)).toarray()
        assert got == pytest.approx(wanted, abs=1e-6)
        assert got.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
