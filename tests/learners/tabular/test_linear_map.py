"""phi(x) = W x: projections, gradient steps and the Lipschitz bound, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import skillfocus as sf
from problems import corridor_problem as setup
from problems import learn_rewards, reward
from skillfocus.learners.planning.estimators import (
    MEAN,
    SUM,
    LinearMap,
    ascend,
    project,
    project_from_mean,
)


def test_spectral_normalisation_keeps_phi_lipschitz(rng):
    _, problem = setup(sf.lsd(rate=0.05), n_skills=4)
    params = problem.initial_params(rng)
    assert np.linalg.svd(params[0][0, :4])[1][0] == pytest.approx(1.0, rel=1e-5)
    n = problem.mdp.n_states
    for _ in range(300):
        skill, path = rng.integers(4, size=1), rng.integers(n, size=(1, 2))
        learn_rewards(problem, params, skill, path, 0.05, rng)
        assert params[0][0, -2] == pytest.approx(params[0][0, :4].sum(axis=0), abs=1e-5)
    # one power iteration per step follows the largest singular value closely
    assert np.linalg.svd(params[0][0, :4])[1][0] == pytest.approx(1.0, abs=0.1)


def test_lsd_ascends_its_reward(rng):
    mdp, problem = setup(sf.focused(sf.lsd()))
    params = problem.initial_params(rng)
    picks = np.array([[mdp.number((0, 0)), mdp.number((0, 1))]])
    for _ in range(50):
        learn_rewards(problem, params, np.array([0]), picks, 0.1, rng)
    best = reward(mdp, problem, params, 0, (0, 0), (0, 1))
    assert best == pytest.approx(math.sqrt(2), rel=1e-3)  # W = (1, -1) / sqrt 2


def test_a_projection_by_hand():
    """Two skills: z = (1, -1). W = ((1, 2), (3, 5)), a move by (2, 1): (1 - 3) 2 + (2 - 5) 1 = -7."""
    params = np.zeros((1, 6, 2), dtype=np.float32)
    params[0, :2] = [[1, 2], [3, 5]]
    params[0, SUM] = [4, 7]  # the sum of the rows
    params[0, MEAN] = [1, 0]
    points = np.array([[0.0, 0.0], [2.0, 1.0]])
    assert project(params, points, 0, 0, 1) == (-7.0,)
    assert project(params, points, 1, 0, 1) == (7.0,)
    assert project(params, points, 0, 1, 1) == (0.0,)
    assert project_from_mean(params, points, 0, 0, 1) == (-5.0,)  # a move by (1, 1)


def test_a_gradient_step_by_hand():
    """One dimension, W = (0.6, -0.8), a step of 0.5 on a move by 1 for skill 0: (1.1, -1.3), then
    divided by its norm sqrt(1.1^2 + 1.3^2), which is the largest singular value of one column."""
    params = np.array([[[0.6], [-0.8], [0.5], [1.0], [-0.2], [0.0]]], dtype=np.float32)
    ascend(params, np.array([[0.0], [1.0]]), 0, 0, 1, 0.5)
    norm = math.hypot(1.1, 1.3)
    assert params[0, :2, 0] == pytest.approx([1.1 / norm, -1.3 / norm], rel=1e-6)
    assert params[0, SUM, 0] == pytest.approx(-0.2 / norm, rel=1e-5)


def test_initial_directions_add_up_to_nothing_and_are_orthonormal(rng):
    params = LinearMap().init(6, 1, rng.random((9, 2)), rng)
    weights = params[0, :6]
    assert weights.sum(axis=0) == pytest.approx([0, 0], abs=1e-6)
    assert weights.T @ weights == pytest.approx(np.eye(2), abs=1e-6)
    assert LinearMap().log_prior(params) is None
