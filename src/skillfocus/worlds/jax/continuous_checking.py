"""Conformance checks for continuous worlds, for `skillfocus.testing.check_continuous_world`."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.checking import check_traces, outline
from skillfocus.worlds.jax.continuous import ContinuousWorld
from skillfocus.worlds.registry import can_remake, make

ENVIRONMENTS = 128
"""Number of parallel environments."""
STEPS = 64
"""Random actions per environment."""
ROUNDING = 1e-5
"""Tolerance of bounds, relative to the variable's scale."""


def check_declared_bounds(world: World) -> ContinuousBase:
    """Check declared names and bounds, and that the settings recreate the world.

    Returns:
        The world.

    Raises:
        UserError: If a check fails.
    """
    if not isinstance(world, ContinuousBase):
        raise UserError(f"{world.id} has finite variables: use check_world or check_jax_world")
    n = len(world.actions)
    if (len(world.action_low), len(world.action_high)) != (n, n):
        raise UserError(f"{world.id}: action_low and action_high need {n} numbers, one per action")
    for name, low, high in zip(world.actions, world.action_low, world.action_high, strict=True):
        if not low < high or not np.isfinite([low, high]).all():
            raise UserError(f"{world.id}: action {name} ranges from {low} to {high}")
    for attribute, names in (("one_way", world.one_way), ("fixed", world.fixed)):
        for name in names:
            if name not in world.space.names:
                raise UserError(f"{world.id}: {attribute} names {name!r}, which is not a variable")
    try:
        json.dumps(world.settings)
    except TypeError as error:
        raise UserError(f"{world.id}: its settings cannot be stored as JSON: {error}") from None
    if can_remake(world.id):
        remade = make(world.id, **world.settings)
        if (remade.space, remade.settings) != (world.space, world.settings):
            raise UserError(f"{world.id}: its settings recreate another world")
    return world


def check_continuous_rollouts(world: ContinuousWorld, seed: int = 0) -> np.ndarray:
    """Check random rollouts.

    Returns:
        Values, float32 [n_steps + 1, n_environments, space.size].

    Raises:
        UserError: If a check fails.
    """
    key = jax.random.key(seed)
    state = jax.eval_shape(world.reset, key)
    action = jnp.zeros(world.n_action_dims, jnp.float32)
    for name, size, found in (
        ("values", world.space.size, jax.eval_shape(world.values, state)),
        ("observation", world.observation_size, jax.eval_shape(world.observation, state)),
    ):
        if (found.shape, found.dtype) != ((size,), jnp.dtype(jnp.float32)):
            raise UserError(
                f"{world.id}: {name} must be float32 of shape {(size,)}, not {found.dtype} of "
                f"shape {found.shape}"
            )
    after = jax.eval_shape(world.step, key, state, action)
    if outline(after) != outline(state):
        raise UserError(
            f"{world.id}: step returns {outline(after)}, but reset returns {outline(state)}; all "
            f"states must have the same structure"
        )
    check_traces(world.id, "reset", world.reset, (key,))
    check_traces(world.id, "step", world.step, (key, state, action))
    values = _rollouts(world, key, seed)
    _check_bounds(world, values)
    return values


def _rollouts(world: ContinuousWorld, key: jax.Array, seed: int) -> np.ndarray:
    """Return values, float32 [n_steps + 1, n_environments, space.size]."""
    low, high = np.array(world.action_low), np.array(world.action_high)
    rng = np.random.default_rng(seed)
    actions = rng.uniform(low, high, (STEPS, ENVIRONMENTS, len(low))).astype(np.float32)
    keys = jax.random.split(key, (STEPS + 1, ENVIRONMENTS))

    @jax.jit
    def run(keys: jax.Array, actions: jax.Array) -> tuple[jax.Array, jax.Array]:
        def step(states: Any, given: tuple[jax.Array, jax.Array]) -> tuple[Any, jax.Array]:
            after = jax.vmap(world.step)(given[0], states, given[1])
            return after, jax.vmap(world.values)(after)

        first = jax.vmap(world.reset)(keys[0])
        return jax.vmap(world.values)(first), jax.lax.scan(step, first, (keys[1:], actions))[1]

    first, later = run(keys, jnp.asarray(actions))
    if not jnp.array_equal(run(keys, jnp.asarray(actions))[1], later, equal_nan=True):
        raise UserError(f"{world.id}: equal keys give different rollouts")
    return np.concatenate([first[None], later])


def _check_bounds(world: ContinuousWorld, values: np.ndarray) -> None:
    """Check that values are finite and within bounds, and that `fixed` variables do not change."""
    for variable, at in zip(world.space.variables, world.space.slices, strict=True):
        numbers = values[..., at]
        if not np.isfinite(numbers).all():
            raise UserError(f"{world.id}: {variable.name} is not finite in a random rollout")
        slack = ROUNDING * variable.largest_distance
        low, high = numbers.min(axis=(0, 1)), numbers.max(axis=(0, 1))
        if (low < np.array(variable.low) - slack).any() or (
            high > np.array(variable.high) + slack
        ).any():
            raise UserError(
                f"{world.id}: {variable.name} reaches {low.tolist()} to {high.tolist()}, outside "
                f"its bounds {variable.low} to {variable.high}"
            )
        if variable.name in world.fixed and (numbers != numbers[:1]).any():
            raise UserError(f"{world.id}: {variable.name} is declared fixed, but changes")
