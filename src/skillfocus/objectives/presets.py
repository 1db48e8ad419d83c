"""Learning rates, for estimates that leave theirs open: the paper's (appendix), and ours for
focused VIC in worlds that the paper does not have.

The paper's weight for VIC's discriminator, 0.7, lets the last run or two decide what it says. That
is harmless where a skill for a key always fetches it. Where it cannot from some starts (the key is
too far for the step limit, or too far to come home again) it stays there, as the skill that is to
leave the key alone does; if one of those runs is the last, the discriminator takes staying for its
own, and then it stays from everywhere. A small weight averages over a few dozen runs.
"""

from __future__ import annotations

from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective

RATES = {"vic": 0.7, "diayn": 0.05, "lsd": 0.1, "metra": 0.01}
"""The paper's, by the name of the reward; METRA is not in the paper."""
RATES_IN_WORLD = {("vic", "ForageWorld-v0"): 0.5}
"""By the name of the reward and the world's id, where it differs."""
FOCUSED_RATES = {"vic": 0.05}
"""By the name of the reward, for focused objectives outside `WORLDS_WITH_RESULTS`."""
WORLDS_WITH_RESULTS = frozenset(
    {
        "FourRooms-v0", "ForageWorld-v0", "MudWorld-v0", "Box-v0", "Vase-v0", "ConveyorSushi-v0",
        "ConveyorVase-v0", "Train-v0", "ToolRooms-v0", "RoomBlocks-v0", "VisibleMud-v0",
        "MiniBehaviorPrinter-v0", "MiniBehaviorThawing-v0", "MiniBehaviorCar-v0",
    }
)  # fmt: skip
"""The worlds of the committed results, which are learned with the paper's rates."""


def learning_rate(objective: Objective, world_id: str) -> float:
    """Return an objective's learning rate in a world: its own, or the default."""
    reward = objective.reward
    if reward.estimate.rate is not None:
        return float(reward.estimate.rate)
    if reward.name not in RATES:
        raise UserError(
            f"{objective.name} has no learning rate, and the paper has none for {reward.name}: "
            f"give its estimate a rate"
        )
    if objective.penalty is not None and world_id not in WORLDS_WITH_RESULTS:
        return FOCUSED_RATES.get(reward.name, RATES[reward.name])
    return RATES_IN_WORLD.get((reward.name, world_id), RATES[reward.name])
