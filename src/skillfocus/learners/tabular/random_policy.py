"""A control that learns nothing: in every state a skill makes the move that was drawn for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.learners.tabular.problem import Problem
from skillfocus.objectives.objective import Objective


@dataclass(frozen=True)
class RandomPolicy:
    """Random policies. They never terminate: a skill lasts as long as it may, and wanders on."""

    name: str = "chance"
    start_where_controllable: bool = field(default=True, metadata={"stored_as": "teachable"})

    def uses_context(self, objective: Objective) -> bool:
        del objective
        return False

    def learn(
        self, problem: Problem, rng: np.random.Generator, progress: Progress
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        del progress
        moves = rng.integers(problem.mdp.n_actions, size=problem.offsets[-1], dtype=np.uint8)
        return moves, problem.initial_params(rng)
