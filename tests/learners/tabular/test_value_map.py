"""phi(x) = W f_x: projections, gradient steps and the Lipschitz bound, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import skillfocus as sf
from problems import corridor_problem as setup
from skillfocus.learners.planning.estimators import ValueMap, ascend_value, project_value
from skillfocus.learners.planning.rewards import state_reward

CELLS = np.array([[0.0], [1.0], [2.0]])


def test_a_projection_by_hand():
    """z = (1, -1), c = 3, W = ((1, 2, 0), (3, 5, 0)); from value 0 to 1: 3 ((2 - 1) - (5 - 3))."""
    params = np.array([[[1, 2, 0], [3, 5, 0], [4, 7, 0], [3, 3, 3]]], dtype=np.float32)
    assert project_value(params, CELLS, 0, 0, 1) == (-3.0,)
    assert project_value(params, CELLS, 1, 0, 1) == (3.0,)
    assert project_value(params, CELLS, 0, 1, 1) == (0.0,)


def test_a_gradient_step_by_hand():
    """From W = 0 a step of 0.5 from value 0 to 1, with c = 2: rows (-1, 1, 0) and (1, -1, 0), whose
    singular value 2 is set to 1. One of 0.1 stays below 1, and is left as it is."""
    params = np.zeros((1, 4, 3), dtype=np.float32)
    params[0, 3] = 2.0
    small = params.copy()
    ascend_value(params, CELLS, 0, 0, 1, 0.5)
    assert params[0, :2] == pytest.approx(np.array([[-0.5, 0.5, 0], [0.5, -0.5, 0]]), abs=1e-6)
    ascend_value(small, CELLS, 0, 0, 1, 0.1)
    assert small[0, :2] == pytest.approx(np.array([[-0.2, 0.2, 0], [0.2, -0.2, 0]]), abs=1e-6)


def test_steps_keep_phi_lipschitz(rng):
    params = ValueMap().init(5, 1, rng.random((9, 2)), rng)
    for _ in range(500):
        component, (start, value) = rng.integers(5), rng.choice(9, 2, replace=False)
        ascend_value(params, np.zeros((9, 2)), component, start, value, 0.05)
    assert np.linalg.norm(params[0, :5], 2) == pytest.approx(1.0, abs=0.05)
    assert params[0, 5] == pytest.approx(params[0, :5].sum(axis=0), abs=1e-4)


def test_components_begin_with_values_of_their_own(rng):
    """Coordinates 0, 1, 2 have pairs 1, 1 and 2 apart: their mean square is 2, so c = 1."""
    params = ValueMap().init(3, 1, CELLS, rng)
    assert (params[0, :3] @ params[0, :3].T).tolist() == np.eye(3).tolist()
    assert params[0, 4] == pytest.approx(1.0)
    more = ValueMap().init(4, 1, CELLS[:2], rng)[0, :4]  # two to a value: 1 / sqrt 2 each
    assert np.sort(more.max(axis=1)) == pytest.approx([math.sqrt(0.5)] * 4)
    assert (more != 0).sum(axis=0).tolist() == [2, 2]


def test_a_middle_cell_can_be_the_best_only_in_indicators(rng):
    """Three cells in a row: a linear phi of the coordinate is largest at an end for any skill; an
    indicator's owner earns most in its own cell, the middle one too."""
    targets = {"position": 3, "tool_1": 2}
    for objective, interior in (
        (sf.focused(sf.lsd()), False),
        (sf.scattered(sf.focused(sf.lsd())), True),
    ):
        mdp, problem = setup(objective, targets)
        params = problem.initial_params(rng)
        best = [mdp.values[state_reward(problem, params, z)[:, 0].argmax(), 0] for z in range(3)]
        assert (1 in best) == interior
