"""Policies that do not see where they began."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import make_problem
from skillfocus.objectives.kinds import assign


def test_without_memory_a_policy_does_not_depend_on_the_start():
    world = corridor(slip=0.0)
    forgetful = sf.discover(
        world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=5, sees_start=False)
    )
    assert set(forgetful.tabular.index.widths) == {1}
    assert sf.discover(world, sf.vic(), seed=0, learner=sf.Planning(rounds=5)).tabular.index.widths[
        0
    ] == len(sf.tabulate(world).values)


def test_without_memory_a_penalty_is_expected_over_starts():
    """By hand: three cells in a row, a tool skill of strength 2 on the largest distance, 2 cells:
    the penalty of ending in cell x is the mean of |x - start|: 1, 2/3, 1."""
    world = corridor(slip=0.0)
    mdp, made = sf.tabulate(world), assign(world, targets={"tool_1": 2})
    objective = sf.focused(sf.lsd(), strength=2.0)
    problem = make_problem(mdp, objective, made, step_limit=world.step_limit, world_id=world.id)
    averaged = problem.average_penalties().skills[0]
    starts = problem.mdp.values[problem.skills[0].starts, 0]
    expected = [np.abs(x - starts).mean() for x in range(3)]
    found = [float(averaged.penalty[averaged.penalty_now[problem.mdp.number((x, 0))], 0])
             for x in range(3)]  # fmt: skip
    assert found == pytest.approx(expected)


def test_starts_count_as_often_as_they_occur():
    """Twice in the first cell and once in the last: the first costs 2/3 of 2 cells' penalty, 2."""
    world = corridor(slip=0.0)
    problem = make_problem(
        sf.tabulate(world), sf.focused(sf.lsd(), strength=2.0), assign(world, targets={"tool_1": 2}),
        step_limit=world.step_limit, world_id=world.id,
    )  # fmt: skip
    first, last = (problem.mdp.number((cell, 0)) for cell in (0, 1))
    skill = replace(problem.skills[0], starts=np.array([first, first, last]))
    averaged = replace(problem, skills=(skill,)).average_penalties().skills[0]
    found = [float(averaged.penalty[averaged.penalty_now[s], 0]) for s in (first, last)]
    assert found == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(("memory", "homes"), [(True, {(0, 0), (1, 1)}), (False, {(0, 1), (1, 1)})])
def test_where_a_skill_ends_after_fetching_the_tool(memory, homes):
    """With memory, where it began; without, in the middle, the least far from any start."""
    skills = sf.discover(
        corridor(slip=0.0), sf.focused(sf.vic(), strength=50.0), seed=0, targets={"tool_1": 2},
        learner=sf.Planning(rounds=5, sees_start=memory),
    )  # fmt: skip
    found = set()
    for z, cell in itertools.product((0, 1), (0, 1)):
        end, tool = skills.rollout(z, (cell, 0), np.random.default_rng(0))[-1]
        if tool:
            found.add((cell, end))
    assert found == homes
