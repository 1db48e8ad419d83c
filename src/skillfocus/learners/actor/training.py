"""Training loop for continuous skills: stretches of rounds on the device, and checkpoints."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.errors import UserError
from skillfocus.learners.actor.acting import Acting, action_influence, credit_weights
from skillfocus.learners.actor.learner import Actor
from skillfocus.learners.actor.rewards import (
    Carry,
    EstimatorBatch,
    Fixed,
    RewardRule,
    Round,
    choose_prototypes,
    estimator_update,
    init_vectors,
    normalize,
)
from skillfocus.learners.checkpoint import Checkpoint, speed
from skillfocus.learners.ppo import Settings, Updates, advantages, surrogate
from skillfocus.learners.problem import Problem
from skillfocus.objectives.objective import Objective, TemporalRepresentation
from skillfocus.progress import Progress
from skillfocus.skills.actor import (
    ActorModel,
    ActorPolicy,
    SkillCode,
    SkillEstimates,
    log_densities,
    log_squashing,
    make_code,
    spectral_norms,
)
from skillfocus.skills.network import apply_network, init_network
from skillfocus.world import World
from skillfocus.worlds.host import HostWorld

# --------------------
#
# One round of training: every environment runs a skill, then all networks are updated
#
# The critic has one head per component of a skill and one for the penalty. Advantages are estimated
# per head, and the actor follows their sum by PPO (`learners/ppo.py`), A = sum over heads of A_h.
#
# With `Actor.credit`, every action dimension has its own ratio and its own A (`acting.py`).
#
# The returns of heads differ in scale, so the critic predicts them divided by their running root
# mean square. Its inputs include the time.

MAX_GRADIENT = 1.0
"""Global norm that gradients are clipped to."""
RELEASE = 0.2
"""Share of training over which discriminator networks replace the prototypes."""
ESTIMATOR_STEPS = 8
"""Minimum number of estimator updates per round."""


class Trainer:
    """Compiled training of one problem.

    Args:
        model: The actor model.
        estimates: The discriminators or phi.
        settings: Settings of the actor.
    """

    def __init__(self, model: ActorModel, estimates: SkillEstimates, settings: Actor) -> None:
        self.model, self.estimates, self.settings = model, estimates, settings
        self.world, self.n_steps = model.world, model.step_limit
        self.n_rounds = settings.n_rounds(self.n_steps)
        n_grace = int(settings.grace_fraction * self.n_steps)
        self.rule = RewardRule(estimates, n_grace)
        # Differences telescope only without a discount. With one, a skill that leaves and returns
        # would not get its penalty back in full.
        is_step = estimates.objective.reward.timing == "step"
        self.gamma = settings.gamma if is_step else 1.0
        self.updates = Updates(
            Settings(settings.learning_rate, settings.epochs, settings.batch, MAX_GRADIENT)
        )
        self.estimator_optimizer = optax.adam(settings.estimator_rate)
        self.acting = Acting(model, settings)

        self.compiled = jax.jit(self.run, static_argnums=2, donate_argnums=0)
        self.compiled_learn = jax.jit(self.learn)

    def run(self, carry: Carry, fixed: Fixed, n_rounds: int) -> tuple[Carry, Any]:
        """Run `n_rounds` rounds; return the state and the reports of `learn`."""
        return jax.lax.scan(lambda carry, _: self.round(carry, fixed), carry, None, length=n_rounds)

    def round(self, carry: Carry, fixed: Fixed) -> tuple[Carry, Any]:
        """Run one skill in every environment and learn from the rollouts."""
        key, key_reset, key_act, key_learn = jax.random.split(carry.key, 4)
        state = self.acting.reset_some(key_reset, carry.state)
        state, done = self.acting.run_skills(key_act, carry.nets["actor"], fixed, state)
        carry = carry._replace(key=key, state=state)
        return self.learn(key_learn, carry, fixed, done)

    def learn(
        self, key: jax.Array, carry: Carry, fixed: Fixed, done: Round
    ) -> tuple[Carry, dict[str, jax.Array]]:
        """Update all networks on a round; return the new state and a report."""
        settings = self.settings
        key_actor, key_estimator = jax.random.split(key)
        share = carry.rounds / self.n_rounds
        released = jnp.clip((share - settings.warmup_fraction) / RELEASE, 0.0, 1.0)
        risen = jnp.clip(
            (share - settings.penalty_delay) / max(settings.penalty_ramp, 1e-6), 0.0, 1.0
        )
        now = fixed._replace(strength=fixed.strength * risen)
        rewards = self.rule.rewards(
            carry.estimators, now, done.values, done.kind, done.z, released
        )  # [n_steps, n, n_heads]
        rewards = rewards * done.counts[..., None]
        times = jnp.arange(self.n_steps) / self.n_steps
        times = jnp.broadcast_to(times[:, None, None], (*done.inputs.shape[:2], 1))
        critic_inputs = jnp.concatenate([done.inputs, times], axis=2)
        predicted = apply_network(carry.nets["critic"], critic_inputs) * carry.spread
        advantage, returns = advantages(rewards, predicted, self.gamma, settings.gae_lambda)
        size = jnp.sqrt((returns**2).mean(axis=(0, 1)) + 1e-8)
        spread = jnp.where(carry.rounds == 0, size, 0.95 * carry.spread + 0.05 * size)
        spread = jnp.maximum(spread, 1e-3)
        total = self._policy_advantages(advantage, fixed, done.kind)
        total = (total - total.mean(axis=(0, 1))) / (total.std(axis=(0, 1)) + 1e-6)
        log_prob = self._policy_log_probs(done.log_prob)
        data = (
            done.inputs, critic_inputs, done.u, log_prob, total, returns / spread, done.counts,
        )  # fmt: skip
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), data)
        nets, optimizer, entropy = self.updates.run(
            key_actor, carry.nets, carry.optimizer, flat, self._loss, share
        )
        estimators, estimator_optimizer, vectors, log_dual, loss = self._update_estimators(
            key_estimator, carry, done
        )
        own = self.acting.masks[done.kind] > 0
        changed = self.model.space.changed(done.values[0], done.values[-1])
        report = {
            "control": (changed | ~own).all(axis=1).mean(),
            "side_effects": (changed & ~own).sum(axis=1).mean(),
            "rewards": rewards.sum(axis=0).mean(axis=0),
            "estimator_loss": loss,
            "entropy": entropy,
            "dual": jnp.exp(log_dual),
        }
        carry = carry._replace(
            nets=nets, optimizer=optimizer, estimators=estimators,
            estimator_optimizer=estimator_optimizer, vectors=vectors, log_dual=log_dual,
            spread=spread, rounds=carry.rounds + 1,
        )  # fmt: skip
        return carry, report

    def _policy_advantages(self, advantage: jax.Array, fixed: Fixed, kind: jax.Array) -> jax.Array:
        """Return advantages [n_steps, n, 1], or [n_steps, n, n_action_dims] with credit."""
        if not self.settings.credit:
            return advantage.sum(axis=2, keepdims=True)
        return jnp.einsum("tnh,ndh->tnd", advantage, fixed.credit[kind])

    def _policy_log_probs(self, per_dimension: jax.Array) -> jax.Array:
        """Return joint log densities, [..., 1], or those of each dimension with credit."""
        return per_dimension if self.settings.credit else per_dimension.sum(-1, keepdims=True)

    def _loss(self, nets: Any, some: Any, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        inputs, critic_inputs, u, log_prob, advantage, returns, counts = some
        settings = self.settings
        mean, log_std = self.model.distribution(nets["actor"], inputs)
        now = self._policy_log_probs(log_densities(u, mean, log_std))
        gained = surrogate(now, log_prob, advantage, settings.clip).sum(axis=-1)
        sample = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
        entropy = -log_densities(sample, mean, log_std).sum(axis=-1) + log_squashing(sample)
        entropy = entropy.mean() / mean.shape[1]
        missed = apply_network(nets["critic"], critic_inputs) - returns
        value_loss = jnp.mean(counts[:, None] * missed**2)
        gained = (counts * gained).mean()
        return value_loss - gained - settings.entropy * mean.shape[1] * entropy, entropy

    def _update_estimators(self, key: jax.Array, carry: Carry, done: Round) -> tuple[Any, ...]:
        """Train discriminators or phi on samples of the round."""
        settings, timing = self.settings, self.rule.objective.reward.timing
        n_steps, n = self.n_steps, done.z.shape[0]
        if timing == "final":  # only the last state is rewarded, compared with the first
            times, size = jnp.full((ESTIMATOR_STEPS,), n_steps - 1), min(n, settings.batch)
            shape = (ESTIMATOR_STEPS, size)
            time = jnp.broadcast_to(times[:, None], shape)
        else:
            first = self.rule.n_grace if timing == "step" else 0
            count = max(ESTIMATOR_STEPS, n_steps * n // settings.batch)
            shape = (count, min(settings.batch, n_steps * n))
            time = jax.random.randint(jax.random.fold_in(key, 1), shape, first, n_steps)
        env = jax.random.randint(key, shape, 0, n)
        active = self.acting.active[done.kind]

        def one(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            time, env = at
            batch = EstimatorBatch(
                done.values[0][env], done.values[time, env], done.values[time + 1, env],
                active[env], done.z[env],
            )  # fmt: skip
            *carried, loss = estimator_update(
                self.estimates,
                self.estimator_optimizer,
                *carried,
                batch,  # pyright: ignore[reportCallIssue]
            )
            return tuple(carried), loss

        before = (carry.estimators, carry.estimator_optimizer, carry.vectors, carry.log_dual)
        after, loss = jax.lax.scan(one, before, (time, env))
        return (*after, loss.mean())


EXPLORERS = 256
"""Environments that take random actions before training, to find out which values are reached."""
REPEATS = 5
"""Steps for which they repeat an action."""
MIN_SCALE = 1e-2
"""Smallest scale of an observation."""


def train(
    settings: Actor, problem: Problem, rng: np.random.Generator, progress: Progress
) -> ActorPolicy:
    """Train a set of skills.

    Args:
        settings: Settings of the actor.
        problem: What to learn.
        rng: Source of every random draw.
        progress: Progress callback.

    Raises:
        UserError: If training diverges, or the checkpoint cannot be used.
    """
    trainer = make_trainer(settings, problem)
    checkpoint = Checkpoint(settings, problem, rng)
    penalty = problem.objective.penalty
    strength = 0.0 if penalty is None else penalty.strength
    with ExitStack() as stack:
        if isinstance(problem.world, HostWorld):
            environments = stack.enter_context(HostEnvironments(trainer, rng))
            carry, fixed = environments.init_training(strength)
            run, rounds_per_call = environments.run, 1
        else:
            carry, fixed = init_training(trainer, rng, strength)
            run, rounds_per_call = trainer.compiled, settings.rounds_per_jit
        (carry, fixed), done = checkpoint.read((carry, fixed))
        began, first, n_rounds = time.monotonic(), done, trainer.n_rounds
        while done < n_rounds:
            steps = (done - first) * problem.step_limit * settings.environments
            progress(done / n_rounds, f"round {done:,} of {n_rounds:,}{speed(began, steps)}")
            count = min(rounds_per_call, n_rounds - done)
            carry, report = run(carry, fixed, count)
            done += count
            if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(report)):
                raise UserError(
                    f"training diverged: a loss is no longer finite after {done:,} rounds; lower "
                    f"learning_rate or estimator_rate"
                )
            if settings.on_metrics is not None:
                taken = done * problem.step_limit * settings.environments
                means = {name: float(np.mean(value)) for name, value in report.items()}
                settings.on_metrics(
                    {
                        "steps": float(taken), "loss": means["estimator_loss"],
                        "control": means["control"], "side_effects": means["side_effects"],
                    }
                )  # fmt: skip
            checkpoint.write((carry, fixed), done)
    checkpoint.delete()
    estimators = jax.tree.map(np.asarray, carry.estimators)
    if trainer.estimates.is_lipschitz:  # power iteration is approximate; this bound is exact
        norms = spectral_norms(estimators)
        for i in range(norms.shape[1]):
            most = np.maximum(norms[:, i], 1.0)[:, None, None]
            estimators[f"w{i}"] = (estimators[f"w{i}"] / most).astype(np.float32)
    weights = {
        "actor": jax.tree.map(np.asarray, carry.nets["actor"]),
        "shift": np.asarray(fixed.shift), "scale": np.asarray(fixed.scale),
        "estimators": estimators,
    }  # fmt: skip
    return ActorPolicy(trainer.model, weights, problem.kinds.skills)


def make_trainer(settings: Actor, problem: Problem) -> Trainer:
    """Return the compiled trainer of a problem; equal problems share one."""
    code = make_code(problem.kinds, len(problem.world.space))
    return _trainer(settings, problem.world, problem.objective, code, problem.step_limit)


@lru_cache(maxsize=4)
def _trainer(
    settings: Actor,
    world: World,
    objective: Objective,
    code: SkillCode,
    step_limit: int,
) -> Trainer:
    model = ActorModel(world, objective, code, step_limit)
    return Trainer(model, SkillEstimates(world.space, objective, code), settings)


def init_training(
    trainer: Trainer, rng: np.random.Generator, strength: float
) -> tuple[Carry, Fixed]:
    """Return the initial training state and the constants of a run."""
    settings = trainer.settings
    key, key_explore, key_reset = jax.random.split(jax.random.key(int(rng.integers(2**31))), 3)
    explored = trainer.acting.compiled_explore(key_explore, EXPLORERS, REPEATS)
    observations, values = jax.tree.map(np.asarray, explored)
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
        values: Values that these reach, [n, width].
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
    estimators = estimates.init(settings.estimator_hidden, rng)
    vectors = init_vectors(estimators, rng) if estimates.is_lipschitz else {}
    prototypes = choose_prototypes(estimates, values, rng) if estimates.is_discriminator else {}
    if estimates.is_lipschitz:
        for _ in range(10):
            estimators, vectors = normalize(estimators, vectors)
    credit = np.ones((), np.float32)
    if settings.credit:
        key, key_influence = jax.random.split(key)
        influence = action_influence(model, key_influence)
        credit = credit_weights(influence, model.code, trainer.rule.watched, settings.credit)
    estimate = estimates.objective.reward.estimate
    dual = estimate.first_dual if isinstance(estimate, TemporalRepresentation) else 1.0
    nets, estimators, vectors = jax.tree.map(jnp.asarray, (nets, estimators, vectors))
    carry = Carry(
        key, nets, trainer.updates.init(nets),
        estimators, trainer.estimator_optimizer.init(estimators), vectors,
        jnp.full(estimates.n_copies, np.log(dual), jnp.float32),
        jnp.ones(trainer.rule.n_heads), state, jnp.int32(0),
    )  # fmt: skip
    fixed = Fixed(
        jnp.asarray(shift), jnp.asarray(np.maximum(scale, MIN_SCALE)),
        jax.tree.map(jnp.asarray, prototypes), jnp.float32(strength), jnp.asarray(credit),
    )  # fmt: skip
    return carry, fixed


# -------------------- Batched rollouts for training in environments that are stepped on the CPU
#
# If an episode ends during a skill, the skill's values are frozen and its remaining steps do not
# count. The environment is reset, and the next skill starts in the new episode.


class HostEnvironments(AbstractContextManager):
    """A batch of environments; close it, or use it in a `with` block.

    Args:
        trainer: The trainer.
        rng: Seeds the environments and samples random actions.
    """

    def __init__(self, trainer: Trainer, rng: np.random.Generator) -> None:
        assert isinstance(trainer.world, HostWorld)
        self.trainer, self.world, self.rng = trainer, trainer.world, rng
        self.n = trainer.settings.environments
        self.batch = self.world.make_batch(self.n)
        self.observations = self.batch.reset_batch(int(rng.integers(2**31)))

    def __exit__(self, *_: object) -> None:
        self.batch.close()

    def init_training(self, strength: float) -> tuple[Carry, Fixed]:
        """Return the initial training state and the constants of a run; see `init_training`.

        Random actions are each repeated, as in `Acting.explore`.
        """
        seen, n_dims = [], self.trainer.model.n_action_dims
        u = np.zeros((self.n, n_dims), np.float32)
        for number in range(2 * self.trainer.n_steps):
            if number % REPEATS == 0:
                u = np.arctanh(0.999 * self.rng.uniform(-1, 1, (self.n, n_dims)))
            step = self.batch.step_batch(self.trainer.model.action(u.astype(np.float32)))
            seen.append(step.observations)
            self.observations = step.next_observations
        observations = np.concatenate(seen)
        key = jax.random.key(int(self.rng.integers(2**31)))
        values = self.world.values(observations)
        return prepare(self.trainer, self.rng, key, observations, values, strength, None)

    def run(self, carry: Carry, fixed: Fixed, n_rounds: int) -> tuple[Carry, Any]:
        """Run rounds; return the state and the last report, as `Trainer.run` does."""
        report = None
        for _ in range(n_rounds):
            key, key_act, key_learn = jax.random.split(carry.key, 3)
            done = self.round(key_act, carry.nets["actor"], fixed)
            carry = carry._replace(key=key)
            carry, report = self.trainer.compiled_learn(key_learn, carry, fixed, done)
        return carry, report

    def round(self, key: jax.Array, actor: Any, fixed: Fixed) -> Round:
        """Run one sampled skill in every environment."""
        trainer, world = self.trainer, self.world
        key_skill, key_steps = jax.random.split(key)
        key_noise = jax.random.fold_in(key_steps, trainer.n_steps)
        noise = jax.random.normal(key_noise, (self.n, trainer.model.n_action_dims))
        kind, z = trainer.acting.compiled_sample(key_skill, self.n)
        seen, counts = self.observations, np.ones(self.n, np.float32)
        start = now = world.values(seen)
        rows: list[tuple[Any, ...]] = []
        values = [start]
        for number in range(trainer.n_steps):
            time = np.float32(number / trainer.n_steps)
            key_step = jax.random.fold_in(key_steps, number)
            inputs, u, log_prob, action, noise = trainer.acting.compiled_act(
                key_step, actor, fixed, seen, world.values(seen), start, kind, z, time, noise
            )
            step = self.batch.step_batch(np.asarray(action))
            rows.append((inputs, u, log_prob, counts))
            now = np.where(counts[:, None] > 0, world.values(step.observations), now)
            values.append(now)
            counts = counts * ~(step.terminated | step.truncated)
            seen = step.next_observations
        self.observations = seen
        inputs, u, log_prob, counted = (jnp.stack(each) for each in zip(*rows, strict=True))
        stacked = jnp.asarray(np.stack(values), jnp.float32)
        return Round(inputs, u, log_prob, stacked, kind, z, counted)
