"""Rewards worked out by hand, on a corridor of three cells with a tool in the third.

States are (cell, tool); the largest distance between cells is 2, between tool values 1.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import learn_rewards, make_problem
from skillfocus.errors import UserError
from skillfocus.learners.tabular.discriminator import DenseDiscriminator, SparseDiscriminator
from skillfocus.learners.tabular.kernels import skill_prior as prior
from skillfocus.learners.tabular.kernels import state_reward as skill_reward
from skillfocus.learners.tabular.planning import draw_starts
from skillfocus.objectives.decomposition import PerTarget
from skillfocus.objectives.presets import learning_rate
from skillfocus.objectives.registry import make_objective, objective_names
from skillfocus.objectives.targets import assign, untargeted

TARGETS = {"tool_1": 2, "position": 2}


def setup(objective, targets=TARGETS, n_skills=3, **options):
    world = corridor()
    mdp = sf.tabulate(world)
    assignment = assign(world, targets=targets) if objective.targeted else untargeted(n_skills)
    problem = make_problem(mdp, objective, assignment, step_limit=6, world_id=world.id, **options)
    return mdp, problem


def reward(mdp, problem, params, z, first, now):
    skill = problem.skills[z]
    context = skill.context.of_state[mdp.number(first)]
    return skill_reward(problem, params, z)[mdp.number(now), context]


def with_probability(params, group, value, start, probabilities):
    """Set d(.|value, start) of a group by hand."""
    params[group][:, value, start] = np.log(probabilities)


def test_plain_vic_by_hand(rng):
    mdp, problem = setup(sf.vic(random_start=False), n_skills=4)
    params = problem.initial_params(rng)
    first, last = (0, 0), (2, 1)
    assert reward(mdp, problem, params, 0, first, last) == 0.0
    group = problem.groups[0]
    v, v0 = group.values.of_state[mdp.number(last)], group.starts.of_state[mdp.number(first)]
    with_probability(params, 0, v, v0, [0.7, 0.1, 0.1, 0.1])
    got = [reward(mdp, problem, params, z, first, last) for z in range(4)]
    assert got == pytest.approx([math.log(2.8), *[math.log(0.4)] * 3], rel=1e-6)
    assert reward(mdp, problem, params, 0, (1, 0), last) == 0.0  # another start, another d


def test_plain_diayn_ignores_the_start(rng):
    mdp, problem = setup(sf.diayn(random_start=False), n_skills=2)
    params = problem.initial_params(rng)
    assert [skill.context.size for skill in problem.skills] == [1, 1]
    v = problem.groups[0].values.of_state[mdp.number((1, 0))]
    with_probability(params, 0, v, 0, [0.9, 0.1])
    for first in ((0, 0), (2, 1)):
        assert reward(mdp, problem, params, 0, first, (1, 0)) == pytest.approx(math.log(1.8))


def test_focused_vic_by_hand(rng):
    """log d(z|1, 0) - log 1/2 for the tool, minus 4 times the distance of the cell over 2."""
    mdp, problem = setup(sf.focused(sf.vic(random_start=False)))
    params = problem.initial_params(rng)
    tool = problem.skills[0].terms[0].group
    with_probability(params, tool, 1, 0, [0.8, 0.2])
    picked_away = reward(mdp, problem, params, 0, (0, 0), (2, 1))
    picked_home = reward(mdp, problem, params, 0, (0, 0), (0, 1))
    assert picked_away == pytest.approx(math.log(1.6) - 4.0, rel=1e-6)
    assert picked_home == pytest.approx(math.log(1.6), rel=1e-6)
    assert reward(mdp, problem, params, 1, (0, 0), (1, 1)) == pytest.approx(math.log(0.4) - 2.0)


def test_changes_for_good_are_paid_when_they_happen(rng):
    """The tool cannot be put back: the position skills pay 4 for the step that picks it up."""
    mdp, problem = setup(sf.focused(sf.vic(random_start=False)))
    position, tool = problem.skills[2], problem.skills[0]
    s, right = mdp.number((1, 0)), 1
    assert position.event_cost[s, right, 0] == 4.0
    assert position.event_cost[mdp.number((1, 1)), right, 0] == 0.0
    assert (tool.event_cost == 0).all()
    params = problem.initial_params(rng)
    assert reward(mdp, problem, params, 2, (1, 0), (2, 1)) == 0.0  # nothing more at the end


def test_focused_diayn_by_hand(rng):
    mdp, problem = setup(sf.focused(sf.diayn(random_start=False), strength=10.0))
    params = problem.initial_params(rng)
    tool = problem.skills[0].terms[0].group
    with_probability(params, tool, 1, 0, [0.6, 0.4])
    assert problem.skills[0].context_variables == (
        0,
    )  # the penalty needs the cell, d needs nothing
    got = reward(mdp, problem, params, 0, (0, 0), (1, 1))
    assert got == pytest.approx(math.log(1.2) - 10 * 0.5, rel=1e-6)


def test_lsd_by_hand(rng):
    """Two skills on the tool: z = (1, -1), so r = (W_1 - W_2) (tool now - tool then)."""
    mdp, problem = setup(sf.focused(sf.lsd()))
    params = problem.initial_params(rng)
    tool = problem.skills[0].terms[0].group
    params[tool][0, :, 0] = [0.6, -0.8, 1.0, -0.2, 0.0]  # W, the power vector, the sum, work
    assert reward(mdp, problem, params, 0, (0, 0), (0, 1)) == pytest.approx(1.4, rel=1e-6)
    assert reward(mdp, problem, params, 1, (0, 0), (0, 1)) == pytest.approx(-1.4, rel=1e-6)
    assert reward(mdp, problem, params, 0, (0, 0), (2, 1)) == pytest.approx(1.4 - 2.0, rel=1e-6)
    assert reward(mdp, problem, params, 0, (0, 1), (0, 1)) == 0.0


def test_lsd_with_three_skills_centres_the_others(rng):
    mdp, problem = setup(sf.lsd(), n_skills=3)
    params = problem.initial_params(rng)
    weights = np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0]])  # row, col, tool
    params[0][0, :3] = weights
    params[0][0, 4] = weights.sum(axis=0)
    change = np.array([0.0, 2.0, 1.0])
    for z in range(3):
        code = np.where(np.arange(3) == z, 1.0, -0.5)
        got = reward(mdp, problem, params, z, (0, 0), (2, 1))
        assert got == pytest.approx(float(code @ weights @ change), rel=1e-6)


def test_dusdi_by_hand(rng):
    """The tool's discriminator, minus 0.1 of the one that sees the cell instead."""
    mdp, problem = setup(sf.dusdi(sf.vic(random_start=False)))
    params = problem.initial_params(rng)
    own, others = (term.group for term in problem.skills[0].terms)
    with_probability(params, own, 1, 0, [0.9, 0.1])
    with_probability(params, others, 2, 0, [0.75, 0.25])
    got = reward(mdp, problem, params, 0, (0, 0), (2, 1))
    assert got == pytest.approx(math.log(1.8) - 0.1 * math.log(1.5), rel=1e-6)


