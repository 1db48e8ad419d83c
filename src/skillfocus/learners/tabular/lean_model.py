"""Value iteration with memory for little more than what is being solved.

`LeanModel` takes the place of `Model` where policies have too many entries to be kept: of a round
it keeps the actions in the contexts that were asked for, values only where they fit, and final
policies packed (see `skills/packed_policy.py`), without the pairs of state and context that cannot
occur. Blocks of contexts are solved on all cores; which core solves which decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from skillfocus.core.rollout import PolicyArrays
from skillfocus.learners.tabular.kernels import Params, state_reward
from skillfocus.learners.tabular.reachable_pairs import keep_reachable
from skillfocus.learners.tabular.sweeps import gather_columns, scatter_columns
from skillfocus.learners.tabular.value_iteration import BLOCK, Model
from skillfocus.machine import map_on_cores
from skillfocus.skills.packed_policy import Packer

KEPT_VALUES = 256_000_000
"""Values kept from round to round, 1 GB; of more, every round solves its contexts from scratch."""


class LeanModel(Model):
    """A learning problem laid out for sweeps, with the policies of a round's contexts."""

    def _allocate(self) -> None:
        problem, index = self.problem, self.problem.index
        self.keeps_values = index.n_entries <= KEPT_VALUES
        sizes = index.widths if self.keeps_values else np.zeros_like(index.widths)
        self._values = [np.zeros((problem.mdp.n_states, n), dtype=np.float32) for n in sizes]
        self._chosen = [np.zeros((problem.mdp.n_states, 0), np.uint8) for _ in sizes]
        self._columns = [np.zeros(n, dtype=np.int32) for n in index.widths]

    @property
    def policy_arrays(self) -> PolicyArrays:
        """The policies of the contexts of the last round, for kernels."""
        index = self.problem.index
        widths = np.array([table.shape[1] for table in self._chosen], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(widths * self.problem.mdp.n_states)])
        contexts = [self._columns[z][index.contexts[z]] for z in range(len(self._columns))]
        flat = np.concatenate([table.ravel() for table in self._chosen])
        return PolicyArrays(flat, offsets, widths, np.stack(contexts), index.n_modes)

    def improve(
        self, z: int, params: Params, sweeps: int, contexts: np.ndarray | None = None
    ) -> None:
        """Sweep skill z's values in some contexts (default: all), and find its policy there."""
        if contexts is None:
            contexts = np.arange(len(self.known[z]))
        chosen = np.empty((self.problem.mdp.n_states, len(contexts)), np.uint8)
        for first, policy in self._solve(z, params, sweeps, contexts, lambda policy, _: policy):
            chosen[:, first : first + policy.shape[1]] = policy
        self._chosen[z] = chosen
        self._columns[z][contexts] = np.arange(len(contexts))
        self.known[z][contexts] = True

    def pack(self, z: int, params: Params, sweeps: int, packer: Packer) -> np.ndarray:
        """Solve for skill z from scratch, and return its policy packed, uint32 [n_states, n]."""
        mdp, index = self.problem.mdp, self.problem.index.of_skill[z]
        limit = self.problem.step_limit

        def keep(policy: np.ndarray, contexts: np.ndarray) -> np.ndarray:
            return keep_reachable(mdp, policy, contexts, index, limit)

        self.known[z][:] = False
        contexts = np.arange(index.size)
        solved = self._solve(z, params, sweeps, contexts, keep)
        return np.concatenate([packer.pack(policy) for _, policy in solved], axis=1)

    def _solve(
        self,
        z: int,
        params: Params,
        sweeps: int,
        contexts: np.ndarray,
        finish: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield, in order, where each block of contexts begins and its policy."""
        problem, known, backup = self.problem, self.known[z], self.backup(z, params)

        def one(first: int) -> tuple[int, np.ndarray]:
            block = contexts[first : first + BLOCK]
            t = state_reward(problem, params, z, block)
            here = self.kept * t
            if self.keeps_values:
                kept = gather_columns(self._values[z], block)
                np.copyto(here, kept, where=known[block])
            policy = self.solve(here, t, backup, sweeps)
            if self.keeps_values:
                scatter_columns(here, block, self._values[z])
            return first, finish(policy, block)

        yield from map_on_cores(one, range(0, len(contexts), BLOCK))
