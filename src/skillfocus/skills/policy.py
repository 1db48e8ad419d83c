"""One skill as a plain function of states, for a loop of your own.

The first call remembers the state in which the skill begins, and draws its mode if it has several.
Every call returns the number of the action to take, or None once the skill terminates or has
reached its step limit; the call after that begins anew. A loop that leaves a skill before its end
takes a new policy for the next run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError


class SkillPolicy:
    def __init__(
        self,
        mdp: TabularMDP,
        actions: np.ndarray,
        contexts: np.ndarray,
        n_modes: int,
        step_limit: int,
        rng: np.random.Generator | None,
    ) -> None:
        """`actions` is [state, context and mode], `contexts` [first state]."""
        if n_modes > 1 and rng is None:
            raise UserError(f"the skill draws one of {n_modes} modes when it begins: pass rng")
        self._table, self._actions, self._contexts = mdp, actions, contexts
        self._n_modes, self._step_limit, self._rng = n_modes, step_limit, rng
        self._context: int | None = None
        self._taken = 0

    def __call__(self, state: Sequence[int] | np.ndarray) -> int | None:
        """The action in a state, given as the indices of its values."""
        now = self._table.number(state)  # pyright: ignore[reportArgumentType]
        if self._context is None:
            self._context, self._taken = self._begin(now), 0
        action = int(self._actions[now, self._context])
        if action == self._table.n_actions or self._taken == self._step_limit:
            self._context = None
            return None
        self._taken += 1
        return action

    def _begin(self, now: int) -> int:
        context = int(self._contexts[now])
        if self._rng is None or self._n_modes == 1:
            return context
        return context * self._n_modes + int(self._rng.random() * self._n_modes)