def test_two_targets_add_up(rng):
    targets = [{"tool_1": 0, "tool_2": 0}, {"tool_1": 1}, {"tool_2": 1}]
    world = sf.make("four-rooms")
    mdp = sf.tabulate(world)
    objective = sf.focused(sf.vic(random_start=False))
    problem = make_problem(
        mdp, objective, assign(world, targets=targets), step_limit=40, world_id=world.id
    )
    params = problem.initial_params(rng)
    for term, p in zip(problem.skills[0].terms, (0.9, 0.6), strict=True):
        with_probability(params, term.group, 1, 0, [p, 1 - p])
    first, now = (0, 0, 0, 0, 0), (0, 1, 1, 0, 0)
    got = reward(mdp, problem, params, 0, first, now)
    assert got == pytest.approx(math.log(1.8) + math.log(1.2), rel=1e-6)


def test_strength_zero_is_the_sum_of_components_alone(rng):
    mdp, problem = setup(sf.focused(sf.vic(random_start=False), strength=0.0))
    params = problem.initial_params(rng)
    assert all((skill.event_cost == 0).all() for skill in problem.skills)
    assert reward(mdp, problem, params, 0, (0, 0), (2, 1)) == 0.0


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


def test_two_skills_of_a_binary_variable_begin_with_a_value_each(rng):
    for objective in (sf.focused(sf.vic()), sf.focused(sf.diayn())):
        _, problem = setup(objective)
        for _ in range(20):
            d = problem.initial_params(rng)[problem.skills[0].terms[0].group]
            assert d[:, 0, 0].argmax() != d[:, 1, 0].argmax()


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
    monkeypatch.setattr("skillfocus.learners.tabular.discriminator.SPARSE_SLOTS", 8)
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
    monkeypatch.setattr("skillfocus.learners.tabular.estimators.DENSE_LIMIT", 10)
    _, problem = setup(sf.vic(), n_skills=3)
    assert problem.estimator == SparseDiscriminator()
    _, problem = setup(
        sf.vic(prior="learned"), n_skills=3
    )  # which the sparse table has no room for
    assert problem.estimator == DenseDiscriminator(learns_prior=True)


