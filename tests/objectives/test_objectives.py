"""Rewards worked out by hand, on a corridor of three cells with a tool in the third.

States are (cell, tool); the largest distance between cells is 2, between tool values 1.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from problems import corridor_problem as setup
from problems import make_problem, reward, with_probability
from skillfocus.errors import UserError
from skillfocus.learners.planning.estimators import MEAN, SUM
from skillfocus.objectives.kinds import assign
from skillfocus.objectives.registry import make_objective, objective_names


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
    params[tool][0, :, 0] = [0.6, -0.8, 0.5, 1.0, -0.2, 0.0]  # W, mean, power vector, sum, work
    assert reward(mdp, problem, params, 0, (0, 0), (0, 1)) == pytest.approx(1.4, rel=1e-6)
    assert reward(mdp, problem, params, 1, (0, 0), (0, 1)) == pytest.approx(-1.4, rel=1e-6)
    assert reward(mdp, problem, params, 0, (0, 0), (2, 1)) == pytest.approx(1.4 - 2.0, rel=1e-6)
    assert reward(mdp, problem, params, 0, (0, 1), (0, 1)) == 0.0


def test_lsd_with_three_skills_centres_the_others(rng):
    mdp, problem = setup(sf.lsd(), n_skills=3)
    params = problem.initial_params(rng)
    weights = np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0]])  # row, col, tool
    params[0][0, :3] = weights
    params[0][0, SUM] = weights.sum(axis=0)
    change = np.array([0.0, 2.0, 1.0])
    for z in range(3):
        code = np.where(np.arange(3) == z, 1.0, -0.5)
        got = reward(mdp, problem, params, z, (0, 0), (2, 1))
        assert got == pytest.approx(float(code @ weights @ change), rel=1e-6)


def test_without_a_start_lsd_measures_from_the_mean(rng):
    """W = (1, 0, 0 | row, col, tool) and -W: <W (x - mean x), z> = (x - mean x) - -(x - mean x)."""
    mdp, problem = setup(replace(sf.lsd(), reward=sf.lsd().reward.without_start()), n_skills=2)
    params = problem.initial_params(rng)
    params[0][0, :2] = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]
    params[0][0, SUM] = 0.0
    columns = problem.groups[0].coordinates[:, 1]
    assert params[0][0, MEAN, 1] == pytest.approx(columns.mean())
    for start in ((0, 0), (2, 1)):  # wherever it began
        got = reward(mdp, problem, params, 0, start, (2, 0))
        assert got == pytest.approx(2 * (columns.max() - columns.mean()), rel=1e-6)


def test_without_a_start_a_discriminator_sees_the_last_state_alone():
    forgetful = sf.vic().reward.without_start()
    assert not forgetful.uses_start
    assert forgetful.without_start() is forgetful
    assert sf.diayn().reward.without_start() == sf.diayn().reward
    with pytest.raises(UserError, match="compares with the start, so its policies must see it"):
        sf.scattered(sf.focused(sf.lsd())).reward.without_start()


def test_a_prior_over_all_skills_adds_a_constant(rng):
    """log d - log 1/16 instead of log d - log 1/2: log 8 more, for two skills that share a tool."""
    found = []
    for prior in ("uniform", 1 / 16):
        mdp, problem = setup(sf.focused(sf.vic(prior=prior)))
        params = problem.initial_params(np.random.default_rng(0))
        found.append(reward(mdp, problem, params, 0, (0, 0), (0, 1)))
    assert found[1] - found[0] == pytest.approx(np.log(8), rel=1e-5)
    with pytest.raises(
        UserError, match=r"prior is 1\.5; it must be 'uniform', 'learned' or a prob"
    ):
        sf.vic(prior=1.5)
    with pytest.raises(UserError, match="lsd takes no prior"):
        make_objective("lsd", prior=0.1)


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


@pytest.mark.parametrize("name", objective_names())
def test_every_name_makes_its_objective(name):
    assert make_objective(name).name == name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sf.dusdi(sf.lsd()),
            r"dusdi\(\) needs an objective with a discriminator .*, got lsd",
        ),
        (lambda: sf.focused(sf.focused(sf.vic())), "already gives skills targets"),
        (lambda: sf.dusdi(sf.focused(sf.vic())), "already gives skills targets"),
        (lambda: sf.focused(sf.dusdi(sf.vic())), "already gives skills targets"),
        (lambda: sf.focused(sf.vic(), strength=-1.0), "strength must be 0 to 1e.30, got -1.0"),
        (lambda: sf.focused(sf.vic(), strength=float("nan")), "strength must be 0 to .*, got nan"),
        (lambda: sf.dusdi(sf.vic(), weight=-0.1), "weight must be 0 or more and finite, got -0.1"),
        (lambda: sf.dusdi(sf.vic(), weight=float("inf")), "got inf"),
        (lambda: sf.dusdi(sf.vic(prior="learned")), "no learned prior"),
        (lambda: sf.vic(1.5), r"must be in \(0, 1\], got 1.5"),
        (lambda: sf.vic(prior="guess"), "'uniform', 'learned' or a probability"),  # pyright: ignore[reportArgumentType]
        (lambda: sf.diayn(0.0), r"must be in \(0, 1\]"),
        (lambda: sf.lsd(-0.1), "positive"),
        (lambda: make_objective("focused-vix"), "did you mean 'focused-vic'"),
        (lambda: make_objective("vic", strength=2.0), "try focused-vic"),
        (lambda: make_objective("focused-vic", weight=0.1), "takes no weight; try dusdi-vic"),
    ],
)
def test_combinations_without_meaning_are_refused(make, message):
    with pytest.raises(UserError, match=message):
        make()


def test_strengths_follow_the_scale_of_the_reward():
    strengths = [sf.focused(make()).penalty.strength for make in (sf.vic, sf.diayn, sf.lsd)]
    assert strengths == [4.0, 4.0, 2.0]
    assert sf.dusdi(sf.vic()).weight == 0.1
