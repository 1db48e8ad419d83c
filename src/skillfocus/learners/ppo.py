"""Proximal policy optimization (Schulman et al. 2017), for skills and for agents over skills.

    maximize  E min(ratio A, clip(ratio, 1 - c, 1 + c) A)

with A by generalized advantage estimation (Schulman et al. 2016). This module imports JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

LAST_RATE = 0.1
"""Final learning rate, relative to the initial one."""
Nets = dict[str, Any]
"""Weights of the networks "actor" and "critic"."""


def advantages(
    rewards: jax.Array, values: jax.Array, gamma: float, gae_lambda: float
) -> tuple[jax.Array, jax.Array]:
    """Return generalized advantage estimates and returns of runs with a fixed horizon.

        delta_t = r_t + gamma V_(t+1) - V_t,   A_t = delta_t + gamma gae_lambda A_(t+1)

    The last step is terminal and not bootstrapped.

    Args:
        rewards: [n_steps, ...].
        values: Values of the states before each step, [n_steps, ...].
        gamma: Discount.
        gae_lambda: GAE's lambda.

    Returns:
        Advantages, and value targets (advantages + values), [n_steps, ...] each.
    """
    following = jnp.concatenate([values[1:], jnp.zeros_like(values[:1])])
    deltas = rewards + gamma * following - values

    def back(later: jax.Array, delta: jax.Array) -> tuple[jax.Array, jax.Array]:
        now = delta + gamma * gae_lambda * later
        return now, now

    _, estimates = jax.lax.scan(back, jnp.zeros_like(deltas[0]), deltas, reverse=True)
    return estimates, estimates + values


def surrogate(
    log_prob: jax.Array, old_log_prob: jax.Array, advantage: jax.Array, clip: float
) -> jax.Array:
    """Return the clipped objective of every decision, to be maximized."""
    ratio = jnp.exp(log_prob - old_log_prob)
    clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
    return jnp.minimum(ratio * advantage, clipped * advantage)


class Updates(NamedTuple):
    """Minibatch updates of an actor and a critic.

    Each network has an optimizer of its own: the critic's gradient must not clip the actor's.

    Attributes:
        learning_rate: Initial learning rate of Adam; it decays linearly to a tenth.
        epochs: Epochs over the data of a round.
        batch: Minibatch size.
        max_gradient: Norm that the gradient of each network is clipped to.
    """

    learning_rate: float
    epochs: int
    batch: int
    max_gradient: float

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam on clipped gradients, without its learning rate."""
        clip = optax.clip_by_global_norm(self.max_gradient)
        return optax.chain(clip, optax.scale_by_adam(eps=1e-5))

    def init(self, nets: Nets) -> dict[str, Any]:
        """Return the optimizers' initial states."""
        return {name: self.optimizer.init(net) for name, net in nets.items()}

    def run(
        self,
        key: jax.Array,
        nets: Nets,
        states: dict[str, Any],
        data: Any,
        loss: Callable[[Nets, Any, jax.Array], tuple[jax.Array, jax.Array]],
        share: jax.Array,
    ) -> tuple[Nets, dict[str, Any], jax.Array]:
        """Run the epochs of a round.

        Args:
            key: Source of the order of the data, and of what the loss samples.
            nets: Weights of the networks.
            states: States of their optimizers.
            data: Pytree of arrays with the decisions of the round on the first axis.
            loss: `loss(nets, some, key)`, the loss of some of the data and a number to report.
            share: The share of training that is done.

        Returns:
            Weights, states, and the reported number averaged over the last epoch.
        """
        n = len(jax.tree.leaves(data)[0])
        batch, optimizer = min(self.batch, n), self.optimizer
        rate = self.learning_rate * (1 - (1 - LAST_RATE) * share)

        def minibatch(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            nets, states = carried
            rows, key = at
            some = jax.tree.map(lambda x: x[rows], data)
            (_, reported), gradient = jax.value_and_grad(loss, has_aux=True)(nets, some, key)
            new, after = {}, {}
            for name in nets:
                step, after[name] = optimizer.update(gradient[name], states[name])
                new[name] = jax.tree.map(lambda w, d: w - rate * d, nets[name], step)
            return (new, after), reported

        def epoch(carried: Any, key: jax.Array) -> Any:
            order = jax.random.permutation(key, n)[: n // batch * batch].reshape(-1, batch)
            return jax.lax.scan(minibatch, carried, (order, jax.random.split(key, len(order))))

        keys = jax.random.split(key, self.epochs)
        (nets, states), reported = jax.lax.scan(epoch, (nets, states), keys)
        return nets, states, reported[-1].mean()
