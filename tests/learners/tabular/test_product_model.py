"""Sweeps by matrix products, against sums over outcomes in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import corridor_problem
from skillfocus.learners.planning import sweeps as module
from skillfocus.learners.planning.learner import Model
from skillfocus.learners.planning.rewards import state_reward
from skillfocus.learners.planning.sweeps import TOLERANCE, product_model
from skillfocus.mdp import TabularMDP
from skillfocus.spaces import Space, Variable

SIZES = (2, 3, 2)


@pytest.fixture(autouse=True)
def every_world(monkeypatch):
    monkeypatch.setattr(module, "MANY_OUTCOMES", 1)


def dense_mdp(matrix, sizes=SIZES):
    """An MDP from probabilities [n_states, n_actions, n_states] over all combinations."""
    n, n_actions, _ = matrix.shape
    space = Space(tuple(Variable(f"v{j}", tuple(range(size))) for j, size in enumerate(sizes)))
    values = np.array(list(np.ndindex(*sizes)), dtype=np.int32)[
        np.random.default_rng(3).permutation(n)
    ]
    successors = np.broadcast_to(np.arange(n, dtype=np.int32), matrix.shape).copy()
    return TabularMDP(
        space, values, successors, matrix, np.full_like(successors, -1), successors,
        np.zeros(n, np.int32), 0, tuple(f"a{i}" for i in range(n_actions)),
    )  # fmt: skip


def independent(rng, n_actions=3):
    """Probabilities under which each variable moves on its own; its factor depends on itself."""
    n = int(np.prod(SIZES))
    mdp = dense_mdp(np.zeros((n, n_actions, n)))
    matrix = np.ones((n, n_actions, n))
    for j, size in enumerate(SIZES):
        factor = rng.dirichlet(np.ones(size), size=(n_actions, size))
        for a in range(n_actions):
            matrix[:, a] *= factor[a][mdp.values[:, j]][:, mdp.values[:, j]]
    return dense_mdp(matrix)


def plain_expected(mdp, values):
    return np.einsum("sam,samc->sac", mdp.probabilities, values[mdp.successors].astype(float))


def test_independent_variables_are_multiplied_out(rng):
    mdp = independent(rng)
    model = product_model(mdp)
    assert model is not None
    assert model.states.shape in ((6, 2), (2, 6))
    assert len(model.rows) < mdp.n_states * mdp.n_actions / 2  # factors of one variable or two
    values = rng.normal(size=(mdp.n_states, 5)).astype(np.float32)
    got = model.expected(values)[model.place]
    assert got == pytest.approx(plain_expected(mdp, values), abs=1e-5)


def test_dependent_variables_are_not_taken_apart(rng):
    n = int(np.prod(SIZES))
    mdp = dense_mdp(rng.dirichlet(np.ones(n), size=(n, 2)))
    model = product_model(mdp)
    assert model is not None
    assert model.states.shape == (n, 1)
    values = rng.normal(size=(n, 3)).astype(np.float32)
    got = model.expected(values)[model.place]
    assert got == pytest.approx(plain_expected(mdp, values), abs=1e-5)


def test_a_little_dependence_is_seen(rng):
    mdp = independent(rng)
    matrix = mdp.probabilities.copy()
    matrix[4, 1, 0] += 1e-6
    matrix[4, 1, 1] -= 1e-6
    model = product_model(dense_mdp(matrix))
    assert model is not None
    assert model.states.shape == (mdp.n_states, 1)


def test_spaces_with_gaps_are_one_factor(rng):
    mdp = sf.tabulate(corridor())
    model = product_model(mdp)
    assert model is not None
    values = rng.normal(size=(mdp.n_states, 4)).astype(np.float32)
    assert model.expected(values)[model.place] == pytest.approx(
        plain_expected(mdp, values), abs=1e-5
    )


def test_few_outcomes_and_large_matrices_are_left_to_plain_sweeps(monkeypatch):
    mdp = sf.tabulate(corridor())
    monkeypatch.setattr(module, "MAX_MATRIX", mdp.n_states**2 * mdp.n_actions - 1)
    assert product_model(mdp) is None
    monkeypatch.setattr(module, "MAX_MATRIX", 10**6)
    monkeypatch.setattr(module, "MANY_OUTCOMES", mdp.successors.shape[2] + 1)
    assert product_model(mdp) is None


@pytest.mark.parametrize("objective", [
    sf.focused(sf.vic()), sf.focused(sf.diayn()), sf.dusdi(sf.vic())
])  # fmt: skip
def test_both_kinds_of_sweeps_find_the_same(monkeypatch, objective):
    """Enough steps for values to change no more: then the order of updates does not matter."""
    _, problem = corridor_problem(objective)
    object.__setattr__(problem, "step_limit", 4000)
    params = problem.initial_params(np.random.default_rng(1))
    product = Model(problem, 0.9)
    assert product.product is not None
    monkeypatch.setattr(module, "MANY_OUTCOMES", 1000)
    plain = Model(problem, 0.9)
    assert plain.product is None
    for z in range(len(problem.skills)):
        for model in (product, plain):
            model.improve(z, params, 4000)
    for one, other in zip(product.values, plain.values, strict=True):
        assert one == pytest.approx(other, abs=3e-4)
    both = zip(product.actions, plain.actions, strict=True)
    assert np.mean([(one != other).mean() for one, other in both]) < 0.02


def test_each_sweep_looks_one_step_further(rng):
    """After n sweeps, values are the optimum with at most n steps to go."""
    _, problem = corridor_problem(sf.focused(sf.vic()))
    params = problem.initial_params(rng)
    model = Model(problem, 0.9)
    backup, t = model.backup(0, params), state_reward(problem, params, 0)
    values, mdp = t.copy(), problem.mdp
    assert model.product is not None
    model.product.solve(values, t, backup, 3, 0.0)
    expected = t.astype(float)
    costs = (mdp.probabilities * problem.skills[0].event_cost).sum(axis=2)
    for _ in range(3):
        q = (plain_expected(mdp, expected) - costs[:, :, None]).max(axis=1)
        expected = np.maximum(t, np.minimum(0.9 * q, q / 0.9))
    assert values == pytest.approx(expected, abs=1e-4)


def test_sweeps_end_with_the_skill(monkeypatch):
    _, problem = corridor_problem(sf.focused(sf.vic()))
    model, asked = Model(problem, 0.9), []
    assert model.product is not None

    def solve(self, values, t, backup, sweeps, tolerance):
        asked.append((sweeps, tolerance))
        return np.zeros(t.shape, np.uint8)

    monkeypatch.setattr(module.ProductModel, "solve", solve)
    params = problem.initial_params(np.random.default_rng(1))
    model.improve(0, params, 300)
    model.improve(0, params, 2)
    assert asked == [(problem.step_limit, TOLERANCE), (2, TOLERANCE)]
