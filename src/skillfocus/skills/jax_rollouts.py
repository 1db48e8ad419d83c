"""Rollouts of skills in a world without a table: many at once, stepped by JAX.

Every rollout has a key of its own, drawn from a NumPy generator, so that it is the same alone and
among others. This file imports JAX; `Skills` imports it when a skill is run in such a world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.skills.actor import ActorModel
from skillfocus.skills.policy import Policy
from skillfocus.worlds.jax.world import JaxWorld

SIZES = (1, 64, 1024)
"""Numbers of environments that are stepped at once, so that few sizes are compiled; beyond the last
one, its multiples."""


class Rollouts(NamedTuple):
    """What `JaxRunner.follow` returns."""

    states: Any
    """The last states, a pytree whose leaves have a leading axis, padded."""
    paths: np.ndarray
    """int32 [n, longest rollout + 1, n_variables]: value indices, the last ones repeated."""
    actions: np.ndarray
    """int32 [n, longest rollout + 1]: what was done in each state; the number of actions where a
    rollout ended, and after that."""
    steps: np.ndarray
    """int32 [n]: steps taken."""
    modes: np.ndarray
    """int64 [n]: the modes that skills drew."""


class JaxRunner:
    """The compiled functions of a JAX world.

    Args:
        world: The world.
    """

    def __init__(self, world: JaxWorld) -> None:
        self.world = world
        self._reset = jax.jit(jax.vmap(lambda key: world.values(world.reset(_as_key(key)))))
        self._place = jax.jit(jax.vmap(lambda key, values: world.place(_as_key(key), values)))
        self._values = jax.jit(jax.vmap(world.values))
        self._step = jax.jit(jax.vmap(self._step_one, in_axes=(0, None, 0, 0, 0)))
        self._where = jax.jit(jax.vmap(_where))
        self._draw = jax.jit(jax.vmap(_draw, in_axes=(0, None)))

    def _step_one(self, key: Any, time: Any, state: Any, action: Any, over: Any) -> Any:
        after = self.world.step(jax.random.fold_in(_as_key(key), time), state, action)
        return _where(over, state, after)

    def reset(self, keys: np.ndarray) -> np.ndarray:
        """Draw the values of states in which an environment may start.

        Args:
            keys: uint32 [n, 2], from `draw_keys`.

        Returns:
            int32 [n, n_variables].
        """
        return np.array(self._reset(_pad(keys))[: len(keys)])

    def place(self, starts: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, as a pytree; what they do not show is drawn.

        Args:
            starts: int [n, n_variables].
            keys: uint32 [n, 2], from `draw_keys`.
        """
        return self._place(_pad(keys), _pad(np.asarray(starts, np.int32)))

    def replace(self, states: Any, others: Any, which: np.ndarray) -> Any:
        """Return states, with others in place of some of them, bool [n]."""
        return self._where(_pad(which), others, states)

    def values(self, states: Any, n: int) -> np.ndarray:
        """Return the value indices of the first `n` states, int32 [n, n_variables]."""
        return np.array(self._values(states)[:n])

    def follow(
        self,
        policies: Policy,
        skills: np.ndarray,
        modes: np.ndarray,
        states: Any,
        limits: np.ndarray,
        keys: np.ndarray,
        is_end: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Rollouts:
        """Run skills until they terminate or reach a limit.

        Args:
            policies: Their policies.
            skills: int [n], skill numbers.
            modes: int [n], the modes they drew.
            states: The states they start in, from `place`.
            limits: int [n], most steps of each.
            keys: uint32 [n, 2], from `draw_keys`: every rollout's source of draws.
            is_end: Whether states given as value indices, [n, n_variables], end a rollout.
        """
        n, n_actions = len(skills), len(self.world.actions)
        padded_keys = _pad(keys)
        over, steps = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int32)
        first = self.values(states, n)
        path, done = [first], []
        for time in range(int(limits.max(initial=0))):
            over |= steps >= limits
            rows = np.flatnonzero(~over)
            actions = np.full(n, n_actions, dtype=np.int32)
            draws = np.asarray(self._draw(padded_keys, np.uint32(time)))[rows]
            actions[rows] = policies.actions_of_each(
                skills[rows], first[rows], path[-1][rows], modes[rows], draws
            )
            done.append(actions)
            over |= actions == n_actions
            if over.all():
                break
            moves = np.where(over, 0, actions)
            states = self._step(
                padded_keys, np.uint32(time), states, _pad(moves), _pad(over, constant=True)
            )
            steps += ~over
            path.append(self.values(states, n))
            if is_end is not None:
                over[~over] = is_end(path[-1][~over])
        done += [np.full(n, n_actions, dtype=np.int32)] * (len(path) - len(done))
        return Rollouts(states, np.stack(path, axis=1), np.stack(done, axis=1), steps, modes)


def _draw(key: Any, time: Any) -> Any:
    """Draw a number from [0, 1) that does not depend on what the world draws at that time."""
    return jax.random.uniform(jax.random.fold_in(jax.random.fold_in(_as_key(key), time), 1))


def _where(condition: Any, state: Any, other: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), state, other)


def draw_modes(n_modes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one of so many modes for each skill, int64 [n]."""
    if n_modes.max(initial=1) == 1:
        return np.zeros(len(n_modes), dtype=np.int64)
    return (rng.random(len(n_modes)) * n_modes).astype(np.int64)


def draw_keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a key per rollout, uint32 [n, 2]."""
    return rng.integers(2**32, size=(n, 2), dtype=np.uint32)


def _as_key(data: Any) -> Any:
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def _pad(array: np.ndarray, constant: Any = 0) -> np.ndarray:
    """Lengthen an array to one of `SIZES`."""
    n = len(array)
    size = next((size for size in SIZES if n <= size), -(-n // SIZES[-1]) * SIZES[-1])
    widths = [(0, size - n), *[(0, 0)] * (array.ndim - 1)]
    return np.pad(array, widths, constant_values=constant)


# --------------------
#
# Batched rollouts of continuous skills in one compiled scan. This module imports JAX

BATCH_SIZES = (1, 64, 1024, 16_384)
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
        return _cut(self._reset(_pad_rows(keys)), len(keys))

    def place(self, values: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, float [n, size]."""
        return _cut(
            self._place(_pad_rows(keys), _pad_rows(np.asarray(values, np.float32))), len(keys)
        )

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
        padded = jax.tree.map(_pad_rows, (states, masks, z, keys))
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


def _pad_rows(array: Any) -> Any:
    """Pad an array to one of `BATCH_SIZES` with copies of its first row."""
    n = len(array)
    size = next(
        (size for size in BATCH_SIZES if n <= size), -(-n // BATCH_SIZES[-1]) * BATCH_SIZES[-1]
    )
    if size == n:
        return array
    rest = jnp.broadcast_to(array[:1], (size - n, *array.shape[1:]))
    return jnp.concatenate([jnp.asarray(array), rest])


def _cut(tree: Any, n: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:n], tree)
