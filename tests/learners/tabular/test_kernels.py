"""Reward kernels against plain Python, on random worlds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld, corridor
from problems import corridor_problem, make_problem
from skillfocus.learners.planning.rewards import (
    group_reward,
    outcome_cost,
    skill_prior,
    state_reward,
    update_estimates,
)
from skillfocus.objectives.kinds import assign, untargeted
from skillfocus.objectives.objective import FunctionEstimate

OBJECTIVES = [
    sf.vic(), sf.diayn(), sf.lsd(), sf.dusdi(sf.vic()), sf.focused(sf.vic()),
    sf.focused(sf.diayn()), sf.focused(sf.lsd()),
]  # fmt: skip


def random_problem(seed: int, objective: sf.Objective):
    world = RandomWorld(seed, sizes=(3, 2), one_way=seed % 2 == 0)
    mdp = sf.tabulate(world)
    made = assign(world, targets={"v0": 2}) if objective.targeted else untargeted(3)
    problem = make_problem(mdp, objective, made, step_limit=5, world_id=world.id)
    return problem, problem.initial_params(np.random.default_rng(seed))


def plain_reward(problem, params, group, component, start, value):
    """One reward, evaluated without compiling anything."""
    held = problem.groups[group]
    predict = problem.estimator.predict.py_func
    predicted = predict(params[group], held.coordinates, component, start, value)
    return problem.objective.reward.formula(*predicted)


@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES))
def test_a_state_s_reward_is_the_sum_of_its_terms_less_the_penalty(seed, objective):
    problem, params = random_problem(seed, objective)
    for z, skill in enumerate(problem.skills):
        got = state_reward(problem, params, z)
        assert got.shape == (problem.mdp.n_states, skill.context.size)
        for s in range(problem.mdp.n_states):
            for c in range(skill.context.size):
                expected = -float(skill.penalty[skill.penalty_now[s], skill.penalty_then[c]])
                for term in skill.terms:
                    value = problem.groups[term.group].values.of_state[s]
                    start = term.start_in_context[c]
                    expected += term.weight * plain_reward(
                        problem, params, term.group, term.component, start, value
                    )
                assert got[s, c] == pytest.approx(expected, abs=1e-4)
        some = np.array([skill.context.size - 1])
        assert state_reward(problem, params, z, some)[:, 0].tolist() == got[:, -1].tolist()


@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES))
def test_a_group_s_reward_is_the_formula_of_every_value_and_start(seed, objective):
    problem, params = random_problem(seed, objective)
    for place, group in enumerate(problem.groups):
        starts = np.arange(group.starts.size)
        got = group_reward(problem, params, place, 1, starts)
        expected = [
            [plain_reward(problem, params, place, 1, start, value) for start in starts]
            for value in range(group.values.size)
        ]
        assert got == pytest.approx(np.array(expected), abs=1e-5)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: o.name)
def test_updates_are_the_estimator_s_in_the_order_drawn(objective):
    problem, params = random_problem(4, objective)
    twin = tuple(array.copy() for array in params)
    rng = np.random.default_rng(9)
    n, n_skills = 40, len(problem.skills)
    paths = rng.integers(problem.mdp.n_states, size=(n, 4)).astype(np.int32)
    skills, steps = rng.integers(n_skills, size=n), np.full(n, 3)
    update_estimates(problem, params, skills, paths, steps, np.random.default_rng(1))
    moments = range(1, 4) if objective.reward.timing == "step" else [3]
    observed = [(i, t) for i in range(n) for t in moments]
    update = problem.estimator.update.py_func
    for k in np.random.default_rng(1).permutation(len(observed)):
        i, t = observed[k]
        for term in problem.skills[skills[i]].terms:
            group = problem.groups[term.group]
            start, value = group.starts.of_state[paths[i, 0]], group.values.of_state[paths[i, t]]
            update(twin[term.group], group.coordinates, term.component, start, value, problem.rate)
    for fast, slow in zip(params, twin, strict=True):
        assert fast == pytest.approx(slow, abs=1e-4)
    assert any(not np.array_equal(a, b) for a, b in zip(params, random_problem(4, objective)[1],
                                                         strict=True))  # fmt: skip


def cells_right(component, before, after):
    return (after - before) * (1.0 - 2.0 * component)


def test_transition_rewards_are_negative_costs():
    """By hand: from the first cell, right earns 1 for skill 0 and costs skill 1 as much."""
    objective = sf.Objective("right", sf.Reward("right", cells_right, timing="transition"))
    mdp, problem = corridor_problem(sf.focused(objective), {"position": 2})
    params = problem.initial_params(np.random.default_rng(0))
    first, second = mdp.number((0, 0)), mdp.number((1, 0))
    costs = [outcome_cost(problem, params, z) for z in range(2)]
    assert [float(c[first, 1, 0]) for c in costs] == [-1.0, 1.0]
    assert [float(c[second, 3, 0]) for c in costs] == [1.0, -1.0]
    assert [float(c[first, 0, 0]) for c in costs] == [0.0, 0.0]
    # the step that takes the tool also costs the penalty of 4
    assert [float(c[second, 1, 0]) for c in costs] == [3.0, 5.0]
    assert not state_reward(problem, params, 0).any()


def count_of(params, coordinates, component, start, value):
    return params[0, value, start]


def count(params, coordinates, component, start, value, rate):
    params[0, value, start] += rate


def counts(n_components, n_starts, coordinates, rng):
    return np.zeros((1, len(coordinates), n_starts), dtype=np.float32)


def test_transitions_are_observed_until_a_run_is_over(rng):
    """Each real move is one update: two of the first run, none of the second."""
    counted = sf.Objective(
        "counted", sf.Reward("counted", float, FunctionEstimate(count_of, count, counts, rate=1.0),
                             timing="transition"),
    )  # fmt: skip
    mdp, problem = corridor_problem(sf.focused(counted), {"position": 2})
    params = problem.initial_params(rng)
    cells = [mdp.number((cell, 1)) for cell in (0, 1, 2)]
    paths = np.array([[*cells, cells[-1]], [cells[1]] * 4], dtype=np.int32)
    update_estimates(problem, params, np.array([0, 0]), paths, np.array([2, 0]), rng)
    assert params[0][0].tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_without_a_learned_prior_there_is_none():
    _, problem = corridor_problem(sf.focused(sf.vic()))
    assert skill_prior(problem, problem.initial_params(np.random.default_rng(0))) is None
    _, problem = corridor_problem(sf.focused(sf.vic(prior="learned")))
    shares = skill_prior(problem, problem.initial_params(np.random.default_rng(0)))
    assert shares is not None
    assert shares == pytest.approx(np.full((4, 6), 0.25))


def test_penalties_of_full_states_need_the_whole_start():
    def moved(mdp, start, end, watched):
        del watched
        return (start != end).astype(float)

    objective = sf.focused(sf.diayn(), penalty=sf.StatePenalty("moved", 2.0, moved))
    mdp, problem = corridor_problem(objective)
    skill = problem.skills[0]
    assert skill.context_variables == (0, 1)
    assert skill.penalty.shape == (6, 6)
    assert not skill.event_cost.any()
    for now in range(6):
        for first in range(6):
            context = skill.context.of_state[first]
            cost = skill.penalty[skill.penalty_now[now], skill.penalty_then[context]]
            assert cost == (0.0 if now == first else 2.0)
    assert sf.tabulate(corridor()).n_states == mdp.n_states
