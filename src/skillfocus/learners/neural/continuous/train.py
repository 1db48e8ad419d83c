"""Training loop for continuous skills: stretches of rounds on the device, and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.continuous import ContinuousProblem
from skillfocus.learners.neural.checkpoint import Checkpoint, generator_states
from skillfocus.learners.neural.continuous.credit import action_influence, credit_weights
from skillfocus.learners.neural.continuous.judging import init_vectors, normalise
from skillfocus.learners.neural.continuous.prototypes import choose_prototypes
from skillfocus.learners.neural.continuous.settings import Actor
from skillfocus.learners.neural.continuous.state import Carry, Fixed
from skillfocus.learners.neural.continuous.training import Trainer, initial_carry
from skillfocus.objectives.objective import Objective
from skillfocus.objectives.skill_layout import SkillLayout
from skillfocus.progress import Progress
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.skills.continuous.estimates import SkillEstimates, spectral_norms
from skillfocus.skills.neural.network import init_network
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.host import HostWorld

EXPLORERS = 256
"""Environments that take random actions before training, to find out which values are reached."""
REPEATS = 5
"""Steps for which they repeat an action."""
MIN_SCALE = 1e-2
"""Smallest scale of an observation."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of training.

    Attributes:
        model: The actor model.
        estimates: The discriminators or phi.
        weights: `actor`, `shift` and `scale` (see `ActorModel`), and `judges`.
        report: What `Trainer.learn` measured, by name, [n_rounds, ...].
    """

    model: ActorModel
    estimates: SkillEstimates
    weights: dict[str, Any]
    report: dict[str, np.ndarray]


def train(
    settings: Actor,
    problem: ContinuousProblem,
    rngs: Sequence[np.random.Generator],
    progress: Progress,
    strengths: Sequence[float] | None = None,
    checkpoint_path: str | Path | None = None,
) -> list[Trained]:
    """Train one set of skills per generator, in one batch.

    Args:
        settings: Settings of the actor.
        problem: What to learn.
        rngs: One generator per set of skills.
        progress: Progress callback.
        strengths: Penalty strength of each set (default: the objective's).
        checkpoint_path: File to write the training state to and to resume from.

    Raises:
        UserError: If training diverges, or the checkpoint cannot be used.
    """
    trainer = make_trainer(settings, problem)
    penalty = problem.objective.penalty
    if strengths is None:
        strengths = [0.0 if penalty is None else penalty.strength] * len(rngs)
    if isinstance(problem.world, HostWorld):
        if settings.credit:
            raise UserError(
                f"{problem.world.id} is stepped outside JAX, so the influence of actions cannot be "
                f"measured: train with credit=0"
            )
        if checkpoint_path is not None:
            raise UserError(
                f"{problem.world.id} is stepped outside JAX, so its state cannot be saved: train "
                f"without a checkpoint"
            )
        return [
            train_on_host(trainer, rng, strength, progress)
            for rng, strength in zip(rngs, strengths, strict=True)
        ]
    checkpoint = _checkpoint(checkpoint_path, settings, problem, rngs, strengths)
    initial = [
        init_training(trainer, rng, strength) for rng, strength in zip(rngs, strengths, strict=True)
    ]
    alone = len(initial) == 1
    carry, fixed = initial[0] if alone else jax.tree.map(lambda *each: jnp.stack(each), *initial)
    run = trainer.compiled if alone else trainer.compiled_for_many
    first, reports, done = None, [], 0
    if checkpoint is not None and checkpoint.exists():
        carry, before, header = checkpoint.read(carry)
        fixed = jax.tree.unflatten(
            jax.tree.structure(fixed), [jnp.asarray(before.pop(name)) for name in _names(fixed)]
        )
        reports, done = [before], header.done
    time_axis = 0 if alone else 1
    while done < settings.rounds:
        steps = done * problem.step_limit * settings.environments * len(rngs)
        speed = ", compiling" if first is None else f", {_speed(first, steps):,.0f} steps/s"
        progress(done / settings.rounds, f"round {done:,} of {settings.rounds:,}{speed}")
        n_rounds = min(settings.stretch, settings.rounds - done)
        carry, report = run(carry, fixed, n_rounds)
        reports.append(jax.tree.map(np.asarray, report))
        done += n_rounds
        check_finite(reports[-1], done)
        if first is None:
            first = (
                time.monotonic(),
                done * problem.step_limit * settings.environments * len(rngs),
            )
        if checkpoint is not None and checkpoint.is_due:
            kept = dict(zip(_names(fixed), map(np.asarray, jax.tree.leaves(fixed)), strict=True))
            checkpoint.write(carry, {**kept, **_joined(reports, time_axis)}, done)
    if checkpoint is not None:
        checkpoint.delete()
    report = _joined(reports, time_axis)
    if alone:
        return [finish(trainer, carry, fixed, report)]
    return [
        finish(trainer, *jax.tree.map(lambda leaf, i=i: leaf[i], (carry, fixed, report)))
        for i in range(len(rngs))
    ]


def _checkpoint(
    path: str | Path | None,
    settings: Actor,
    problem: ContinuousProblem,
    rngs: Sequence[np.random.Generator],
    strengths: Sequence[float],
) -> Checkpoint | None:
    if path is None:
        return None
    world = problem.world
    decisive = [
        asdict(settings), generator_states(rngs), list(strengths), world.id, world.settings,
        problem.objective.to_dict(), problem.layout, problem.step_limit,
    ]  # fmt: skip
    return Checkpoint(path, decisive)


def _names(fixed: Fixed) -> list[str]:
    return [f"fixed/{i}" for i in range(len(jax.tree.leaves(fixed)))]


def _joined(reports: list[dict[str, np.ndarray]], time_axis: int) -> dict[str, np.ndarray]:
    """Concatenate the reports of all stretches."""
    return {
        name: np.concatenate([each[name] for each in reports], axis=time_axis)
        for name in reports[0]
    }


def check_finite(report: dict[str, np.ndarray], rounds: int) -> None:
    """Raise a `UserError` if training has diverged."""
    if not all(np.isfinite(value).all() for value in report.values()):
        raise UserError(
            f"training diverged: a loss is no longer finite after {rounds:,} rounds; lower "
            f"learning_rate or judge_rate"
        )


def _speed(first: tuple[float, int], steps: int) -> float:
    return (steps - first[1]) / max(time.monotonic() - first[0], 1e-9)


def make_trainer(settings: Actor, problem: ContinuousProblem) -> Trainer:
    """Return the compiled trainer of a problem; equal problems share one."""
    return _trainer(settings, problem.world, problem.objective, problem.layout, problem.step_limit)


@lru_cache(maxsize=4)
def _trainer(
    settings: Actor,
    world: ContinuousBase,
    objective: Objective,
    layout: SkillLayout,
    step_limit: int,
) -> Trainer:
    model = ActorModel(world, objective, layout, step_limit)
    return Trainer(model, SkillEstimates(world.space, objective, layout), settings)


def init_training(
    trainer: Trainer, rng: np.random.Generator, strength: float
) -> tuple[Carry, Fixed]:
    """Return the initial training state and the constants of a run."""
    settings = trainer.settings
    key, key_explore, key_reset = jax.random.split(jax.random.key(int(rng.integers(2**31))), 3)
    observations, values = jax.tree.map(np.asarray, explore(trainer, key_explore))
    state = trainer.acting.compiled_reset(jax.random.split(key_reset, settings.environments))
    return prepare(trainer, rng, key, observations, values, strength, state)


def prepare(
    trainer: Trainer, rng: np.random.Generator, key: jax.Array, observations: np.ndarray,
    values: np.ndarray, strength: float, state: Any,
) -> tuple[Carry, Fixed]:  # fmt: skip
    """Initialize networks, prototypes, and the scale of observations.

    Args:
        trainer: The trainer.
        rng: Source of the initial parameters and of the prototypes.
        key: Source of randomness in training.
        observations: Observations under random actions, [n, observation_size].
        values: Values that these reach, [n, size].
        strength: Strength of the penalty.
        state: Initial states of the environments; None if they are not in JAX.
    """
    model, estimates, settings = trainer.model, trainer.estimates, trainer.settings
    shift, scale = observations.mean(axis=0), observations.std(axis=0)
    hidden, n_inputs = settings.hidden, model.n_inputs
    nets = {
        "actor": init_network([n_inputs, hidden, hidden, model.n_outputs], rng),
        "critic": init_network([n_inputs + 1, hidden, hidden, trainer.rule.n_heads], rng),
    }
    judges = estimates.init(settings.judge_hidden, rng)
    vectors = init_vectors(judges, rng) if estimates.is_lipschitz else {}
    prototypes = choose_prototypes(estimates, values, rng) if estimates.is_discriminator else {}
    if estimates.is_lipschitz:
        for _ in range(10):
            judges, vectors = normalise(judges, vectors)
    credit = np.ones((), np.float32)
    if settings.credit:
        key, key_influence = jax.random.split(key)
        influence = action_influence(model, key_influence)
        credit = credit_weights(influence, model.layout, trainer.rule.watched, settings.credit)
    carry = initial_carry(trainer, key, nets, judges, vectors, state)
    fixed = Fixed(
        jnp.asarray(shift), jnp.asarray(np.maximum(scale, MIN_SCALE)),
        jax.tree.map(jnp.asarray, prototypes), jnp.float32(strength), jnp.asarray(credit),
    )  # fmt: skip
    return carry, fixed


def explore(trainer: Trainer, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Take random actions; return observations and values, as `Acting.explore` does."""
    return trainer.acting.compiled_explore(key, EXPLORERS, REPEATS)


def finish(trainer: Trainer, carry: Carry, fixed: Fixed, report: dict[str, Any]) -> Trained:
    """Return the results of training, as NumPy arrays."""
    judges = jax.tree.map(np.asarray, carry.judges)
    if trainer.estimates.is_lipschitz:  # power iteration is approximate; this bound is exact
        norms = spectral_norms(judges)
        for i in range(norms.shape[1]):
            most = np.maximum(norms[:, i], 1.0)[:, None, None]
            judges[f"w{i}"] = (judges[f"w{i}"] / most).astype(np.float32)
    weights = {
        "actor": jax.tree.map(np.asarray, carry.nets["actor"]),
        "shift": np.asarray(fixed.shift), "scale": np.asarray(fixed.scale), "judges": judges,
    }  # fmt: skip
    return Trained(trainer.model, trainer.estimates, weights, report)


def train_on_host(
    trainer: Trainer, rng: np.random.Generator, strength: float, progress: Progress
) -> Trained:
    """Train in a world that is stepped on the CPU; only the networks use JAX."""
    from skillfocus.learners.neural.continuous.host import HostEnvironments

    settings = trainer.settings
    with HostEnvironments(trainer, rng) as environments:
        observations, values = environments.explore(REPEATS)
        key = jax.random.key(int(rng.integers(2**31)))
        carry, fixed = prepare(trainer, rng, key, observations, values, strength, None)
        reports, began = [], time.monotonic()
        for number in range(settings.rounds):
            steps = number * trainer.n_steps * settings.environments
            speed = steps / max(time.monotonic() - began, 1e-9)
            progress(
                number / settings.rounds,
                f"round {number:,} of {settings.rounds:,}, {speed:,.0f} steps/s",
            )
            key, key_act, key_learn = jax.random.split(carry.key, 3)
            done = environments.round(key_act, carry.nets["actor"], fixed)
            carry, report = trainer.compiled_learn(key_learn, carry._replace(key=key), fixed, done)
            reports.append(jax.tree.map(np.asarray, report))
            check_finite(reports[-1], number + 1)
    report = {name: np.stack([each[name] for each in reports]) for name in reports[0]}
    return finish(trainer, carry, fixed, report)
