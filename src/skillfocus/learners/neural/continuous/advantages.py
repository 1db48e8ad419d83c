"""Generalized advantage estimation, per head (Schulman et al. 2016)."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def advantages(
    rewards: jax.Array, values: jax.Array, gamma: float, trace: float
) -> tuple[jax.Array, jax.Array]:
    """Return generalized advantage estimates and returns of skills with a fixed horizon.

        delta_t = r_t + gamma V_(t+1) - V_t,   A_t = delta_t + gamma trace A_(t+1)

    The last step is terminal and not bootstrapped: a skill takes a fixed number of steps, and the
    critic sees the time.

    Args:
        rewards: [n_steps, ...].
        values: Values of the states before each step, [n_steps, ...].
        gamma: Discount.
        trace: GAE's lambda.

    Returns:
        Advantages, and value targets (advantages + values), [n_steps, ...] each.
    """
    following = jnp.concatenate([values[1:], jnp.zeros_like(values[:1])])
    deltas = rewards + gamma * following - values

    def back(later: jax.Array, delta: jax.Array) -> tuple[jax.Array, jax.Array]:
        now = delta + gamma * trace * later
        return now, now

    _, estimates = jax.lax.scan(back, jnp.zeros_like(deltas[0]), deltas, reverse=True)
    return estimates, estimates + values
