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
