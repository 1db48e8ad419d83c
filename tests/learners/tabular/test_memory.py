"""Policies that do not see where they began."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor
from problems import make_problem
from skillfocus.objectives.targets import assign


def test_without_memory_a_policy_does_not_depend_on_the_start():
    world = corridor(slip=0.0)
    forgetful = sf.discover(
        world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=5, memory=False)
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
