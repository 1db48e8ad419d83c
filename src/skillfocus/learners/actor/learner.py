"""Actor: learn skills with a policy network, in worlds with real-valued actions.

Importing this module does not import JAX; training does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from skillfocus.errors import UserError, check_ranges
from skillfocus.learners.problem import Learned, Learner, OnMetrics, Problem, check_own_world
from skillfocus.objectives.objective import Discriminator, Representation, TemporalRepresentation
from skillfocus.objectives.variants import PathPenalty
from skillfocus.progress import Progress
from skillfocus.worlds.host import HostWorld
from skillfocus.worlds.jax.world import require_jax

RANGES = {
    "at least 1": (
        "steps", "environments", "hidden", "estimator_hidden", "epochs", "batch", "rounds_per_jit",
    ),
    "between 0 and 1": (
        "gamma", "gae_lambda", "warmup_fraction", "penalty_delay", "penalty_ramp", "grace_fraction",
        "reset_share",
    ),
    "positive and finite": ("learning_rate", "estimator_rate", "clip"),
    "0 or more and finite": ("entropy", "credit"),
}  # fmt: skip
"""What the settings must be; see `errors.RANGES`."""


@dataclass(frozen=True)
class Actor(Learner):
    """Learn an actor by PPO, with one critic head per component of a skill.

        skills = sf.discover(world, objective, seed=0, learner=sf.Actor())

    The defaults suit two CPU cores; `large_actor()` has settings for a GPU. In each round, every
    environment runs one skill to its end, then the networks are updated.

    Attributes:
        steps: Environment steps of the training, of all environments together.
        environments: Number of parallel environments.
        hidden: Width of the two hidden layers of actor and critic.
        estimator_hidden: Width of the two hidden layers of discriminators and phi.
        epochs: Epochs over the steps of a round.
        batch: Minibatch size, in steps.
        learning_rate: Initial learning rate of Adam; it decays linearly to a tenth.
        estimator_rate: Learning rate of discriminators and phi.
        gamma: Discount of per-step rewards; others are not discounted.
        gae_lambda: Lambda of generalized advantage estimation.
        clip: Clip range of the probability ratio.
        entropy: Weight of the entropy bonus, per action dimension.
        noise_correlation: Correlation of the action noise between consecutive steps.
        credit: How much each action dimension follows the components that it has most influence
            on, instead of their sum; 0 for the sum (see `credit.py`). Needs a world in JAX.
        warmup_fraction: Share of training during which fixed prototypes supply the rewards of
            discriminators.
        penalty_delay: Share of training without a penalty, in which skills find out what they can
            change.
        penalty_ramp: Share of training after that over which the penalty rises to its full
            strength. It should end before `warmup_fraction` does: a skill that gives up in between
            can then still recover.
        grace_fraction: Share of a skill's steps, at its start, without per-step reward and penalty.
        reset_share: Probability that an environment is reset when a skill ends.
        rounds_per_jit: Rounds per compiled scan.
        checkpoint: File to write the training state to and to resume from.
        on_metrics: Called between compiled scans; see `Neural.on_metrics`.
        name: Name in files and tables.
    """

    steps: int = 960_000
    environments: int = 64
    hidden: int = 64
    estimator_hidden: int = 32
    epochs: int = 4
    batch: int = 800
    learning_rate: float = 1e-3
    estimator_rate: float = 3e-3
    gamma: float = 0.98
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    noise_correlation: float = 0.0
    credit: float = 0.0
    warmup_fraction: float = 0.6
    penalty_delay: float = 0.1
    penalty_ramp: float = 0.35
    grace_fraction: float = 0.2
    reset_share: float = 0.1
    rounds_per_jit: int = 10
    checkpoint: str | Path | None = field(default=None, metadata={"volatile": True})
    on_metrics: OnMetrics | None = field(default=None, metadata={"volatile": True})
    name: str = "actor"

    def __post_init__(self) -> None:
        check_ranges(self, RANGES)
        if not 0 <= self.noise_correlation < 1:
            raise UserError(
                f"noise_correlation is {self.noise_correlation}; it must be 0 or more and below 1"
            )

    def n_rounds(self, step_limit: int) -> int:
        """Return how many rounds there are if a skill takes so many steps."""
        return max(1, round(self.steps / (self.environments * step_limit)))

    def check(self, problem: Problem) -> None:
        """Raise `UserError` if JAX is missing, or if an actor cannot learn the problem."""
        require_jax("an actor")
        world, objective = problem.world, problem.objective
        if not world.has_real_actions:
            raise UserError(
                f"{world.id} has discrete actions, which an actor does not choose among: use "
                f"learner=sf.Neural()"
            )
        check_needs_no_table(problem)
        penalty = objective.penalty
        if isinstance(penalty, PathPenalty):
            raise UserError(f"{penalty.name} needs a table of states: use weighted_norm()")
        if penalty is not None and penalty.name == "changed-variables":
            raise UserError(
                "changed-variables is the same for all changes of a real-valued variable, so it "
                "gives a policy nothing to follow: use weighted_norm()"
            )
        if penalty is not None and penalty.auto:
            raise UserError(
                "strength='auto' compares with the best possible, which needs a table of states: "
                "give a number"
            )
        if penalty is not None and penalty.baseline != "start":
            raise UserError(
                f"actors compare with the start, not with {penalty.baseline}: use baseline='start'"
            )
        for name, why in (
            ("credit", "the influence of actions cannot be measured"),
            ("checkpoint", "its state cannot be saved"),
        ):
            if isinstance(world, HostWorld) and getattr(self, name):
                raise UserError(
                    f"{world.id} is stepped outside JAX, so {why}: train without {name}"
                )

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Train the networks; see `Learner.learn`."""
        self.check(problem)
        check_own_world(problem.world)
        from skillfocus.learners.actor.training import train_actor

        return Learned(train_actor(self, problem, rng, progress))


def check_needs_no_table(problem: Problem) -> None:
    """Raise `UserError` for rewards that have no meaning without a table of values."""
    objective, reward = problem.objective, problem.objective.reward
    if not isinstance(reward.estimate, Discriminator | Representation | TemporalRepresentation):
        raise UserError(
            f"{objective.name} looks values up in a table, and real-valued variables have none: "
            f"use vic, diayn, lsd or metra, or focused and dusdi variants of them"
        )
    if reward.timing == "transition" and isinstance(reward.estimate, Discriminator):
        raise UserError(
            f"{objective.name} discriminates transitions; an actor's discriminators see one state"
        )
    if reward.estimate.learns_prior:
        raise UserError(f"{objective.name} learns a prior, which actors do not: leave it uniform")


def large_actor(**settings: object) -> Actor:
    """Return settings for one large GPU.

    Args:
        settings: Overrides.
    """
    large: dict[str, object] = {
        "steps": 204_800_000, "environments": 4096, "hidden": 256, "estimator_hidden": 64,
        "epochs": 2, "batch": 16_384, "name": "actor-large",
    }  # fmt: skip
    return Actor(**{**large, **settings})  # pyright: ignore[reportArgumentType]
