"""Rollouts of skills in JAX worlds, many at once.

In a world without a table, skills are stepped one action at a time, because their policies may be
any (`JaxRunner`). Skills of a continuous world share one network and run in one compiled scan
(`ContinuousRunner`). Every rollout has a key of its own, drawn from a NumPy generator, so that it
is the same alone and among others.

This file imports JAX; sets of skills import it when they are run in such a world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.machine import array_namespace
from skillfocus.skills.actor import ActorModel
from skillfocus.skills.continuous import ContinuousRollouts
from skillfocus.skills.policy import Policy, draw_keys, draw_modes
from skillfocus.worlds.jax.world import JaxWorld


class _Runner:
    """The compiled functions of a world.

    Numbers of rollouts are padded to one of `sizes`, or to a multiple of the last one, so that few
    sizes are compiled.
    """

    sizes: tuple[int, ...]

    def __init__(self, world: Any) -> None:
        self.world = world
        self._reset = jax.jit(jax.vmap(lambda key: world.reset(as_key(key))))
        self._place = jax.jit(jax.vmap(lambda key, values: world.place(as_key(key), values)))
        self._values = jax.jit(jax.vmap(world.values))

    def _pad(self, array: Any) -> Any:
        """Pad an array with copies of its rows."""
        n, last = len(array), self.sizes[-1]
        size = next((size for size in self.sizes if n <= size), -(-n // last) * last)
        if size == n:
            return array
        return array_namespace(array).resize(array, (size, *array.shape[1:]))


def as_key(data: Any) -> Any:
    """Return a JAX key from its data, as `draw_keys` draws it."""
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def _where(condition: Any, state: Any, other: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), state, other)


# -------------------- Worlds without a table


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


class JaxRunner(_Runner):
    """The compiled functions of a JAX world.

    Args:
        world: The world.
    """

    sizes = (1, 64, 1024)

    def __init__(self, world: JaxWorld) -> None:
        super().__init__(world)
        self._step = jax.jit(jax.vmap(self._step_one, in_axes=(0, None, 0, 0, 0)))
        self._where = jax.jit(jax.vmap(_where))
        self._draw = jax.jit(jax.vmap(_draw, in_axes=(0, None)))

    def _step_one(self, key: Any, time: Any, state: Any, action: Any, over: Any) -> Any:
        after = self.world.step(jax.random.fold_in(as_key(key), time), state, action)
        return _where(over, state, after)

    def reset(self, keys: np.ndarray) -> np.ndarray:
        """Draw the values of states in which an environment may start.

        Args:
            keys: uint32 [n, 2], from `draw_keys`.

        Returns:
            int32 [n, n_variables].
        """
        return self.values(self._reset(self._pad(keys)), len(keys))

    def place(self, starts: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, as a padded pytree; what they do not show is drawn.

        Args:
            starts: int [n, n_variables].
            keys: uint32 [n, 2], from `draw_keys`.
        """
        return self._place(self._pad(keys), self._pad(np.asarray(starts, np.int32)))

    def replace(self, states: Any, others: Any, which: np.ndarray) -> Any:
        """Return states, with others in place of some of them, bool [n]."""
        return self._where(self._pad(which), others, states)

    def values(self, states: Any, n: int) -> np.ndarray:
        """Return the value indices of the first `n` states, int32 [n, n_variables]."""
        return np.array(self._values(states)[:n])

    def run(
        self,
        policies: Policy,
        skills: np.ndarray,
        starts: np.ndarray,
        step_limit: int,
        rng: np.random.Generator,
    ) -> Rollouts:
        """Run skills from starts given as value indices; see `Skills.run`."""
        n, modes = len(skills), draw_modes(policies.n_modes[skills], rng)
        states = self.place(starts, draw_keys(n, rng))
        limits, keys = np.full(n, step_limit), draw_keys(n, rng)
        return self.follow(policies, skills, modes, states, limits, keys)

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
        padded_keys = self._pad(keys)
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
                padded_keys, np.uint32(time), states, self._pad(moves), self._pad(over)
            )
            steps += ~over
            path.append(self.values(states, n))
            if is_end is not None:
                over[~over] = is_end(path[-1][~over])
        done += [np.full(n, n_actions, dtype=np.int32)] * (len(path) - len(done))
        return Rollouts(states, np.stack(path, axis=1), np.stack(done, axis=1), steps, modes)


def _draw(key: Any, time: Any) -> Any:
    """Draw a number from [0, 1) that does not depend on what the world draws at that time."""
    return jax.random.uniform(jax.random.fold_in(jax.random.fold_in(as_key(key), time), 1))


# -------------------- Continuous worlds


class ContinuousRunner(_Runner):
    """Runs a set of skills in a continuous world, compiled.

    Args:
        model: The actor model.
        weights: Its weights.
    """

    sizes = (1, 64, 1024, 16_384)

    def __init__(self, model: ActorModel, weights: Any) -> None:
        super().__init__(model.world)
        self.model = model
        self.weights = jax.tree.map(
            jnp.asarray, {name: weights[name] for name in ("actor", "shift", "scale")}
        )
        self._follow = jax.jit(jax.vmap(self._run_one, in_axes=(None, 0, 0, 0, 0, None)))

    def reset(self, keys: np.ndarray) -> Any:
        """Sample initial states of the world; keys are uint32 [n, 2]."""
        return _cut(self._reset(self._pad(keys)), len(keys))

    def place(self, values: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, float [n, size]."""
        placed = self._place(self._pad(keys), self._pad(np.asarray(values, np.float32)))
        return _cut(placed, len(keys))

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
        padded = jax.tree.map(self._pad, (states, masks, z, keys))
        done = self._follow(self.weights, *padded, jnp.float32(noise))
        states, observed = _cut(done, len(keys))
        return ContinuousRollouts(states, *map(np.asarray, observed))

    def _run_one(
        self, weights: Any, state: Any, mask: Any, z: Any, key: Any, noise: Any
    ) -> tuple[Any, Any]:
        model, world = self.model, self.world
        start = world.values(state)

        def step(state: Any, number: jax.Array) -> tuple[Any, Any]:
            key_draw, key_step = jax.random.split(jax.random.fold_in(as_key(key), number))
            seen, values = world.observation(state), world.values(state)
            time = jnp.full(1, number / model.step_limit)
            draws = jax.random.normal(key_draw, (1, world.n_action_dims))
            inputs = model.inputs(
                weights, seen[None], values[None], start[None], mask[None], z[None], time
            )
            action = model.act(weights, inputs, draws, noise)[0]
            return world.step(key_step, state, action), (values, seen, action)

        state, (values, seen, actions) = jax.lax.scan(step, state, jnp.arange(model.step_limit))
        values = jnp.concatenate([values, world.values(state)[None]])
        seen = jnp.concatenate([seen, world.observation(state)[None]])
        return state, (values, seen, actions)


def _cut(tree: Any, n: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:n], tree)
