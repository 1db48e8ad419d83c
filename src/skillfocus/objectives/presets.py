"""The paper's learning rates (appendix), for estimates that leave theirs open."""

from __future__ import annotations

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective

RATES = {"vic": 0.7, "diayn": 0.05, "lsd": 0.1, "metra": 0.01}
"""By the name of the reward."""
RATES_IN_WORLD = {("vic", "ForageWorld-v0"): 0.5}
"""By the name of the reward and the world's id, where it differs."""


def learning_rate(objective: Objective, world_id: str) -> float:
    """Return an objective's learning rate in a world: its own, or the paper's."""
    reward = objective.reward
    if reward.estimate.rate is not None:
        return float(reward.estimate.rate)
    if reward.name not in RATES:
        raise UserError(
            f"{objective.name} has no learning rate, and the paper has none for {reward.name}: "
            f"give its estimate a rate"
        )
    return RATES_IN_WORLD.get((reward.name, world_id), RATES[reward.name])
