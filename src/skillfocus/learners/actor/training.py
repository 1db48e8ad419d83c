"""Training of an actor: every environment runs a skill, then all networks are updated.

The critic has one head per component of a skill and one for the penalty. Advantages are estimated
per head, and the actor follows their sum by PPO (`learners/ppo.py`), A = sum over heads of A_h.
With `Actor.credit`, every action dimension has its own ratio and its own A (`credit.py`).

The returns of heads differ in scale, so the critic predicts them divided by their running root mean
square. Its inputs include the time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.learners.actor.credit import action_influence, credit_weights
from skillfocus.learners.actor.learner import Actor
from skillfocus.learners.actor.rewards import Fixed, RewardRule, choose_prototypes
from skillfocus.learners.network_training import Checkpoint, train
from skillfocus.learners.ppo import Updates, advantages, surrogate
from skillfocus.learners.problem import Problem
from skillfocus.objectives.objective import Objective, TemporalRepresentation
from skillfocus.progress import Progress
from skillfocus.skills.actor import (
    ActorModel,
    ActorPolicy,
    SkillCode,
    log_densities,
    log_squashing,
    make_code,
)
from skillfocus.skills.estimators import (
    EstimatorBatch,
    EstimatorState,
    SkillEstimates,
    divide_by_norms,
    init_vectors,
    spectral_norms,
)
from skillfocus.skills.network import apply_network, init_network
from skillfocus.world import World
from skillfocus.worlds.host import HostWorld
from skillfocus.worlds.jax.world import JaxWorld, where

MAX_GRADIENT = 1.0
"""Global norm that gradients are clipped to."""
RELEASE = 0.2
"""Share of training over which discriminator networks replace the prototypes."""
ESTIMATOR_STEPS = 8
"""Minimum number of estimator updates per round."""
EXPLORERS = 256
"""Environments that take random actions before training, to find out which values are reached."""
REPEATS = 5
"""Steps for which they repeat an action."""
MIN_SCALE = 1e-2
"""Smallest scale of an observation."""


class Round(NamedTuple):
    """Rollouts of one skill in every environment.

    Attributes:
        inputs: The actor's inputs, [n_steps, n, n_inputs].
        u: Sampled actions before the tanh, [n_steps, n, n_action_dims].
        log_prob: Log density of each dimension of u, [n_steps, n, n_action_dims].
        values: Values of the variables, first ones included, [n_steps + 1, n, width].
        kind: Kinds of the skills, int32 [n].
        z: Their components, [n, code.width].
        counts: 1 for valid steps, 0 for those after the end of an episode, [n_steps, n].
    """

    inputs: jax.Array
    u: jax.Array
    log_prob: jax.Array
    values: jax.Array
    kind: jax.Array
    z: jax.Array
    counts: jax.Array


class Carry(NamedTuple):
    """Everything that changes during training.

    Attributes:
        key: Source of randomness.
        nets: Parameters of `actor` and `critic`.
        optimizer: States of their optimizers.
        estimators: Discriminators or phi.
        spread: Running root mean square of every head's returns, [n_heads].
        state: States of the environments; None if they are on the host.
        rounds: Rounds so far.
    """

    key: jax.Array
    nets: Any
    optimizer: Any
    estimators: EstimatorState
    spread: jax.Array
    state: Any
    rounds: jax.Array


class Trainer:
    """Compiled training of one problem.

    Args:
        model: The actor model.
        estimates: The discriminators or phi.
        settings: Settings of the actor.
    """

    def __init__(self, model: ActorModel, estimates: SkillEstimates, settings: Actor) -> None:
        self.model, self.estimates, self.settings = model, estimates, settings
        self.world, self.code, self.n_steps = model.world, model.code, model.step_limit
        self.n_rounds = settings.n_rounds(self.n_steps)
        self.rule = RewardRule(estimates, int(settings.grace_fraction * self.n_steps))
        # Differences telescope only without a discount. With one, a skill that leaves and returns
        # would not get its penalty back in full.
        self.timing = estimates.objective.reward.timing
        self.gamma = settings.gamma if self.timing == "step" else 1.0
        self.updates = Updates(
            settings.learning_rate, settings.epochs, settings.batch, MAX_GRADIENT
        )
        self.estimator_optimizer = optax.adam(settings.estimator_rate)
        self.masks, self.active = jnp.asarray(self.code.masks), jnp.asarray(self.code.active)
        self.compiled = jax.jit(self.run, static_argnums=2, donate_argnums=0)
        self.compiled_act, self.compiled_learn = jax.jit(self.act), jax.jit(self.learn)
        self.compiled_sample = jax.jit(self.sample_skills)
        if isinstance(world := self.world, JaxWorld):
            self.reset, self.step = jax.vmap(world.reset), jax.vmap(world.step)
            self.values, self.observe = jax.vmap(world.values), jax.vmap(world.observation)
            self.compiled_reset, self.compiled_explore = jax.jit(self.reset), jax.jit(self.explore)

    def run(self, carry: Carry, fixed: Fixed, n_rounds: int) -> tuple[Carry, Any]:
        """Run `n_rounds` rounds; return the state and the reports of `learn`."""
        return jax.lax.scan(lambda carry, _: self.round(carry, fixed), carry, None, length=n_rounds)

    def round(self, carry: Carry, fixed: Fixed) -> tuple[Carry, Any]:
        """Reset some environments, run one skill in each, and learn from the rollouts."""
        n = self.settings.environments
        key, key_reset, key_act, key_learn = jax.random.split(carry.key, 4)
        key_choice, key_reset = jax.random.split(key_reset)
        is_reset = jax.random.uniform(key_choice, (n,)) < self.settings.reset_share
        initial = self.reset(jax.random.split(key_reset, n))
        state = where(is_reset, initial, carry.state)
        state, done = self.run_skills(key_act, carry.nets["actor"], fixed, state)
        return self.learn(key_learn, carry._replace(key=key, state=state), fixed, done)

    # ------------------------------------------------------------------ act

    def sample_skills(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Sample kinds of skills, int32 [n], and their components, [n, code.width]."""
        n, parts = self.settings.environments, []
        key_kind, key_z = jax.random.split(key)
        kind = jax.random.randint(key_kind, (n,), 0, len(self.code.kinds))
        for k, slot in enumerate(self.code.slots):
            key_slot = jax.random.fold_in(key_z, k)
            if slot.is_discrete:
                part = jax.nn.one_hot(jax.random.randint(key_slot, (n,), 0, slot.width), slot.width)
            else:
                part = jax.random.normal(key_slot, (n, slot.width))
                part = part / jnp.linalg.norm(part, axis=1, keepdims=True)
            parts.append(part * self.active[kind][:, k : k + 1])
        return kind, jnp.concatenate(parts, axis=1)

    def act(
        self, key: jax.Array, actor: Any, fixed: Fixed, seen: Any, values: Any, start: Any,
        kind: jax.Array, z: jax.Array, number: Any, noise: Any,
    ) -> tuple[jax.Array, ...]:  # fmt: skip
        """Return inputs, samples u, their log densities, actions and noise of one step.

        Noise that is correlated over time explores farther. Each action still has the policy's
        distribution.
        """
        weights = {"shift": fixed.shift, "scale": fixed.scale}
        times = jnp.full(len(seen), number)
        inputs = self.model.inputs(weights, seen, values, start, self.masks[kind], z, times)
        mean, log_std = self.model.distribution(actor, inputs)
        kept = self.settings.noise_correlation
        noise = kept * noise + (1 - kept**2) ** 0.5 * jax.random.normal(key, noise.shape)
        u = mean + jnp.exp(log_std) * noise
        return inputs, u, log_densities(u, mean, log_std), self.model.action(u), noise

    def run_skills(self, key: jax.Array, actor: Any, fixed: Fixed, state: Any) -> tuple[Any, Round]:
        """Run one sampled skill in every environment; return the last states and the round."""
        n = self.settings.environments
        key_skill, key_steps, key_noise = jax.random.split(key, 3)
        kind, z = self.sample_skills(key_skill)
        start = self.values(state)

        def step(carried: tuple[Any, jax.Array, jax.Array], at: tuple[jax.Array, jax.Array]) -> Any:
            (state, values, noise), (key, time) = carried, at
            key_sample, key_step = jax.random.split(key)
            inputs, u, log_prob, action, noise = self.act(
                key_sample, actor, fixed, self.observe(state), values, start, kind, z, time, noise
            )
            state = self.step(jax.random.split(key_step, n), state, action)
            after = self.values(state)
            return (state, after, noise), (inputs, u, log_prob, after)

        times = jnp.arange(self.n_steps) / self.n_steps
        keys = jax.random.split(key_steps, self.n_steps)
        noise = jax.random.normal(key_noise, (n, self.model.n_action_dims))
        (state, _, _), (inputs, u, log_prob, after) = jax.lax.scan(
            step, (state, start, noise), (keys, times)
        )
        values = jnp.concatenate([start[None], after])
        return state, Round(inputs, u, log_prob, values, kind, z, jnp.ones(log_prob.shape[:2]))

    def explore(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Take random actions, each repeated, for twice a skill's steps.

        Returns:
            Observations, [n * steps, observation_size], and values, [n * steps, size].
        """
        key_reset, key_steps = jax.random.split(key)
        state = self.reset(jax.random.split(key_reset, EXPLORERS))

        def step(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            (state, u), (key, number) = carried, at
            key_action, key_step = jax.random.split(key)
            sampled = jax.random.uniform(key_action, u.shape, minval=-1.0, maxval=1.0)
            u = jnp.where(number % REPEATS == 0, jnp.arctanh(0.999 * sampled), u)
            state = self.step(jax.random.split(key_step, EXPLORERS), state, self.model.action(u))
            return (state, u), (self.observe(state), self.values(state))

        u, n_steps = jnp.zeros((EXPLORERS, self.model.n_action_dims)), 2 * self.n_steps
        at = (jax.random.split(key_steps, n_steps), jnp.arange(n_steps))
        _, (seen, values) = jax.lax.scan(step, (state, u), at)
        return seen.reshape(-1, seen.shape[2]), values.reshape(-1, values.shape[2])

    # ------------------------------------------------------------------ learn

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
            carry.estimators.params, now, done.values, done.kind, done.z, released
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
        estimators, loss = self._update_estimators(key_estimator, carry.estimators, done)
        own = self.masks[done.kind] > 0
        changed = self.model.space.changed(done.values[0], done.values[-1])
        report = {
            "control": (changed | ~own).all(axis=1).mean(),
            "side_effects": (changed & ~own).sum(axis=1).mean(),
            "rewards": rewards.sum(axis=0).mean(axis=0),
            "estimator_loss": loss,
            "entropy": entropy,
            "dual": jnp.exp(estimators.log_dual),
        }
        carry = carry._replace(
            nets=nets, optimizer=optimizer, estimators=estimators, spread=spread,
            rounds=carry.rounds + 1,
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

    def _update_estimators(
        self, key: jax.Array, state: EstimatorState, done: Round
    ) -> tuple[EstimatorState, jax.Array]:
        """Train discriminators or phi on samples of the round; return them and the mean loss."""
        n_steps, n, size = self.n_steps, len(done.z), self.settings.batch
        if self.timing == "final":  # only the last state is rewarded, compared with the first
            shape = (ESTIMATOR_STEPS, min(n, size))
            time = jnp.full(shape, n_steps - 1)
        else:
            shape = (max(ESTIMATOR_STEPS, n_steps * n // size), min(size, n_steps * n))
            first = self.rule.n_grace if self.timing == "step" else 0
            time = jax.random.randint(jax.random.fold_in(key, 1), shape, first, n_steps)
        env = jax.random.randint(key, shape, 0, n)
        active = self.active[done.kind]

        def one(state: EstimatorState, at: tuple[jax.Array, jax.Array]) -> Any:
            time, env = at
            batch = EstimatorBatch(
                done.values[0][env], done.values[time, env], done.values[time + 1, env],
                active[env], done.z[env],
            )  # fmt: skip
            return self.estimates.update(self.estimator_optimizer, state, batch)

        state, loss = jax.lax.scan(one, state, (time, env))
        return state, loss.mean()


class HostEnvironments(AbstractContextManager):
    """Environments that are stepped on the CPU; close them, or use them in a `with` block.

    If an episode ends during a skill, the skill's values are frozen and its remaining steps do not
    count. The environment is reset, and the next skill starts in the new episode.

    Args:
        trainer: The trainer.
        rng: Seeds the environments.
    """

    def __init__(self, trainer: Trainer, rng: np.random.Generator) -> None:
        self.world: Any = trainer.world
        self.trainer, self.n = trainer, trainer.settings.environments
        self.batch = self.world.make_batch(self.n)
        self.observations = self.batch.reset_batch(int(rng.integers(2**31)))

    def __exit__(self, *_: object) -> None:
        self.batch.close()

    def explore(self, rng: np.random.Generator) -> np.ndarray:
        """Return observations under random actions, each repeated, as in `Trainer.explore`."""
        seen, model = [], self.trainer.model
        u = np.zeros((self.n, model.n_action_dims))
        for number in range(2 * self.trainer.n_steps):
            if number % REPEATS == 0:
                u = np.arctanh(0.999 * rng.uniform(-1, 1, u.shape))
            step = self.batch.step_batch(model.action(u.astype(np.float32)))
            seen.append(step.observations)
            self.observations = step.next_observations
        return np.concatenate(seen)

    def run(self, carry: Carry, fixed: Fixed) -> tuple[Carry, Any]:
        """Run a round; return the state and the report, as `Trainer.run` does."""
        key, key_act, key_learn = jax.random.split(carry.key, 3)
        done = self.round(key_act, carry.nets["actor"], fixed)
        return self.trainer.compiled_learn(key_learn, carry._replace(key=key), fixed, done)

    def round(self, key: jax.Array, actor: Any, fixed: Fixed) -> Round:
        """Run one sampled skill in every environment."""
        trainer, world, seen = self.trainer, self.world, self.observations
        key_skill, key_steps = jax.random.split(key)
        kind, z = trainer.compiled_sample(key_skill)
        key_noise = jax.random.fold_in(key_steps, trainer.n_steps)
        noise = jax.random.normal(key_noise, (self.n, trainer.model.n_action_dims))
        start, counts = world.values(seen), np.ones(self.n, np.float32)
        values, rows = [start], []
        for number in range(trainer.n_steps):
            inputs, u, log_prob, action, noise = trainer.compiled_act(
                jax.random.fold_in(key_steps, number), actor, fixed, seen, world.values(seen),
                start, kind, z, np.float32(number / trainer.n_steps), noise,
            )  # fmt: skip
            step = self.batch.step_batch(np.asarray(action))
            rows.append((inputs, u, log_prob, counts))
            values.append(
                np.where(counts[:, None] > 0, world.values(step.observations), values[-1])
            )
            counts = counts * ~(step.terminated | step.truncated)
            seen = step.next_observations
        self.observations = seen
        inputs, u, log_prob, counted = (jnp.stack(each) for each in zip(*rows, strict=True))
        stacked = jnp.asarray(np.stack(values), jnp.float32)
        return Round(inputs, u, log_prob, stacked, kind, z, counted)


def train_actor(
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
    is_host = isinstance(problem.world, HostWorld)
    with HostEnvironments(trainer, rng) if is_host else nullcontext() as host:

        def run(state: Any, count: int) -> tuple[Any, Any, dict[str, jax.Array]]:
            carry, fixed = state
            carry, report = host.run(*state) if host else trainer.compiled(carry, fixed, count)
            metrics = {name: report[name] for name in ("control", "side_effects")}
            return (carry, fixed), report, {"loss": report["estimator_loss"], **metrics}

        penalty = problem.objective.penalty
        strength = 0.0 if penalty is None else penalty.strength
        carry, fixed = train(
            settings, checkpoint, progress, init_training(trainer, rng, strength, host), run,
            unit="round", n_units=trainer.n_rounds,
            units_per_call=1 if host else settings.rounds_per_jit,
            steps_per_unit=problem.step_limit * settings.environments,
        )  # fmt: skip
    params = jax.tree.map(np.asarray, carry.estimators.params)
    if trainer.estimates.is_lipschitz:  # power iteration is approximate; this bound is exact
        for i, norm in enumerate(np.maximum(spectral_norms(params), 1.0).T):
            params[f"w{i}"] = (params[f"w{i}"] / norm[:, None, None]).astype(np.float32)
    weights = {
        "actor": jax.tree.map(np.asarray, carry.nets["actor"]), "estimators": params,
        "shift": np.asarray(fixed.shift), "scale": np.asarray(fixed.scale),
    }  # fmt: skip
    return ActorPolicy(trainer.model, weights, problem.kinds.skills)


def make_trainer(settings: Actor, problem: Problem) -> Trainer:
    """Return the compiled trainer of a problem; equal problems share one."""
    code = make_code(problem.kinds, len(problem.world.space))
    return _trainer(settings, problem.world, problem.objective, code, problem.step_limit)


@lru_cache(maxsize=4)
def _trainer(
    settings: Actor, world: World, objective: Objective, code: SkillCode, step_limit: int
) -> Trainer:
    model = ActorModel(world, objective, code, step_limit)
    return Trainer(model, SkillEstimates(world.space, objective, code), settings)


def init_training(
    trainer: Trainer, rng: np.random.Generator, strength: float,
    host: HostEnvironments | None = None,
) -> tuple[Carry, Fixed]:  # fmt: skip
    """Return the initial training state and the constants of a run.

    Random actions show which values are reached, and the scale of observations.

    Args:
        trainer: The trainer.
        rng: Source of every random draw.
        strength: Strength of the penalty.
        host: The environments, if they are not in JAX.
    """
    model, estimates, settings = trainer.model, trainer.estimates, trainer.settings
    if host is not None:
        observations, state = host.explore(rng), None
        key, values = jax.random.key(int(rng.integers(2**31))), host.world.values(observations)
    else:
        key, key_explore, key_reset = jax.random.split(jax.random.key(int(rng.integers(2**31))), 3)
        observations, values = map(np.asarray, trainer.compiled_explore(key_explore))
        state = trainer.compiled_reset(jax.random.split(key_reset, settings.environments))
    hidden, n_inputs, n_heads = settings.hidden, model.n_inputs, trainer.rule.n_heads
    nets = {
        "actor": init_network([n_inputs, hidden, hidden, model.n_outputs], rng),
        "critic": init_network([n_inputs + 1, hidden, hidden, n_heads], rng),
    }
    params = estimates.init(settings.estimator_hidden, rng)
    vectors = init_vectors(params, rng) if estimates.is_lipschitz else {}
    prototypes = choose_prototypes(estimates, values, rng) if estimates.is_discriminator else {}
    for _ in range(10):
        params, vectors = divide_by_norms(params, vectors)
    credit = np.ones((), np.float32)
    if settings.credit:
        key, key_influence = jax.random.split(key)
        influence = action_influence(model, key_influence)
        credit = credit_weights(influence, model.code, trainer.rule.watched, settings.credit)
    estimate = estimates.objective.reward.estimate
    dual = estimate.first_dual if isinstance(estimate, TemporalRepresentation) else 1.0
    nets, params, vectors, prototypes = jax.tree.map(
        jnp.asarray, (nets, params, vectors, prototypes)
    )
    estimators = EstimatorState(
        params, trainer.estimator_optimizer.init(params), vectors,
        jnp.full(estimates.n_terms, np.log(dual), jnp.float32),
    )  # fmt: skip
    optimizer = trainer.updates.init(nets)
    carry = Carry(key, nets, optimizer, estimators, jnp.ones(n_heads), state, jnp.int32(0))
    shift, scale = observations.mean(axis=0), np.maximum(observations.std(axis=0), MIN_SCALE)
    return carry, Fixed(
        jnp.asarray(shift), jnp.asarray(scale), prototypes, jnp.float32(strength),
        jnp.asarray(credit),
    )  # fmt: skip
