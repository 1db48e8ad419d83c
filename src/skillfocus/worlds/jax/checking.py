"""Conformance checks of worlds in JAX in random rollouts; `testing.check_world` calls them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.spaces import Variable
from skillfocus.worlds.jax.world import JaxWorld

ENVIRONMENTS = 128
"""Number of parallel environments."""
STEPS = 64
"""Random actions per environment."""
ROUNDING = 1e-5
"""Tolerance of bounds, relative to the variable's scale."""


def check_rollouts(world: JaxWorld) -> np.ndarray:
    """Check random rollouts.

    Returns:
        Values, [STEPS + 1, ENVIRONMENTS, width].

    Raises:
        UserError: If a check fails.
    """
    key, rng = jax.random.key(0), np.random.default_rng(0)
    shape = (STEPS, ENVIRONMENTS)
    if world.has_real_actions:
        low, high = np.array(world.action_low), np.array(world.action_high)
        actions = rng.uniform(low, high, (*shape, len(low))).astype(np.float32)
    else:
        actions = rng.integers(len(world.actions), size=shape, dtype=np.int32)
    _check_program(world, key, jnp.asarray(actions[0, 0]))
    values = _rollouts(world, key, actions)
    for j, (variable, at) in enumerate(zip(world.space.variables, world.space.slices, strict=True)):
        numbers = values[..., at]
        if not variable.is_finite:
            _check_bounds(world, variable, numbers)
            continue
        low, high = int(numbers.min()), int(numbers.max())
        if low < 0 or high >= len(variable.values):
            raise UserError(
                f"{world.id}: {variable.name} has value indices {low} to {high}, but only "
                f"{len(variable.values)} values"
            )
        paths = [[value for value, _ in groupby(path)] for path in values[..., j].T.tolist()]
        if variable.name in world.one_way and any(len(path) > len(set(path)) for path in paths):
            raise UserError(
                f"{world.id}: {variable.name} is declared one_way, but returned to a value it had "
                f"left"
            )
    if world.space.is_finite:
        _check_place(world, key, values)
    return values


def _check_program(world: JaxWorld, key: jax.Array, action: jax.Array) -> None:
    """Check what functions return, that states keep their structure, and that traces agree."""
    finite = world.space.is_finite
    dtype = jnp.dtype(jnp.int32 if finite else jnp.float32)
    state = jax.eval_shape(world.reset, key)
    sizes = {"values": world.space.width}
    if world.has_real_actions:
        sizes["observation"] = world.observation_size
    meaning = ", one value index per variable" if finite else ""
    for name, size in sizes.items():
        found = jax.eval_shape(getattr(world, name), state)
        if (found.shape, found.dtype) != ((size,), dtype):
            raise UserError(
                f"{world.id}: {name} must be {dtype} of shape {(size,)}{meaning}, not "
                f"{found.dtype} of shape {found.shape}"
            )
    others = {"step": jax.eval_shape(world.step, key, state, action)}
    if finite:
        others["place"] = jax.eval_shape(lambda k, s: world.place(k, world.values(s)), key, state)
    expected, *returned = (
        str(jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", each))
        for each in (state, *others.values())
    )
    for name, structure in zip(others, returned, strict=True):
        if structure != expected:
            raise UserError(
                f"{world.id}: {name} returns {structure}, but reset returns {expected}; all states "
                f"must have the same structure"
            )
    for name, given in (("reset", (key,)), ("step", (key, state, action))):
        # JAX caches traces by function, so each trace gets its own lambda.
        function = getattr(world, name)
        one, other = (jax.make_jaxpr(lambda *args, f=function: f(*args))(*given) for _ in "12")
        constants = zip(one.consts, other.consts, strict=False)
        if str(one) != str(other) or any(np.any(a != b) for a, b in constants):
            raise UserError(
                f"{world.id}: {name} differs between two traces; draw random numbers only from the "
                f"key"
            )


def _rollouts(world: JaxWorld, key: jax.Array, actions: np.ndarray) -> np.ndarray:
    """Return the values along random actions, [n_steps + 1, n_environments, n_values]."""
    keys = jax.random.split(key, (len(actions) + 1, ENVIRONMENTS))

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


def _check_place(world: JaxWorld, key: jax.Array, values: np.ndarray) -> None:
    """Check that `place` preserves values."""
    last = jnp.asarray(values[-1])
    again = jax.jit(jax.vmap(lambda key, values: world.values(world.place(key, values))))
    kept = np.asarray(again(jax.random.split(key, len(last)), last))
    if (kept != values[-1]).any():
        row, j = np.argwhere(kept != values[-1])[0]
        raise UserError(
            f"{world.id}: place does not keep {world.space.names[j]}: value index "
            f"{values[-1][row, j]} became {kept[row, j]}"
        )


def _check_bounds(world: JaxWorld, variable: Variable, numbers: np.ndarray) -> None:
    """Check that a real-valued variable, [..., width], is finite, within its bounds, and does not
    change if it is declared `fixed`."""
    if not np.isfinite(numbers).all():
        raise UserError(f"{world.id}: {variable.name} is not finite in a random rollout")
    slack = ROUNDING * variable.largest_distance
    low, high = numbers.min(axis=(0, 1)), numbers.max(axis=(0, 1))
    if (low < np.array(variable.low) - slack).any() or (
        high > np.array(variable.high) + slack
    ).any():
        raise UserError(
            f"{world.id}: {variable.name} reaches {low.tolist()} to {high.tolist()}, outside its "
            f"bounds {variable.low} to {variable.high}"
        )
    if variable.name in world.fixed and (numbers != numbers[:1]).any():
        raise UserError(f"{world.id}: {variable.name} is declared fixed, but changes")
