"""Neural: learn skills with networks in JAX, in worlds too large for tables.

Importing this module does not import JAX; training does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from skillfocus.errors import UserError, check_ranges, unknown
from skillfocus.learners.problem import Learned, Learner, OnMetrics, Problem, check_own_world
from skillfocus.objectives.variants import PathPenalty
from skillfocus.progress import Progress
from skillfocus.worlds.jax.world import require_jax

PRECISIONS = ("default", "bfloat16")
RANGES = {
    "at least 1": (
        "steps", "environments", "batch", "memory", "hidden", "samples_per_update",
        "updates_per_jit",
    ),
    "between 0 and 1": (
        "target_rate", "warmup_fraction", "estimator_rate", "owned_share", "reset_share", "gamma",
        "event_share",
    ),
    "0 or more and finite": ("relabel_starts", "temperature"),
    "positive and finite": ("learning_rate", "last_rate", "step_cost"),
}  # fmt: skip
"""What the settings must be; see `errors.RANGES`."""


@dataclass(frozen=True)
class Neural(Learner):
    """Learn skills as a cost-to-go network (see `skills/network.py`).

        skills = sf.discover(world, objective, seed=0, learner=sf.Neural())

    The defaults suit two CPU cores; `large_neural()` has settings for a GPU.

    Attributes:
        steps: Environment steps of the training, of all environments together.
        environments: Number of parallel environments.
        batch: Transitions per update, each with two first states.
        memory: Capacity of the replay buffer, in transitions.
        event_share: Share of a batch sampled from events (transitions that changed a goal),
            uniformly over goals. Used only in deterministic worlds: elsewhere, oversampling by
            outcome would bias the targets.
        hidden: Width of the two hidden layers.
        learning_rate: Initial learning rate of Adam.
        last_rate: Final learning rate, reached by cosine decay.
        target_rate: Step size of the target network, which also acts.
        step_cost: Cost of a step, in units of the reward. Below the network's error, skills
            wander until their limit; times the steps of an errand, it must stay below the reward.
        temperature: Temperature of the softmax over costs that actions are sampled from, in units
            of the reward; 0 acts greedily. Used only in deterministic worlds, where a greedy skill
            can loop. With hundreds of actions, their small probabilities add up.
        gamma: Discount of per-step rewards.
        advantage: Weight of the advantage-learning term.
        pessimism: Initial cost-to-go.
        warmup_fraction: Share of the updates during which rewards are held fixed.
        estimator_rate: Learning rate of the estimators after that.
        samples_per_update: Most rollouts per component and stretch that update the estimators.
        owned_share: Smallest initial probability of the skill that owns a value.
        reset_share: Probability that an environment is reset when a skill ends.
        relabel_starts: Earlier first states kept per environment, as additional contexts to train
            with; 0 trains with the skill's own only.
        updates_per_jit: Updates between two estimator updates.
        precision: `bfloat16` rounds the factors of matrix products to 8 bits, which is faster on a
            GPU (see docs/neural.md); `default` leaves it to JAX. A CPU ignores it.
        checkpoint: File to write the training state to and to resume from.
        on_metrics: Called between compiled scans with `steps`, `loss`, and, of the skills that
            ended meanwhile, exploring ones included, `control` (the share that changed all of their
            targets) and `side_effects` (the mean number of other variables that changed).
        name: Name in files and tables.
    """

    steps: int = 6_144_000
    environments: int = 256
    batch: int = 256
    memory: int = 1 << 18
    event_share: float = 0.5
    hidden: int = 256
    learning_rate: float = 3e-3
    last_rate: float = 1e-4
    target_rate: float = 0.05
    step_cost: float = 0.05
    temperature: float = 0.0
    gamma: float = 0.99
    advantage: float = 0.8
    pessimism: float = 4.0
    warmup_fraction: float = 0.6
    estimator_rate: float = 0.002
    samples_per_update: int = 64
    owned_share: float = 0.98
    reset_share: float = 0.2
    relabel_starts: int = 4
    updates_per_jit: int = 100
    precision: str = "default"
    checkpoint: str | Path | None = field(default=None, metadata={"volatile": True})
    on_metrics: OnMetrics | None = field(default=None, metadata={"volatile": True})
    name: str = "neural"

    def __post_init__(self) -> None:
        check_ranges(self, RANGES)
        if self.environments < 2:
            raise UserError("environments is 1; half of them explore, so there must be at least 2")
        if self.precision not in PRECISIONS:
            raise unknown("precision", self.precision, PRECISIONS)

    @property
    def updates(self) -> int:
        """Network updates: one whenever all environments have stepped."""
        return -(-self.steps // self.environments)

    def check(self, problem: Problem) -> None:
        """Raise `UserError` if JAX is missing, or if networks cannot learn the problem."""
        require_jax("the neural learner")
        if problem.world.has_real_actions:
            raise UserError(
                f"{problem.world.id} has real-valued actions, which a cost network does not choose "
                f"among: use learner=sf.Actor()"
            )
        if not problem.world.space.is_finite:
            raise problem.world.no_table()
        penalty = problem.objective.penalty
        if penalty is not None and penalty.baseline != "start":
            raise UserError(
                f"the baseline {penalty.baseline!r} needs a table of states, which networks do not "
                f"have: use baseline='start', or learner=Planning()"
            )
        if isinstance(penalty, PathPenalty):
            raise UserError(
                f"{penalty.name} needs a table of states, which networks do not "
                f"have: use a Penalty on variables, such as weighted_norm(), or another learner"
            )
        from skillfocus.learners.cost_network.rewards import check_rewards
        from skillfocus.learners.cost_network.training import make_model

        check_rewards(make_model(problem))

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Train the networks; see `Learner.learn`."""
        self.check(problem)
        check_own_world(problem.world)
        from skillfocus.learners.cost_network.training import train_skills

        return Learned(train_skills(self, problem, rng, progress))


def large_neural(**settings: object) -> Neural:
    """Return the learner with settings for one large GPU.

    Args:
        settings: Overrides.
    """
    large: dict[str, object] = {
        "steps": 196_608_000, "environments": 8192, "batch": 8192, "memory": 1 << 22, "hidden": 512,
        "learning_rate": 1e-3, "target_rate": 0.02, "step_cost": 0.025, "name": "neural-large",
    }  # fmt: skip
    return Neural(**{**large, **settings})  # pyright: ignore[reportArgumentType]
