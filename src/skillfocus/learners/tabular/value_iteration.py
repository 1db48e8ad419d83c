"""Value iteration for all skills of a learning problem, and the policies that it finds.

Worlds whose actions have very many outcomes are swept by matrix products (`product_model.py`),
others by the kernels of `sweeps.py`.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from skillfocus.core.rollout import PolicyArrays
from skillfocus.errors import UserError
from skillfocus.learners.tabular.kernels import Params, outcome_cost, state_reward
from skillfocus.learners.tabular.problem import TabularProblem
from skillfocus.learners.tabular.product_model import product_model
from skillfocus.learners.tabular.sweeps import (
    TOLERANCE,
    Backup,
    gather_columns,
    greedy,
    new_stamps,
    scatter_columns,
    sweep,
)
from skillfocus.machine import map_on_cores
from skillfocus.objectives.objective import Timing

BLOCK = 256
"""Contexts swept together: few enough for their values to stay in the cache."""
MAX_GAMMA = 0.9999
"""With gamma = 1, paths that never arrive tie with the best."""


def check_gamma(gamma: float) -> None:
    """Raise a `UserError` unless gamma is a discount."""
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma}; it must be above 0 and at most 1")


def earned_share(timing: Timing, gamma: float) -> float:
    """Return e, the share of its reward that a skill earns by passing through a state."""
    return 1 - gamma if timing == "step" else 0.0


class Model:
    """A learning problem laid out for sweeps, with the values and policies found so far.

    Args:
        problem: The learning problem.
        gamma: Discount.
        keeps_earning: Whether a skill that terminates goes on earning a reward of every step.
    """

    def __init__(self, problem: TabularProblem, gamma: float, keeps_earning: bool = True) -> None:
        gamma = min(gamma, MAX_GAMMA)
        self.problem = problem
        self.gamma = np.float32(gamma)
        self.earned = np.float32(earned_share(problem.objective.reward.timing, gamma))
        self.kept = self.earned if self.earned and not keeps_earning else np.float32(1)
        # What is earned at every step does not wait for the end, so its losses are discounted.
        self.waiting = self.gamma if self.earned else np.float32(1 / gamma)
        mdp = problem.mdp
        self.product = product_model(mdp)
        n_outcomes = mdp.successors.shape[2]
        padding = ((0, 0), (0, 0), (0, -n_outcomes % 4 if n_outcomes > 1 else 0))
        self.successors = np.ascontiguousarray(np.pad(mdp.successors, padding))
        self.probabilities = np.pad(mdp.probabilities, padding).astype(np.float32)
        self.known = [np.zeros(width, dtype=bool) for width in problem.index.widths]
        """[skill][context]: whether values have been swept. Those that have not start as what
        terminating at once would earn."""
        self._costs: dict[int, np.ndarray] = {}
        self._allocate()

    keeps_values = True
    """Whether values are kept from one call of `improve` to the next."""

    def _allocate(self) -> None:
        size = self.problem.index.offsets[-1]
        self.values = np.zeros(size, dtype=np.float32)
        self.actions = np.zeros(size, dtype=np.uint8)

    @property
    def policy_arrays(self) -> PolicyArrays:
        """The policies found so far, for kernels."""
        index = self.problem.index
        return PolicyArrays(
            self.actions, index.offsets, index.widths, index.contexts, index.n_modes
        )

    def backup(self, z: int, params: Params) -> Backup:
        """Return what sweeps of skill z need."""
        return Backup(
            self.successors, self.probabilities, self._expected_costs(z, params), self.gamma,
            self.waiting, self.earned, self.kept,
        )  # fmt: skip

    def _expected_costs(self, z: int, params: Params) -> np.ndarray:
        """Return the expected cost of each action, float32 [n_states, n_actions]."""
        fixed = self.problem.objective.reward.timing != "transition"
        if not fixed or z not in self._costs:
            costs = outcome_cost(self.problem, params, z)
            self._costs[z] = (self.problem.mdp.probabilities * costs).sum(axis=2).astype(np.float32)
        return self._costs[z]

    def improve(
        self, z: int, params: Params, sweeps: int, contexts: np.ndarray | None = None
    ) -> None:
        """Sweep skill z's values in some contexts (default: all), and find its policy there."""
        problem, known = self.problem, self.known[z]
        if contexts is None:
            contexts = np.arange(len(known))
        part = slice(problem.index.offsets[z], problem.index.offsets[z + 1])
        shape = problem.mdp.n_states, len(known)
        values, actions = self.values[part].reshape(shape), self.actions[part].reshape(shape)
        backup = self.backup(z, params)

        def one(first: int) -> None:
            block = contexts[first : first + BLOCK]
            t = state_reward(problem, params, z, block)
            here = gather_columns(values, block)
            if not known[block].all():
                np.copyto(here, self.kept * t, where=~known[block])
            policy = self.solve(here, t, backup, sweeps)
            scatter_columns(here, block, values)
            scatter_columns(policy, block, actions)

        # Many outcomes take minutes, so they are worth all cores; other runs have one each.
        on_each = map if self.product is None else map_on_cores
        deque(on_each(one, range(0, len(contexts), BLOCK)), maxlen=0)
        known[contexts] = True

    def solve(self, values: np.ndarray, t: np.ndarray, backup: Backup, sweeps: int) -> np.ndarray:
        """Sweep values in place until they change no more, and return the best actions.

        Args:
            values: float32 [n_states, n_contexts].
            t: The values of terminating, float32 [n_states, n_contexts].
            backup: What sweeps need.
            sweeps: Most sweeps.

        Returns:
            uint8 [n_states, n_contexts].
        """
        if self.product is not None:
            # The n-th of these sweeps finds what is best with n steps to go.
            most = min(sweeps, self.problem.step_limit)
            return self.product.solve(values, t, backup, most, TOLERANCE)
        n, stamps = len(values), new_stamps(len(values))
        for number in range(sweeps):
            if sweep(values, t, backup, number % 2 == 1, stamps, number * n) < TOLERANCE:
                break
        return greedy(values, t, backup)
