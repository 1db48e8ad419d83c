"""Batched rollouts of continuous skills in one compiled scan. This module imports JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.skills.continuous.actor import ActorModel

SIZES = (1, 64, 1024, 16_384)
"""Batch sizes that are compiled, and multiples of the last one; others are padded to these."""


class ContinuousRollouts(NamedTuple):
    """Rollouts of skills.

    Attributes:
        states: The last states, a pytree whose leaves have a leading axis [n].
        values: Values of the variables, float32 [n, n_steps + 1, size].
        observations: Observations, float32 [n, n_steps + 1, observation_size].
        actions: Actions, float32 [n, n_steps, n_action_dims].
    """

    states: Any
    values: np.ndarray
    observations: np.ndarray
    actions: np.ndarray


class ContinuousRunner:
    """Runs a set of skills in a JAX world, compiled.

    Args:
        model: The actor model.
        weights: Its weights.
    """

    def __init__(self, model: ActorModel, weights: Any) -> None:
        self.model, world = model, model.world
        self.weights = jax.tree.map(
            jnp.asarray, {name: weights[name] for name in ("actor", "shift", "scale")}
        )
        self._reset = jax.jit(jax.vmap(lambda key: world.reset(as_key(key))))  # pyright: ignore[reportAttributeAccessIssue]
        self._place = jax.jit(jax.vmap(lambda key, values: world.place(as_key(key), values)))  # pyright: ignore[reportAttributeAccessIssue]
        self._values = jax.jit(jax.vmap(world.values))  # pyright: ignore[reportAttributeAccessIssue]
        self._follow = jax.jit(jax.vmap(self._run_one, in_axes=(None, 0, 0, 0, 0, None)))

    def reset(self, keys: np.ndarray) -> Any:
        """Sample initial states of the world; keys are uint32 [n, 2]."""
        return _cut(self._reset(_pad(keys)), len(keys))

    def place(self, values: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, float [n, size]."""
        return _cut(self._place(_pad(keys), _pad(np.asarray(values, np.float32))), len(keys))

    def values(self, states: Any) -> np.ndarray:
        """Return the values of states, float32 [n, size]."""
        return np.asarray(self._values(states))

    def follow(
        self, states: Any, masks: np.ndarray, z: np.ndarray, keys: np.ndarray, noise: float = 0.0
    ) -> ContinuousRollouts:
        """Run skills for `step_limit` steps.

        Args:
            states: First states.
            masks: Which variables are targets, float32 [n, n_variables].
            z: Components, float32 [n, layout.width].
            keys: A key per rollout, uint32 [n, 2].
            noise: Factor of the policy's standard deviation; 0 takes the mean action.
        """
        n = len(keys)
        padded = jax.tree.map(_pad, (states, masks, z, keys))
        done = self._follow(self.weights, *padded, jnp.float32(noise))
        states, (values, seen, actions) = _cut(done, n)
        return ContinuousRollouts(states, np.asarray(values), np.asarray(seen), np.asarray(actions))

    def _run_one(
        self, weights: Any, state: Any, mask: Any, z: Any, key: Any, noise: Any
    ) -> tuple[Any, Any]:
        model, world = self.model, self.model.world
        start = world.values(state)  # pyright: ignore[reportAttributeAccessIssue]

        def step(state: Any, number: jax.Array) -> tuple[Any, Any]:
            key_draw, key_step = jax.random.split(jax.random.fold_in(as_key(key), number))
            seen, values = world.observation(state), world.values(state)  # pyright: ignore[reportAttributeAccessIssue]
            time = jnp.full(1, number / model.step_limit)
            inputs = model.inputs(
                weights, seen[None], values[None], start[None], mask[None], z[None], time
            )
            mean, log_std = model.distribution(weights["actor"], inputs)
            u = mean + noise * jnp.exp(log_std) * jax.random.normal(key_draw, mean.shape)
            action = model.action(u)[0]
            return world.step(key_step, state, action), (values, seen, action)  # pyright: ignore[reportAttributeAccessIssue]

        state, (values, seen, actions) = jax.lax.scan(step, state, jnp.arange(model.step_limit))
        values = jnp.concatenate([values, world.values(state)[None]])  # pyright: ignore[reportAttributeAccessIssue]
        seen = jnp.concatenate([seen, world.observation(state)[None]])  # pyright: ignore[reportAttributeAccessIssue]
        return state, (values, seen, actions)


def as_key(data: Any) -> Any:
    """Return a JAX key from its data, as `draw_keys` samples it."""
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def _pad(array: Any) -> Any:
    """Pad an array to one of `SIZES` with copies of its first row."""
    n = len(array)
    size = next((size for size in SIZES if n <= size), -(-n // SIZES[-1]) * SIZES[-1])
    if size == n:
        return array
    rest = jnp.broadcast_to(array[:1], (size - n, *array.shape[1:]))
    return jnp.concatenate([jnp.asarray(array), rest])


def _cut(tree: Any, n: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:n], tree)
