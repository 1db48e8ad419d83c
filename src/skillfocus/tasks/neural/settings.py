"""Settings of value learning over options; `option_learning` says what they do."""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.errors import UserError
from skillfocus.tasks.neural.task import RewardKind


@dataclass(frozen=True)
class OptionLearning:
    """Settings of value learning over options.

    Attributes:
        steps: Primitive steps to learn from, of all environments together.
        environments: Environments that step at once.
        reward: What to learn from: the task's "proxy" or its "true" reward.
        interrupt: Whether the reward ends an episode at once; see `OptionRunner`.
        gamma: Discount per primitive step.
        hidden: Width of the two hidden layers.
        learning_rate: Adam's step size at first.
        last_rate: The same at the end, approached along a cosine.
        adam_epsilon: Adam's epsilon. Gradients are tiny before the first reward, and must not be
            scaled up to steps of full size.
        slow_rate: How fast the copy that acts and gives targets follows.
        advantage: Weight of the advantage term, in [0, 1).
        double: Whether the fast network chooses the option whose value the slow one gives.
        memory: Decisions that are remembered.
        rewarded: Decisions of rewarded episodes that are remembered.
        rewarded_share: Share of the latter in each batch. Where outcomes are random, it favours
            lucky ones; 0 does not.
        trace: Last decisions of an episode that are remembered if it is rewarded.
        batch: Decisions per update.
        updates: Updates per step of all environments.
        evaluations: How often the greedy agent is evaluated, evenly spaced.
        evaluation_episodes: Episodes per evaluation, except the last.
        final_episodes: Episodes of the last evaluation.
    """

    steps: int = 1_000_000
    environments: int = 128
    reward: RewardKind = "proxy"
    interrupt: bool = False
    gamma: float = 0.99
    hidden: int = 128
    learning_rate: float = 1e-3
    last_rate: float = 1e-4
    adam_epsilon: float = 1e-5
    slow_rate: float = 0.02
    advantage: float = 0.8
    double: bool = True
    memory: int = 100_000
    rewarded: int = 20_000
    rewarded_share: float = 0.25
    trace: int = 64
    batch: int = 512
    updates: int = 1
    evaluations: int = 20
    evaluation_episodes: int = 16
    final_episodes: int = 1000

    def __post_init__(self) -> None:
        if self.reward not in ("proxy", "true"):
            raise UserError(f"the reward must be 'proxy' or 'true', got {self.reward!r}")
        if not 0 < self.gamma <= 1:
            raise UserError(f"gamma must be in (0, 1], got {self.gamma}")
        for name in ("advantage", "rewarded_share"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        for name in (
            "steps", "environments", "hidden", "rewarded", "trace", "batch", "updates",
            "evaluations", "evaluation_episodes", "final_episodes",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.memory < self.environments:
            raise UserError(
                f"memory must have room for a decision of each of {self.environments} "
                f"environments, got {self.memory}"
            )

    @property
    def iterations(self) -> int:
        """Steps of each environment between two evaluations."""
        return -(-self.steps // (self.environments * self.evaluations))
