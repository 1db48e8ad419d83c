"""A control that learns nothing: in every state a skill takes the action that was drawn for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.learners.base import Learned, Learner, Problem
from skillfocus.learners.tabular.problem_builder import tabular_problem


@dataclass(frozen=True)
class RandomLearner(Learner):
    """Random policies. They never terminate: every run takes as many steps as it may."""

    name: str = "chance"
    start_where_controllable: bool = field(default=True, metadata={"stored_as": "teachable"})

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Draw an action for every state; see `Learner.learn`."""
        del progress
        tabular = tabular_problem(problem, use_context=False)
        size = tabular.index.offsets[-1]
        actions = rng.integers(problem.mdp.n_actions, size=size, dtype=np.uint8)
        return Learned(tabular.policy(actions, problem.modes))