@pytest.mark.parametrize("name", objective_names())
def test_every_name_makes_its_objective(name):
    assert make_objective(name).name == name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sf.dusdi(sf.lsd()), r"dusdi\(lsd\) has no meaning.*lsd has none"),
        (lambda: sf.focused(sf.focused(sf.vic())), "already gives skills targets"),
        (lambda: sf.dusdi(sf.focused(sf.vic())), "already gives skills targets"),
        (lambda: sf.focused(sf.dusdi(sf.vic())), "already gives skills targets"),
        (lambda: sf.focused(sf.vic(), strength=-1.0), "strength is -1.0"),
        (lambda: sf.focused(sf.vic(), strength=float("nan")), "strength is nan"),
        (lambda: sf.dusdi(sf.vic(), weight=-0.1), "weight is -0.1"),
        (lambda: sf.dusdi(sf.vic(), weight=float("inf")), "finite"),
        (lambda: sf.dusdi(sf.vic(prior="learned")), "no learned prior"),
        (lambda: sf.vic(1.5), "above 0 and at most 1"),
        (
            lambda: sf.vic(prior="guess"),  # pyright: ignore[reportArgumentType]
            "'uniform' or 'learned'",
        ),
        (lambda: sf.diayn(0.0), "above 0"),
        (lambda: sf.lsd(-0.1), "positive"),
        (lambda: make_objective("focused-vix"), "did you mean 'focused-vic'"),
        (lambda: make_objective("vic", strength=2.0), "try focused-vic"),
        (lambda: make_objective("focused-vic", weight=0.1), "no DUSDi weight"),
    ],
)
def test_combinations_without_meaning_are_refused(make, message):
    with pytest.raises(UserError, match=message):
        make()


def test_the_paper_s_weights():
    assert learning_rate(sf.vic(), "FourRooms-v0") == 0.7
    assert learning_rate(sf.vic(), "ForageWorld-v0") == 0.5
    assert learning_rate(sf.focused(sf.vic()), "ForageWorld-v0") == 0.5
    assert learning_rate(sf.vic(0.3), "ForageWorld-v0") == 0.3
    assert learning_rate(sf.diayn(), "ForageWorld-v0") == 0.05
    assert learning_rate(sf.lsd(), "FourRooms-v0") == 0.1
    strengths = [sf.focused(o()).penalty.strength for o in (sf.vic, sf.diayn, sf.lsd)]
    assert strengths == [4.0, 4.0, 2.0]
    assert sf.dusdi(sf.vic()).decomposition == PerTarget(others_weight=0.1)
