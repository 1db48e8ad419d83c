"""Training loop: stretches of updates on the device, estimator updates and checkpoints between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.base import Learned, Problem
from skillfocus.learners.neural.checkpoint import make_checkpoint, read_state, write_state
from skillfocus.learners.neural.jax_cache import keep_compiled_programs
from skillfocus.learners.neural.learner import Neural
from skillfocus.learners.neural.replay import is_deterministic
from skillfocus.learners.neural.rewards import GroupReward, NetworkReward, make_rewards
from skillfocus.learners.neural.training import Trainer, with_judges
from skillfocus.learners.neural.training_state import Carry, Ends
from skillfocus.progress import Progress
from skillfocus.skills.neural.model import SkillModel
from skillfocus.skills.neural.network import init_network
from skillfocus.skills.neural.policy import NeuralPolicy
from skillfocus.worlds.jax.table import from_table
from skillfocus.worlds.jax.world import JaxWorld

TYPICAL_LOSS = 4.0
"""Typical loss of a skill in its unit: about a discriminator's -log q, as settings assume."""


def train(
    settings: Neural,
    problem: Problem,
    rngs: Sequence[np.random.Generator],
    progress: Progress,
    strengths: Sequence[float] | None = None,
) -> list[Learned]:
    """Train one set of skills per generator, in one batch.

    Args:
        settings: The learner's settings.
        problem: What to learn.
        rngs: One generator per set of skills.
        progress: Progress callback.
        strengths: Penalty strength of each set (default: the objective's).
    """
    keep_compiled_programs()
    world = jax_world(problem)
    model = make_model(problem)
    trainer = Trainer(world, model, settings, problem.step_limit)
    penalty = problem.objective.penalty
    if strengths is None:
        strengths = [0.0 if penalty is None else penalty.strength] * len(rngs)
    checkpoint = make_checkpoint(settings, problem, rngs, strengths)
    sets = [SkillSet(trainer, rng, strength) for rng, strength in zip(rngs, strengths, strict=True)]
    alone = len(sets) == 1
    carry: Any = sets[0].carry if alone else stack([each.carry for each in sets])
    stretches = -(-settings.updates // settings.stretch)
    done = 0
    if checkpoint is not None and checkpoint.exists():
        carry, done = read_state(checkpoint, carry, sets)

    def run_stretch(carry: Carry, rewards: Any) -> tuple[Carry, jax.Array, Ends]:
        return trainer.run(carry, rewards, settings.stretch)

    run = jax.jit(run_stretch if alone else jax.vmap(run_stretch), donate_argnums=0)
    began, first = time.monotonic(), done
    for number in range(done, stretches):
        seconds = time.monotonic() - began
        steps = (number - first) * settings.stretch * settings.environments * len(sets)
        speed = f", {steps / seconds:,.0f} steps/s" if number > first else ", compiling"
        progress(
            number / stretches,
            f"update {number * settings.stretch:,} of {settings.updates:,}{speed}",
        )
        weights = [each.weights() for each in sets]
        with matmul_precision(settings):
            carry, loss, ends = run(carry, weights[0] if alone else stack(weights))
        if not np.isfinite(np.asarray(loss)).all():
            raise _diverged(settings, number)
        for i, each in enumerate(sets):
            mine = ends if alone else jax.tree.map(lambda leaf, i=i: leaf[i], ends)
            each.observe(mine, (number + 1) / stretches)
        if checkpoint is not None and checkpoint.is_due:
            write_state(checkpoint, carry, sets, number + 1)
    if checkpoint is not None:
        checkpoint.delete()
    carries = (
        [carry] if alone else [jax.tree.map(lambda x, i=i: x[i], carry) for i in range(len(sets))]
    )
    return [
        Learned(NeuralPolicy(model, each.final_weights(one), problem.modes, world.mdp))
        for each, one in zip(sets, carries, strict=True)
    ]


def matmul_precision(settings: Neural) -> AbstractContextManager[None]:
    """Return a context in which programs are compiled with the precision of the settings."""
    if settings.precision == "default":
        return nullcontext()
    return jax.default_matmul_precision("BF16_BF16_F32")


def jax_world(problem: Problem) -> JaxWorld:
    """Return the problem's world in JAX; a finite world is converted from its table."""
    world = problem.world
    return world if isinstance(world, JaxWorld) else from_table(world, problem.mdp)


def make_model(problem: Problem) -> SkillModel:
    """Return the skill model of a problem."""
    world = problem.world
    one_way = world.one_way if isinstance(world, JaxWorld) else problem.mdp.one_way
    return SkillModel(
        world.space, one_way, len(world.actions), problem.objective, problem.assignment
    )


class SkillSet:
    """One set of skills in training: its rewards and initial training state."""

    def __init__(self, trainer: Trainer, rng: np.random.Generator, strength: float) -> None:
        self.settings, self.model, self.rng = trainer.settings, trainer.model, rng
        self.rewards: list[GroupReward] = make_rewards(self.model, self.settings.owned_share, rng)
        self.parts = [reward.parts(held=True) for reward in self.rewards]
        temperature = self.settings.temperature if is_deterministic(trainer.world) else 0.0
        self.fixed = {
            "strength": np.float32(strength),
            "temperature": np.float32(temperature),
            "unit": _units(self.model, self.parts),
        }
        hidden = self.settings.hidden
        costs = init_network(
            [self.model.n_inputs, hidden, hidden, self.model.n_outputs], rng,
            output_bias=self.settings.pessimism,
        )  # fmt: skip
        judges = {
            str(number): reward.network
            for number, reward in enumerate(self.rewards)
            if isinstance(reward, NetworkReward)
        }
        self.carry = trainer.init(jax.random.key(int(rng.integers(2**31))), costs, judges)

    def weights(self) -> dict[str, Any]:
        """Return the reward parameters of the next stretch."""
        return {**self.fixed, "groups": self.parts}

    def observe(self, ends: Ends, share: float) -> None:
        """Update the estimators from the states in which skills ended, once `hold` is over.

        Args:
            ends: Ends of skills in the last stretch.
            share: Share of the training that is done.
        """
        settings, model = self.settings, self.model
        released = share - settings.hold
        if released <= 0:
            return
        rate = settings.release_rate * min(1.0, 4 * released / (1 - settings.hold))
        ended = np.asarray(ends.ended).ravel()
        skills = np.asarray(ends.skill).ravel()[ended]
        starts, states = (
            np.asarray(each).reshape(-1, len(model.space))[ended]
            for each in (ends.start, ends.state)
        )
        for number, reward in enumerate(self.rewards):
            components, among = model.component(number, skills)
            for component in range(reward.group.n_components):
                which = np.flatnonzero(among & (components == component))
                which = self.rng.permutation(which)[: settings.observations]
                reward.update(np.full(len(which), component), starts[which], states[which], rate)
        self.parts = [reward.parts(held=False) for reward in self.rewards]

    def refresh(self, stretches: int) -> None:
        """Recompute the rewards after estimates were restored from a checkpoint."""
        share = stretches / -(-self.settings.updates // self.settings.stretch)
        held = share <= self.settings.hold
        self.parts = [reward.parts(held=held) for reward in self.rewards]

    def final_weights(self, carry: Carry) -> dict[str, Any]:
        """Return the weights of the policies, as NumPy arrays."""
        groups = with_judges(self.parts, carry.judges)
        for parts in groups:
            parts.pop("partition", None)
            parts.pop("held", None)
        return jax.tree.map(np.asarray, {**self.fixed, "costs": carry.slow, "groups": groups})


def _units(model: SkillModel, parts: list[dict[str, Any]]) -> np.ndarray:
    """Return each skill's unit: 1 for log probabilities, else its typical loss / `TYPICAL_LOSS`."""
    units = np.ones(model.n_skills, np.float32)
    if model.objective.reward.estimate.discriminates:
        return units
    lost = np.zeros(model.n_skills, np.float32)
    for group, part, shares in zip(model.groups, parts, model.shares, strict=True):
        if "table" in part:
            regret = part["table"].max(axis=2, keepdims=True) - part["table"]
            typical = [row[row > 0].mean() if (row > 0).any() else 0.0 for row in regret]
        else:
            typical = model.bound(group, part) / 2
        lost += np.asarray(typical, np.float32) @ shares
    return np.where(lost > 0, lost / TYPICAL_LOSS, units).astype(np.float32)


def stack(trees: Sequence[Any]) -> Any:
    """Stack pytrees of arrays along a new leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _diverged(settings: Neural, number: int) -> UserError:
    advice = "set checkpoint to keep earlier states"
    if settings.checkpoint is not None and Path(settings.checkpoint).exists():
        advice = f"the last finite state is in {settings.checkpoint}"
    return UserError(
        f"training diverged: the loss is no longer finite after {number * settings.stretch:,} "
        f"updates; lower learning_rate ({advice})"
    )
