"""Settings of the actor, the part of the neural learner for continuous worlds.

Importing this file needs no JAX.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus._internal.checks import check_fields
from skillfocus.errors import UserError


@dataclass(frozen=True)
class Actor:
    """Proximal policy optimisation with one critic head per component of a skill.

        skills = sf.discover(world, objective, seed=0, learner=sf.Neural(actor=sf.Actor()))

    The defaults suit two CPU cores; `large_actor()` has settings for a GPU. One round lets every
    environment run one skill from beginning to end, then updates the networks.

    Attributes:
        rounds: Rounds of training.
        environments: Environments that step at once.
        hidden: Width of the two hidden layers of actor and critic.
        judge_hidden: The same of discriminators and phi.
        epochs: How often an update sees every step of a round.
        batch: Steps per step of Adam.
        learning_rate: Adam's step size at first; it falls linearly to a tenth.
        judge_rate: Adam's step size for discriminators and phi.
        gamma: Discount of rewards of every step; others are not discounted.
        trace: Decay of the generalised advantage estimates (their lambda).
        clip: How far the probability ratio counts.
        entropy: Weight of the actor's entropy, per dimension of an action.
        persistence: Correlation of the noise in actions with that of the step before.
        hold: Share of training during which values are dealt out to discrete skills beforehand.
        free: Share of training without a penalty, so that skills find out what they can change.
        rise: Share of training over which the penalty's strength rises after that. Best it is over
            before `hold` is: a skill that gives up for a while can still come back.
        settling: Share of a skill's first steps that earn no reward of every step, and cost no
            penalty of every step.
        reset_share: How often an environment begins afresh when a skill ends.
        stretch: Rounds that are compiled into one scan.
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
    hold: float = 0.6
    free: float = 0.1
    rise: float = 0.35
    settling: float = 0.2
    reset_share: float = 0.1
    stretch: int = 10

    def __post_init__(self) -> None:
        check_fields(self)
        counts = (
            "rounds", "environments", "hidden", "judge_hidden", "epochs", "batch", "stretch",
        )  # fmt: skip
        for name in counts:
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("gamma", "trace", "hold", "free", "rise", "settling", "reset_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be between 0 and 1")
        for name in ("learning_rate", "judge_rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UserError(f"{name} is {getattr(self, name)}; it must be positive and finite")
        if not 0 <= self.persistence < 1:
            raise UserError(f"persistence is {self.persistence}; it must be 0 or more and below 1")
        if not 0 <= self.entropy < float("inf"):
            raise UserError(f"entropy is {self.entropy}; it must be 0 or more and finite")


def large_actor(**settings: object) -> Actor:
    """Return settings for one large GPU.

    Args:
        settings: Settings that differ.
    """
    large: dict[str, object] = {
        "rounds": 1000, "environments": 4096, "hidden": 256, "judge_hidden": 64, "epochs": 2,
        "batch": 16_384,
    }  # fmt: skip
    return Actor(**{**large, **settings})  # pyright: ignore[reportArgumentType]
