"""Training of continuous skills from beginning to end: stretches on the device, progress between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.errors import UserError
from skillfocus.learners.continuous import ContinuousProblem
from skillfocus.learners.neural.continuous.dealing import deal
from skillfocus.learners.neural.continuous.judging import first_vectors, normalise
from skillfocus.learners.neural.continuous.settings import Actor
from skillfocus.learners.neural.continuous.state import Carry, Fixed
from skillfocus.learners.neural.continuous.training import Trainer, initial_carry
from skillfocus.skills.continuous.actor import ActorModel
from skillfocus.skills.continuous.estimates import SkillEstimates, spectral_norms
from skillfocus.skills.neural.network import init_network

SCOUTS = 256
"""Environments that act at random before training, to see what values there are."""
REPEATS = 5
"""Steps for which they repeat an action."""
LEAST_SCALE = 1e-2
"""Smallest scale of an observation."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What training yields.

    Attributes:
        model: What the actor means.
        estimates: What rewards read.
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
) -> list[Trained]:
    """Train one set of skills per generator, all at once.

    Args:
        settings: Settings of the actor.
        problem: What to learn.
        rngs: One generator per set of skills.
        progress: Progress callback.
        strengths: Strength of the penalty of each set (default: the objective's).
    """
    trainer = make_trainer(settings, problem)
    penalty = problem.objective.penalty
    if strengths is None:
        strengths = [0.0 if penalty is None else penalty.strength] * len(rngs)
    begun = [begin(trainer, rng, strength) for rng, strength in zip(rngs, strengths, strict=True)]
    alone = len(begun) == 1
    carry, fixed = begun[0] if alone else jax.tree.map(lambda *each: jnp.stack(each), *begun)
    run_all = trainer.run if alone else jax.vmap(trainer.run, in_axes=(0, 0, None))
    run = jax.jit(run_all, static_argnums=2, donate_argnums=0)
    first, reports, done = None, [], 0
    while done < settings.rounds:
        steps = done * problem.step_limit * settings.environments * len(rngs)
        speed = ", compiling" if first is None else f", {_speed(first, steps):,.0f} steps/s"
        progress(done / settings.rounds, f"round {done:,} of {settings.rounds:,}{speed}")
        n_rounds = min(settings.stretch, settings.rounds - done)
        carry, report = run(carry, fixed, n_rounds)
        reports.append(jax.tree.map(np.asarray, report))
        done += n_rounds
        if not all(np.isfinite(value).all() for value in reports[-1].values()):
            raise UserError(
                f"training diverged: a loss is no longer finite after {done:,} rounds; lower "
                f"learning_rate or judge_rate"
            )
        if first is None:
            first = (
                time.monotonic(),
                done * problem.step_limit * settings.environments * len(rngs),
            )
    time_axis = 0 if alone else 1
    report = {
        name: np.concatenate([each[name] for each in reports], axis=time_axis)
        for name in reports[0]
    }
    if alone:
        return [finish(trainer, carry, fixed, report)]
    return [
        finish(trainer, *jax.tree.map(lambda leaf, i=i: leaf[i], (carry, fixed, report)))
        for i in range(len(rngs))
    ]


def _speed(first: tuple[float, int], steps: int) -> float:
    return (steps - first[1]) / max(time.monotonic() - first[0], 1e-9)


def make_trainer(settings: Actor, problem: ContinuousProblem) -> Trainer:
    """Return the compiled training of a problem."""
    model = ActorModel(problem.world, problem.objective, problem.layout, problem.step_limit)
    estimates = SkillEstimates(problem.world.space, problem.objective, problem.layout)
    return Trainer(model, estimates, settings)


def begin(trainer: Trainer, rng: np.random.Generator, strength: float) -> tuple[Carry, Fixed]:
    """Return the state in which training starts, and what stays the same."""
    model, estimates, settings = trainer.model, trainer.estimates, trainer.settings
    key, key_scout, key_reset = jax.random.split(jax.random.key(int(rng.integers(2**31))), 3)
    observations, values = jax.tree.map(np.asarray, _scout(trainer)(key_scout))
    shift, scale = observations.mean(axis=0), observations.std(axis=0)
    hidden, n_inputs = settings.hidden, model.n_inputs
    nets = {
        "actor": init_network([n_inputs, hidden, hidden, model.n_outputs], rng),
        "critic": init_network([n_inputs + 1, hidden, hidden, trainer.rule.n_heads], rng),
    }
    judges = estimates.init(settings.judge_hidden, rng)
    vectors = first_vectors(judges, rng) if estimates.is_lipschitz else {}
    dealt = deal(estimates, values, rng) if estimates.is_discriminator else {}
    if estimates.is_lipschitz:
        for _ in range(10):
            judges, vectors = normalise(judges, vectors)
    reset = jax.vmap(trainer.world.reset)  # pyright: ignore[reportAttributeAccessIssue]
    state = jax.jit(reset)(jax.random.split(key_reset, settings.environments))
    carry = initial_carry(trainer, key, nets, judges, vectors, state)
    fixed = Fixed(
        jnp.asarray(shift), jnp.asarray(np.maximum(scale, LEAST_SCALE)),
        jax.tree.map(jnp.asarray, dealt), jnp.float32(strength),
    )  # fmt: skip
    return carry, fixed


def _scout(trainer: Trainer) -> Any:
    """Return a function that acts at random: what is observed, and which values are reached."""
    world, n_steps = trainer.world, trainer.n_steps

    def scout(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        key_reset, key_steps = jax.random.split(key)
        state = jax.vmap(world.reset)(jax.random.split(key_reset, SCOUTS))  # pyright: ignore[reportAttributeAccessIssue]

        def step(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            (state, u), (key, number) = carried, at
            key_action, key_step = jax.random.split(key)
            drawn = jax.random.uniform(key_action, u.shape, minval=-1.0, maxval=1.0)
            u = jnp.where(number % REPEATS == 0, jnp.arctanh(0.999 * drawn), u)
            keys = jax.random.split(key_step, SCOUTS)
            state = jax.vmap(world.step)(keys, state, trainer.model.action(u))  # pyright: ignore[reportAttributeAccessIssue]
            seen = jax.vmap(world.observation)(state)  # pyright: ignore[reportAttributeAccessIssue]
            return (state, u), (seen, jax.vmap(world.values)(state))  # pyright: ignore[reportAttributeAccessIssue]

        u = jnp.zeros((SCOUTS, world.n_action_dims))
        at = (jax.random.split(key_steps, 2 * n_steps), jnp.arange(2 * n_steps))
        _, (seen, values) = jax.lax.scan(step, (state, u), at)
        return seen.reshape(-1, seen.shape[2]), values.reshape(-1, values.shape[2])

    return jax.jit(scout)


def finish(trainer: Trainer, carry: Carry, fixed: Fixed, report: dict[str, Any]) -> Trained:
    """Return the results of training, as NumPy arrays."""
    judges = jax.tree.map(np.asarray, carry.judges)
    if trainer.estimates.is_lipschitz:  # power iteration comes close; this makes it exact
        norms = spectral_norms(judges)
        for i in range(norms.shape[1]):
            most = np.maximum(norms[:, i], 1.0)[:, None, None]
            judges[f"w{i}"] = (judges[f"w{i}"] / most).astype(np.float32)
    weights = {
        "actor": jax.tree.map(np.asarray, carry.nets["actor"]),
        "shift": np.asarray(fixed.shift), "scale": np.asarray(fixed.scale), "judges": judges,
    }  # fmt: skip
    return Trained(trainer.model, trainer.estimates, weights, report)
