"""Settings of the actor, with which the neural learner trains in continuous worlds.

Importing this module does not import JAX.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.errors import UserError, check_ranges


@dataclass(frozen=True)
class Actor:
    """Settings of PPO with one critic head per component of a skill.

        skills = sf.discover(world, objective, seed=0, learner=sf.Neural(actor=sf.Actor()))

    The defaults suit two CPU cores; `large_actor()` has settings for a GPU. In each round, every
    environment runs one skill to its end, then the networks are updated.

    Attributes:
        rounds: Rounds of training.
        environments: Number of parallel environments.
        hidden: Width of the two hidden layers of actor and critic.
        judge_hidden: Width of the two hidden layers of discriminators and phi.
        epochs: Epochs over the steps of a round.
        batch: Minibatch size, in steps.
        learning_rate: Initial learning rate of Adam; it decays linearly to a tenth.
        judge_rate: Learning rate of discriminators and phi.
        gamma: Discount of per-step rewards; others are not discounted.
        trace: Lambda of generalized advantage estimation.
        clip: Clip range of the probability ratio.
        entropy: Weight of the entropy bonus, per action dimension.
        persistence: Correlation of the action noise between consecutive steps.
        credit: How much each action dimension follows the components that it has most influence
            on, instead of their sum; 0 for the sum (see `credit.py`). Needs a world in JAX.
        hold: Share of training during which fixed prototypes supply the rewards of discriminators.
        free: Share of training without a penalty, in which skills find out what they can change.
        rise: Share of training after that over which the penalty rises to its full strength. It
            should end before `hold` does: a skill that gives up in between can then still recover.
        settling: Share of a skill's steps, at its start, without per-step reward and penalty.
        reset_share: Probability that an environment is reset when a skill ends.
        stretch: Rounds per compiled scan.
    """

    rounds: int = 300
    environments: int = 64
    hidden: int = 64
    judge_hidden: int = 32
    epochs: int = 4
    batch: int = 800
    learning_rate: float = 1e-3
    judge_rate: float = 3e-3
    gamma: float = 0.98
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    persistence: float = 0.0
    credit: float = 0.0
    hold: float = 0.6
    free: float = 0.1
    rise: float = 0.35
    settling: float = 0.2
    reset_share: float = 0.1
    stretch: int = 10

    def __post_init__(self) -> None:
        counts = (
            "rounds", "environments", "hidden", "judge_hidden", "epochs", "batch", "stretch",
        )  # fmt: skip
        shares = ("gamma", "trace", "hold", "free", "rise", "settling", "reset_share")
        check_ranges(
            self,
            {
                "at least 1": counts,
                "between 0 and 1": shares,
                "positive and finite": ("learning_rate", "judge_rate", "clip"),
                "0 or more and finite": ("entropy", "credit"),
            },
        )
        if not 0 <= self.persistence < 1:
            raise UserError(f"persistence is {self.persistence}; it must be 0 or more and below 1")


def large_actor(**settings: object) -> Actor:
    """Return settings for one large GPU.

    Args:
        settings: Overrides.
    """
    large: dict[str, object] = {
        "rounds": 1000, "environments": 4096, "hidden": 256, "judge_hidden": 64, "epochs": 2,
        "batch": 16_384,
    }  # fmt: skip
    return Actor(**{**large, **settings})  # pyright: ignore[reportArgumentType]
