"""Learning problems on small worlds, and short ways to evaluate and update their rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import skillfocus as sf
from probes import corridor
from skillfocus.learners.planning.problem import tabular_problem
from skillfocus.learners.planning.rewards import state_reward, update_estimates
from skillfocus.learners.problem import Problem
from skillfocus.objectives.kinds import assign, untargeted


def make_problem(mdp, objective, assignment, *, step_limit, world_id, **options):
    """A tabular problem; VIC has the paper's rate."""
    del world_id
    modes = (1,) * len(assignment)
    asked = Problem(None, objective, assignment, modes, step_limit, mdp)  # pyright: ignore
    problem = tabular_problem(asked, **options)
    return replace(problem, rate=0.7) if objective.reward.name == "vic" else problem


def learn_rewards(problem, params, skills, paths, rate, rng):
    """Update the estimates with a rate of the test's own, from paths that are all steps."""
    steps = np.full(len(paths), paths.shape[1] - 1)
    update_estimates(replace(problem, rate=rate), params, skills, paths, steps, rng)


TARGETS = {"tool_1": 2, "position": 2}


def corridor_problem(objective, targets=TARGETS, n_skills=3, **options):
    """The corridor's MDP, and a problem of skills for tool and position in it."""
    world = corridor()
    mdp = sf.tabulate(world)
    assignment = assign(world, targets=targets) if objective.targeted else untargeted(n_skills)
    problem = make_problem(mdp, objective, assignment, step_limit=6, world_id=world.id, **options)
    return mdp, problem


def reward(mdp, problem, params, z, first, now):
    """What skill z earns in a state, having started in another."""
    skill = problem.skills[z]
    context = skill.context.of_state[mdp.number(first)]
    return state_reward(problem, params, z)[mdp.number(now), context]


def with_probability(params, group, value, start, probabilities):
    """Set d(.|value, start) of a group by hand."""
    params[group][:, value, start] = np.log(probabilities)
