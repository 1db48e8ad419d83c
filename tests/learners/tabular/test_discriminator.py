"""Discriminators as moving averages, dense and sparse, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from problems import corridor_problem as setup
from problems import learn_rewards, with_probability
from skillfocus.learners.planning.estimators import (
    DenseDiscriminator,
    SparseDiscriminator,
    assign_owners,
    find_slot,
    insert_pair,
    predict_dense,
    predict_sparse,
)
from skillfocus.learners.planning.learner import draw_starts
from skillfocus.learners.planning.rewards import skill_prior as prior
from skillfocus.learners.planning.rewards import state_reward as skill_reward


def test_a_ewma_by_hand(rng):
    """Weight 0.7: d = 1/2 -> 0.3 * 0.5 + 0.7 = 0.85 for the skill seen, 0.15 for the other."""
    mdp, problem = setup(sf.focused(sf.vic(random_start=False)))
    params = problem.initial_params(rng)
    paths = np.array([[mdp.number((0, 0)), mdp.number((0, 1))]])
    learn_rewards(problem, params, np.array([0]), paths, 0.7, rng)
    tool = problem.skills[0].terms[0].group
    assert np.exp(params[tool][:, 1, 0]) == pytest.approx([0.85, 0.15])
    assert np.exp(params[tool][:, 0, 0]) == pytest.approx([0.5, 0.5])
    learn_rewards(problem, params, np.array([1]), paths, 0.7, rng)
    assert np.exp(params[tool][:, 1, 0]) == pytest.approx([0.255, 0.745])


def test_diayn_learns_from_every_state_entered(rng):
    mdp, problem = setup(sf.diayn(random_start=False), n_skills=2)
    params = problem.initial_params(rng)
    states = [mdp.number(s) for s in ((0, 0), (1, 0), (1, 0))]
    learn_rewards(problem, params, np.array([1]), np.array([states]), 0.05, rng)
    d = np.exp(params[0][1, :-1, 0])
    here = problem.groups[0].values.of_state[states[1]]
    assert d[here] == pytest.approx(1 - 0.5 * 0.95**2, rel=1e-6)
    assert np.delete(d, here) == pytest.approx(0.5)


def test_rewards_of_every_step_that_see_the_start_learn_at_the_start_of_the_run(rng):
    diayn = sf.diayn(random_start=False)
    seeing = replace(diayn, reward=replace(diayn.reward, uses_start=True))
    mdp, problem = setup(seeing, n_skills=2)
    params = problem.initial_params(rng)
    states = [mdp.number(s) for s in ((0, 0), (1, 0), (2, 0))]
    learn_rewards(problem, params, np.array([1]), np.array([states]), 0.05, rng)
    group = problem.groups[0]
    seen, start = group.values.of_state[states[1:]], group.starts.of_state[states[0]]
    d = np.exp(params[0][1, :-1])
    assert d[seen, start] == pytest.approx(1 - 0.5 * 0.95, rel=1e-6)
    d[seen, start] = 0.5
    assert d == pytest.approx(0.5)


def test_random_discriminators_deal_values_out_to_skills(rng):
    _, problem = setup(sf.vic(), n_skills=5)
    d = np.exp(problem.initial_params(rng)[0][:, :-1])
    assert d.sum(axis=0) == pytest.approx(1.0, abs=2e-3)
    owner = d.argmax(axis=0)
    stays = np.diagonal(owner)
    assert (stays == stays[0]).all()
    assert d.std() > 0.1
    for start in range(6):  # six values, five skills: each owns one, one of them two
        assert len(set(owner[:, start])) == 5


def test_an_owner_is_never_better_off_with_half_of_another_value(rng):
    """Two skills at one value get log K/2 each, an owner at its own value at least as much."""
    for n, n_values, least in ((2, 40, 0.5), (3, 40, 0.5), (2, 2, 0.9), (8, 8, 0.9)):
        made = DenseDiscriminator(owned_share=least)
        q = np.exp(made.init(n, 40, np.zeros((n_values, 1)), rng)[:, :n_values])
        owned = np.log(n * q.max(axis=0))
        assert owned.min() >= math.log(n * least) - 1e-6
        mean = (1 + least) / 2  # uniform between the two
        assert q.max(axis=0).mean() == pytest.approx(mean, abs=0.2 * (1 - least))
        assert q.sum(axis=0) == pytest.approx(1.0, abs=2e-3)


def test_two_skills_of_a_binary_variable_begin_with_a_value_each(rng):
    for objective in (sf.focused(sf.vic()), sf.focused(sf.diayn())):
        _, problem = setup(objective)
        for _ in range(20):
            d = problem.initial_params(rng)[problem.skills[0].terms[0].group]
            assert d[:, 0, 0].argmax() != d[:, 1, 0].argmax()


def test_the_learned_prior_favours_what_pays(rng):
    mdp, problem = setup(sf.focused(sf.vic(random_start=False, prior="learned")))
    params = problem.initial_params(rng)
    tool = problem.skills[0].terms[0].group
    with_probability(params, tool, 1, 0, [0.9, 0.1])
    before = np.exp(params[tool][:, -1, 0])
    assert before == pytest.approx([0.5, 0.5])
    path = np.array([[mdp.number((0, 0)), mdp.number((0, 1))]])
    learn_rewards(problem, params, np.array([0]), path, 0.7, rng)
    grown = 0.5 * math.exp(0.01 * math.log(1.8))  # one step of exponentiated gradient
    nu = np.exp(params[tool][:, -1, 0])
    assert nu == pytest.approx([grown / (grown + 0.5), 0.5 / (grown + 0.5)], rel=1e-6)
    shares = prior(problem, params)
    assert shares.sum(axis=0) == pytest.approx(1.0)
    assert shares[0, mdp.number((0, 0))] == pytest.approx(nu[0] / 2, rel=1e-5)


def test_skills_are_drawn_by_the_learned_prior(rng):
    _, problem = setup(sf.focused(sf.vic(prior="learned")))
    params = problem.initial_params(rng)
    tool = problem.skills[0].terms[0].group
    params[tool][:, -1, :] = np.log([[0.9], [0.1]])
    skills, starts = draw_starts(problem, params, 5000, rng)
    counts = np.bincount(skills, minlength=4) / len(skills)
    assert counts == pytest.approx([0.45, 0.05, 0.25, 0.25], abs=0.02)
    for z, skill in enumerate(problem.skills):
        assert np.isin(starts[skills == z], skill.starts).all()


def test_sparse_discriminators_equal_dense_ones(rng):
    mdp, problem = setup(sf.vic(random_start=False), n_skills=3)
    twin = replace(problem, estimator=SparseDiscriminator())
    params, other = problem.initial_params(rng), twin.initial_params(rng)
    for _ in range(200):
        skill, path = rng.integers(3, size=1), rng.integers(mdp.n_states, size=(1, 2))
        learn_rewards(problem, params, skill, path, 0.7, rng)
        learn_rewards(twin, other, skill, path, 0.7, rng)
    expected = [skill_reward(problem, params, z) for z in range(3)]
    for z in range(3):
        assert skill_reward(twin, other, z) == pytest.approx(expected[z], abs=1e-5)
    assert abs(expected[-1]).max() > 0.5


def test_a_sparse_table_forgets_rather_than_grows(rng, monkeypatch):
    monkeypatch.setattr("skillfocus.learners.planning.estimators.SPARSE_SLOTS", 8)
    mdp, problem = setup(sf.vic(random_start=False), n_skills=3)
    problem = replace(problem, estimator=SparseDiscriminator())
    params = problem.initial_params(rng)
    for first in range(mdp.n_states):
        for last in range(mdp.n_states):
            learn_rewards(problem, params, np.array([0]), np.array([[first, last]]), 0.7, rng)
    assert params[0].shape == (5, 8, 1)
    newest = skill_reward(problem, params, 0)[mdp.n_states - 1]
    assert newest[problem.skills[0].context.of_state[mdp.n_states - 1]] > 0.5


def test_joint_tables_too_large_are_sparse(monkeypatch):
    _, problem = setup(sf.vic(), n_skills=3)
    assert problem.estimator == DenseDiscriminator()
    monkeypatch.setattr("skillfocus.learners.planning.estimators.DENSE_LIMIT", 10)
    _, problem = setup(sf.vic(), n_skills=3)
    assert problem.estimator == SparseDiscriminator()
    _, problem = setup(
        sf.vic(prior="learned"), n_skills=3
    )  # which the sparse table has no room for
    assert problem.estimator == DenseDiscriminator(learns_prior=True)


def test_predictions_are_log_q_and_log_nu():
    estimator = DenseDiscriminator(random_init=False)
    points = np.zeros((3, 1))
    params = estimator.init(4, 2, points, np.random.default_rng(0))
    assert params.shape == (4, 4, 2)
    params[1, 2, 0] = math.log(0.4)
    assert predict_dense(params, points, 1, 0, 2) == pytest.approx((math.log(0.4), math.log(0.25)))
    assert predict_dense(params, points, 1, 1, 2) == pytest.approx((math.log(0.25),) * 2)
    assert estimator.log_prior(params) is None
    nu = DenseDiscriminator(learns_prior=True).log_prior(params)
    assert nu is not None
    assert nu.tolist() == params[:, 3].tolist()


def test_values_are_dealt_in_turn():
    owner = assign_owners(3, 7, np.random.default_rng(0))
    assert sorted(owner[:3]) == sorted(owner[3:6]) == [0, 1, 2]
    assert len(owner) == 7


def test_a_sparse_table_finds_what_was_inserted(rng):
    points = np.zeros((1000, 1))
    params = SparseDiscriminator().init(3, 10**6, points, rng)
    pairs = [tuple(pair) for pair in rng.integers([10**6, 1000], size=(50, 2)).tolist()]
    slots = {}
    for start, value in pairs:
        assert find_slot(params, 1000, start, value) == slots.get((start, value), -1)
        if (start, value) not in slots:
            slots[start, value] = insert_pair(params, 1000, start, value)
    assert [find_slot(params, 1000, *pair) for pair in pairs] == [slots[pair] for pair in pairs]
    assert predict_sparse(params, points, 0, 5, 5) == pytest.approx((-math.log(3),) * 2)
    assert SparseDiscriminator().log_prior(params) is None
