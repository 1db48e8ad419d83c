"""One round of training: every environment runs a skill, then all networks are updated.

The critic has one head per component of a skill and one for the penalty. Advantages are estimated
per head (`advantages.py`), and the actor follows their sum by PPO:

    maximise  E min(ratio A, clip(ratio, 1 - c, 1 + c) A) + entropy,   A = sum over heads of A_h

With `Actor.credit`, every action dimension has its own ratio and its own A (`credit.py`).

The returns of heads differ in scale, so the critic predicts them divided by their running root mean
square. Its inputs include the time.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.learners.neural.continuous.acting import Acting
from skillfocus.learners.neural.continuous.advantages import advantages
from skillfocus.learners.neural.continuous.judging import JudgeBatch, judge_update
from skillfocus.learners.neural.continuous.rewards import RewardRule
from skillfocus.learners.neural.continuous.settings import Actor
from skillfocus.learners.neural.continuous.state import Carry, Fixed, Round
from skillfocus.skills.continuous.actor import ActorModel, log_densities, log_squashing
from skillfocus.skills.continuous.estimates import SkillEstimates
from skillfocus.skills.neural.network import apply_network

MAX_GRADIENT = 1.0
"""Global norm that gradients are clipped to."""
LAST_RATE = 0.1
"""Final learning rate, relative to the initial one."""
RELEASE = 0.2
"""Share of training over which discriminator networks replace the prototypes."""
JUDGE_STEPS = 8
"""Minimum number of judge updates per round."""


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
        n_settling = int(settings.settling * self.n_steps)
        self.rule = RewardRule(estimates, n_settling)
        # Differences telescope only without a discount. With one, a skill that leaves and returns
        # would not get its penalty back in full.
        is_step = estimates.objective.reward.timing == "step"
        self.gamma = settings.gamma if is_step else 1.0
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(MAX_GRADIENT), optax.scale_by_adam(eps=1e-5)
        )
        self.judge_optimizer = optax.adam(settings.judge_rate)
        self.acting = Acting(model, settings)

        self.compiled = jax.jit(self.run, static_argnums=2, donate_argnums=0)
        self.compiled_for_many = jax.jit(
            jax.vmap(self.run, in_axes=(0, 0, None)), static_argnums=2, donate_argnums=0
        )
        self.compiled_learn = jax.jit(self.learn)

    def run(self, carry: Carry, fixed: Fixed, n_rounds: int) -> tuple[Carry, Any]:
        """Run `n_rounds` rounds; return the state and the stacked reports of `learn`."""
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
        key_actor, key_judge = jax.random.split(key)
        share = carry.rounds / settings.rounds
        released = jnp.clip((share - settings.hold) / RELEASE, 0.0, 1.0)
        risen = jnp.clip((share - settings.free) / max(settings.rise, 1e-6), 0.0, 1.0)
        now = fixed._replace(strength=fixed.strength * risen)
        rewards = self.rule.rewards(
            carry.judges, now, done.values, done.kind, done.z, released
        )  # [n_steps, n, n_heads]
        rewards = rewards * done.counts[..., None]
        critic_inputs = self._critic_inputs(done)
        predicted = apply_network(carry.nets["critic"], critic_inputs) * carry.spread
        advantage, returns = advantages(rewards, predicted, self.gamma, settings.trace)
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
        rate = settings.learning_rate * (1 - (1 - LAST_RATE) * share)
        nets, optimizer, entropy = self._update_nets(key_actor, carry, flat, rate)
        judges, judge_optimizer, vectors, log_dual, loss = self._update_judges(
            key_judge, carry, done
        )
        report = {
            "rewards": rewards.sum(axis=0).mean(axis=0),
            "judge_loss": loss,
            "entropy": entropy,
            "dual": jnp.exp(log_dual),
            "released": released,
        }
        carry = carry._replace(
            nets=nets, optimizer=optimizer, judges=judges, judge_optimizer=judge_optimizer,
            vectors=vectors, log_dual=log_dual, spread=spread, rounds=carry.rounds + 1,
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

    def _critic_inputs(self, done: Round) -> jax.Array:
        n = done.inputs.shape[1]
        times = jnp.arange(self.n_steps) / self.n_steps
        times = jnp.broadcast_to(times[:, None, None], (self.n_steps, n, 1))
        return jnp.concatenate([done.inputs, times], axis=2)

    def _update_nets(
        self, key: jax.Array, carry: Carry, data: Any, rate: jax.Array
    ) -> tuple[Any, Any, jax.Array]:
        """Run the PPO epochs of a round."""
        settings, n = self.settings, self.n_steps * self.settings.environments
        batch = min(settings.batch, n)

        def epoch(carried: Any, key: jax.Array) -> Any:
            order = jax.random.permutation(key, n)[: n // batch * batch].reshape(-1, batch)
            return jax.lax.scan(minibatch, carried, (order, jax.random.split(key, len(order))))

        def minibatch(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            nets, optimizer = carried
            rows, key = at
            some = jax.tree.map(lambda x: x[rows], data)
            loss_of = jax.value_and_grad(self._loss, has_aux=True)
            (_, entropy), gradient = loss_of(nets, some, key)
            new, states = {}, {}
            # separate optimizers: the critic's gradient must not clip the actor's
            for name in nets:
                step, states[name] = self.optimizer.update(gradient[name], optimizer[name])
                new[name] = jax.tree.map(lambda w, d: w - rate * d, nets[name], step)
            return (new, states), entropy

        (nets, optimizer), entropy = jax.lax.scan(
            epoch, (carry.nets, carry.optimizer), jax.random.split(key, settings.epochs)
        )
        return nets, optimizer, entropy[-1].mean()

    def _loss(self, nets: Any, some: Any, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        inputs, critic_inputs, u, log_prob, advantage, returns, counts = some
        settings = self.settings
        mean, log_std = self.model.distribution(nets["actor"], inputs)
        ratio = jnp.exp(self._policy_log_probs(log_densities(u, mean, log_std)) - log_prob)
        clipped = jnp.clip(ratio, 1 - settings.clip, 1 + settings.clip)
        surrogate = jnp.minimum(ratio * advantage, clipped * advantage).sum(axis=-1)
        surrogate = (counts * surrogate).mean()
        sample = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
        entropy = -log_densities(sample, mean, log_std).sum(axis=-1) + log_squashing(sample)
        entropy = entropy.mean() / mean.shape[1]
        missed = apply_network(nets["critic"], critic_inputs) - returns
        value_loss = jnp.mean(counts[:, None] * missed**2)
        return value_loss - surrogate - settings.entropy * mean.shape[1] * entropy, entropy

    def _update_judges(self, key: jax.Array, carry: Carry, done: Round) -> tuple[Any, ...]:
        """Train discriminators or phi on samples of the round."""
        settings, timing = self.settings, self.rule.objective.reward.timing
        n_steps, n = self.n_steps, done.z.shape[0]
        if timing == "final":  # only the last state is rewarded, compared with the first
            times, size = jnp.full((JUDGE_STEPS,), n_steps - 1), min(n, settings.batch)
            shape = (JUDGE_STEPS, size)
            time = jnp.broadcast_to(times[:, None], shape)
        else:
            first = self.rule.n_settling if timing == "step" else 0
            count = max(JUDGE_STEPS, n_steps * n // settings.batch)
            shape = (count, min(settings.batch, n_steps * n))
            time = jax.random.randint(jax.random.fold_in(key, 1), shape, first, n_steps)
        env = jax.random.randint(key, shape, 0, n)
        active = self.acting.active[done.kind]

        def one(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            time, env = at
            batch = JudgeBatch(
                done.values[0][env], done.values[time, env], done.values[time + 1, env],
                active[env], done.z[env],
            )  # fmt: skip
            *carried, loss = judge_update(
                self.estimates,
                self.judge_optimizer,
                *carried,
                batch,  # pyright: ignore[reportCallIssue]
            )
            return tuple(carried), loss

        before = (carry.judges, carry.judge_optimizer, carry.vectors, carry.log_dual)
        after, loss = jax.lax.scan(one, before, (time, env))
        return (*after, loss.mean())


def initial_carry(
    trainer: Trainer, key: jax.Array, nets: Any, judges: Any, vectors: Any, state: Any
) -> Carry:
    """Return the initial training state, from initial parameters and environments."""
    from skillfocus.objectives.estimates import TemporalRepresentation

    estimates = trainer.estimates
    estimate = estimates.objective.reward.estimate
    dual = estimate.first_dual if isinstance(estimate, TemporalRepresentation) else 1.0
    nets, judges, vectors = jax.tree.map(jnp.asarray, (nets, judges, vectors))
    return Carry(
        key, nets, {name: trainer.optimizer.init(net) for name, net in nets.items()},
        judges, trainer.judge_optimizer.init(judges), vectors,
        jnp.full(estimates.n_copies, np.log(dual), jnp.float32),
        jnp.ones(trainer.rule.n_heads), state, jnp.int32(0),
    )  # fmt: skip
