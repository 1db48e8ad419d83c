"""Check that an objective's reward is a finite number before it is learned from, and after."""

from __future__ import annotations

import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.tabular.kernels import Params, group_reward
from skillfocus.learners.tabular.problem import TabularProblem

MAX_REWARDS = 200_000
"""The most rewards of a group that are evaluated; of more, those of evenly spread starts."""


def check_rewards(problem: TabularProblem, params: Params) -> None:
    """Evaluate the reward of every component at every value, and refuse what is no number.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.

    Raises:
        UserError: If the formula raises, or returns NaN or infinity.
    """
    for place, group in enumerate(problem.groups):
        per_start = group.n_components * group.values.size
        count = min(group.starts.size, max(1, MAX_REWARDS // per_start))
        starts = np.unique(np.linspace(0, group.starts.size - 1, count).astype(np.int64))
        for component in range(group.n_components):
            _check_component(problem, params, place, component, starts)


def _check_component(
    problem: TabularProblem, params: Params, place: int, component: int, starts: np.ndarray
) -> None:
    group, reward = problem.groups[place], problem.objective.reward
    names = ", ".join(problem.mdp.space.names[j] for j in group.variables)
    about = f"the reward of {reward.name} for component {component} of {names}"
    try:
        rewards = group_reward(problem, params, place, component, starts)
    except UserError:  # it cannot be compiled
        raise
    except Exception as error:  # formulas may be a user's
        raise UserError(f"{about} raises {type(error).__name__}: {error}") from error
    wrong = ~np.isfinite(rewards)
    if wrong.any():
        value, start = (int(index[0]) for index in np.nonzero(wrong))
        state = problem.mdp.space.labels(problem.mdp.values[group.values.example[value]])
        labels = {
            problem.mdp.space.names[j]: state[problem.mdp.space.names[j]] for j in group.variables
        }
        raise UserError(
            f"{about} is {rewards[value, start]:g} where {labels}; it must be a finite number"
        )
