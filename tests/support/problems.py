"""Learning problems on small worlds, and short ways to evaluate and update their rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skillfocus.learners.tabular.kernels import update_estimates
from skillfocus.learners.tabular.problem import build_problem
from skillfocus.objectives.presets import learning_rate


def make_problem(mdp, objective, assignment, *, step_limit, world_id, **options):
    """A tabular problem with the objective's rate in a world."""
    rate = learning_rate(objective, world_id)
    return build_problem(mdp, objective, assignment, step_limit=step_limit, rate=rate, **options)


def learn_rewards(problem, params, skills, paths, rate, rng):
    """Update the estimates with a rate of the test's own, from paths that are all steps."""
    steps = np.full(len(paths), paths.shape[1] - 1)
    update_estimates(replace(problem, rate=rate), params, skills, paths, steps, rng)
