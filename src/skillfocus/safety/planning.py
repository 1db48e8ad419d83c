"""Exact planning of penalized tasks, over primitive actions and over skills.

Backward induction over time. With V_t(s) the value of s after t steps, the value of an option that
takes k steps from s is

    Q_t(s, o) = E[ sum over i < k of gamma^i (r_i - beta d_i) + gamma^k V_{t+k}(s_k) ],

computed exactly from its semi-Markov model (`option_models.py`). This holds for every baseline,
because t is known. The value after the end of an episode is 0. A skill that ends at once takes one
no-op step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skillfocus.core.inaction import noop_action
from skillfocus.core.mdp import TabularMDP
from skillfocus.safety.option_models import OptionModel, option_models
from skillfocus.safety.penalized_task import PenalizedTask
from skillfocus.skills.skills import Skills

TIE = 1e-9
"""Tolerance of ties. Ties are broken in favour of the no-op, otherwise uniformly at random."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A time-dependent policy over options."""

    penalized: PenalizedTask
    models: list[OptionModel]
    """The options: skills first, then primitive actions."""
    choices: np.ndarray
    """Optimal options in each state, bool [max_episode_steps, n, n_options]; one of them is chosen
    uniformly. States are doubled if the task continues after its reward is paid."""
    value: float
    """Value of the plan in the task's start."""


def plan(
    mdp: TabularMDP,
    penalized: PenalizedTask,
    skills: Skills | None = None,
    *,
    primitives: bool = True,
    gamma: float = 0.99,
    models: list[OptionModel] | None = None,
) -> Plan:
    """Return the optimal plan for a penalized task.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: The skills; None for primitive actions only.
        primitives: Whether primitive actions are options too.
        gamma: Discount per step.
        models: Result of `option_models` for these, to avoid recomputing it; it does not depend on
            the penalty.

    Raises:
        UserError: If the skills belong to another world, have modes, or are too large.
    """
    models = option_models(mdp, penalized, skills, primitives) if models is None else models
    noop = noop_action(mdp)
    idle = None if noop is None or not primitives else len(models) - mdp.n_actions + noop
    horizon = penalized.task.max_episode_steps
    costs = [_costs(penalized, model, mdp) for model in models]
    n = len(models[0].pays[0])
    values = np.zeros((horizon + 1, n))
    choices = np.empty((horizon, n, len(models)), dtype=bool)
    for t in reversed(range(horizon)):
        worth = np.zeros((n, len(models)))
        for o, model in enumerate(models):
            for i in range(min(len(model.enters), horizon - t)):
                earned = model.pays[i] - costs[o][i][penalized.phases[t + i + 1]]
                worth[:, o] += gamma**i * earned
                if model.stops[i].nnz:
                    worth[:, o] += gamma ** (i + 1) * (model.stops[i] @ values[t + i + 1])
        values[t] = worth.max(axis=1)
        choices[t] = worth > values[t][:, None] - TIE
        if idle is not None:
            alone = choices[t][:, idle].copy()
            choices[t, alone] = False
            choices[t][:, idle] = alone
    return Plan(penalized, models, choices, float(values[0, penalized.task.start]))


def _costs(penalized: PenalizedTask, model: OptionModel, mdp: TabularMDP) -> list[np.ndarray]:
    """Return the expected cost of each step of an option, float64 [n_phases, n] each."""
    acting = penalized.strength * (mdp.probabilities * penalized.moving).sum(axis=2)
    copies = len(model.pays[0]) // mdp.n_states
    acting = np.tile(acting, (copies, 1)).ravel()
    entering = penalized.strength * np.tile(penalized.entering, copies)
    return [
        np.stack([enters @ phase for phase in entering]) + acts @ acting
        for enters, acts in zip(model.enters, model.acts, strict=True)
    ]
