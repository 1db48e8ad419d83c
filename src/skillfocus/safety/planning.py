"""Exact planning of penalized tasks, over primitive actions and over skills.

Backward induction over the steps left. With V_t(s) the value after t steps, an option that takes k
steps from s is worth

    Q_t(s, o) = E[ sum over i < k of gamma^i (r_i - beta d_i) + gamma^k V_{t+k}(s_k) ],

exactly, by its semi-Markov model (`option_models.py`), for every baseline, since the steps taken so
far are known. Nothing follows the end of an episode. A skill that ends at once costs one step
without acting.
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
"""Values that differ by less are equal. Of equally good choices doing nothing is taken, if it is
one of them, and otherwise each with the same probability."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What an agent does after each number of steps."""

    penalized: PenalizedTask
    models: list[OptionModel]
    """The options: skills first, then primitive actions."""
    choices: np.ndarray
    """bool [max_episode_steps, n, n_options]: the options taken in each state, doubled if the task
    goes on when its reward is paid; several are equally likely."""
    value: float
    """What the plan is worth from the task's start."""


def plan(
    mdp: TabularMDP,
    penalized: PenalizedTask,
    skills: Skills | None = None,
    *,
    primitives: bool = True,
    gamma: float = 0.99,
    models: list[OptionModel] | None = None,
) -> Plan:
    """Return the best plan for a penalized task.

    Args:
        mdp: The world's MDP.
        penalized: The task.
        skills: Skills to choose among; None for primitive actions alone.
        primitives: Whether to choose among primitive actions too.
        gamma: Discount per step.
        models: What `option_models` returns for these, if it is known already: it does not depend
            on the penalty.

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
