"""The plan that makes a focused change with the highest probability; see `best_focus.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skillfocus.core.mdp import TabularMDP
from skillfocus.metrics.best_focus import backup
from skillfocus.metrics.focused_change import Restore, make_change

STOP = -1


@dataclass(frozen=True, eq=False)
class FocusedPlan:
    """The best focused behaviour from one start; a baseline for discovered skills.

        plan = best_plan(mdp, [1], start, step_limit=40)
        action = plan.action(state, steps=0)  # None: stop

    Attributes:
        start: Number of the start.
        probability: How likely it makes the focused change.
        actions: int16 [step_limit, n_states], by the steps taken so far; -1 means "stop". What to
            do depends on the time: with few steps left, only a risky way is short enough.
    """

    start: int
    probability: float
    actions: np.ndarray

    def action(self, state: int, steps: int) -> int | None:
        """Return what to do in a state after so many steps; None to stop."""
        action = self.actions[steps, state] if steps < len(self.actions) else STOP
        return None if action == STOP else int(action)


def best_plan(
    mdp: TabularMDP,
    targets: Sequence[int | str],
    start: int,
    step_limit: int,
    restore: Restore = "all",
    values: Sequence[int] | None = None,
) -> FocusedPlan:
    """Return the plan with the highest probability of a focused change from a start.

    It stops where the change is done, and where it has become impossible.

    Args:
        mdp: The world's MDP.
        targets: The variables that must end changed, by index or name.
        start: Number of the start.
        step_limit: Most steps.
        restore: Which of the other variables must end as they were.
        values: The values that targets must end with, as for `best_focus`.

    Raises:
        UserError: If an argument is not what it must be, such as a value that there is not.
    """
    change = make_change(mdp, targets, restore, values)
    done = change.done(mdp.values, mdp.values[[start]])
    v = done.astype(np.float64)
    out, actions = v.copy(), np.empty((step_limit, mdp.n_states), dtype=np.int16)
    for left in range(1, step_limit + 1):
        backup(mdp.successors, mdp.probabilities, v, done, out)
        expected = (mdp.probabilities * v[mdp.successors, 0]).sum(axis=2)
        stops = done[:, 0] | (out[:, 0] == 0)
        actions[step_limit - left] = np.where(stops, STOP, expected.argmax(axis=1))
        v, out = out, v
    return FocusedPlan(int(start), float(v[start, 0]), actions)
