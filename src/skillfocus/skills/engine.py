"""The engine that steps skills in worlds without a table.

There are three back ends behind `Skills.run`: the kernel of `rollout.py` for tables, one compiled
`lax.scan` for worlds and policies in JAX (`JaxEngine.run`), and one loop on the host for everything
else (`follow`): environments on the CPU, and policies that are plain Python. Every rollout has a
key of its own, drawn from a NumPy generator, so that in JAX worlds it is the same alone and among
others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.machine import array_namespace
from skillfocus.rollout import Rollouts
from skillfocus.skills.policy import Policy, draw_keys
from skillfocus.world import World
from skillfocus.worlds.host import HostBatch, HostWorld
from skillfocus.worlds.jax.world import JaxWorld, jax, jnp

# -------------------- The loop on the host


def follow(
    policy: Policy,
    skills: np.ndarray,
    modes: np.ndarray,
    batch: _Environments | _States,
    limits: np.ndarray,
    n_actions: int,
    is_end: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Rollouts:
    """Follow skills until they terminate or reach a limit.

    Args:
        policy: Their policies.
        skills: int [n], skill numbers.
        modes: What they drew, from `Policy.draw_modes`.
        batch: The states they start in, which are stepped. `values` are those of the variables,
            [n, width], `observations` what policies of real-valued actions see, or None if that is
            the values, and `states` the states as the world has them.
        limits: int [n], most steps of each.
        n_actions: The number of discrete actions, which means "terminate"; 0 if actions are real.
        is_end: Whether values, [n, width], end a rollout.
    """
    n = len(skills)
    going, steps = np.ones(n, dtype=bool), np.zeros(n, dtype=np.int32)
    start = batch.values
    values, seen, actions = [start], [batch.observations], []
    for step in range(int(limits.max(initial=0))):
        going &= steps < limits
        rows = np.flatnonzero(going)
        if not len(rows):
            break
        draws = batch.draws(step, policy.n_draws)[rows] if policy.n_draws else None
        observed = None if batch.observations is None else batch.observations[rows]
        chosen = policy.act(
            skills[rows], modes[rows], start[rows], batch.values[rows],
            observations=observed, steps=np.full(len(rows), step), draws=draws,
        )  # fmt: skip
        taken = np.full((n, *chosen.shape[1:]), n_actions, chosen.dtype)
        taken[rows] = chosen
        if n_actions:
            going &= taken != n_actions
        actions.append(taken)
        if not going.any():
            break
        goes_on = batch.step(step, taken, going)
        steps += going
        values.append(batch.values)
        seen.append(batch.observations)
        going &= goes_on
        if is_end is not None:
            going[going] = ~is_end(batch.values[going])
    taken_steps = actions[: len(values) - 1]
    observations = None if batch.observations is None else np.stack(seen, axis=1)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return Rollouts(
        np.stack(values, axis=1),
        np.stack(taken_steps, axis=1) if len(values) > 1 else np.zeros((n, 0), np.int32),
        steps,
        skills,
        modes,
        observations=observations,
        states=batch.states,
    )


class HostStates(NamedTuple):
    """Environments on the CPU and their current observations. Rollouts step them in place."""

    batch: HostBatch
    observations: np.ndarray


class _Environments:
    """Environments on the CPU, for `follow`. Values are frozen after an episode's end."""

    def __init__(self, engine: HostEngine, states: HostStates, rng: np.random.Generator) -> None:
        self._engine, self._rng, self.states = engine, rng, states
        self.observations, self.values = states.observations, engine.values(states)

    def draws(self, step: int, size: int) -> np.ndarray:
        """Draw from one generator for all environments."""
        del step
        return self._rng.random((len(self.values), size))

    def step(self, step: int, actions: np.ndarray, going: np.ndarray) -> np.ndarray:
        """Step all environments, and return which go on, bool [n]; those whose episode ends are
        reset and count no more."""
        del step
        batch = self.states.batch
        done = batch.step_batch(actions)
        after = self._engine.values(HostStates(batch, done.observations))
        self.values = np.where(going[:, None], after, self.values)
        self.observations = done.next_observations
        self.states = HostStates(batch, done.next_observations)
        return ~(done.terminated | done.truncated)


class HostEngine:
    """Runs a set of skills in environments on the CPU.

    Args:
        world: The world.
        policy: The policies.
        step_limit: Most steps of a skill.
    """

    def __init__(self, world: HostWorld, policy: Policy, step_limit: int) -> None:
        self.world, self.policy, self.step_limit = world, policy, step_limit

    def reset(self, n: int, rng: np.random.Generator) -> HostStates:
        """Make environments and reset them."""
        batch = self.world.make_batch(n)
        return HostStates(batch, batch.reset_batch(int(draw_keys(n, rng)[0, 0]) % 2**31))

    def place(self, values: np.ndarray, keys: np.ndarray) -> HostStates:
        """Raise `UserError`: environments on the CPU cannot be set to given values."""
        del values, keys
        raise UserError(f"{self.world.id} cannot be set to given values: give a number of starts")

    def values(self, states: HostStates) -> np.ndarray:
        """Return the values of states, float32 [n, width]."""
        return np.asarray(self.world.values(states.observations), np.float32)

    def run(self, skills: np.ndarray, states: HostStates, rng: np.random.Generator) -> Rollouts:
        """Run skills from states."""
        modes = self.policy.draw_modes(skills, rng)
        batch = _Environments(self, states, rng)
        return follow(self.policy, skills, modes, batch, np.full(len(skills), self.step_limit), 0)


# -------------------- Worlds in JAX


def as_key(data: Any) -> Any:
    """Return a JAX key from its data, as `draw_keys` draws it."""
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def _where(condition: Any, state: Any, other: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), state, other)


class JaxEngine:
    """Runs a set of skills in a world in JAX, compiled.

    Numbers of rollouts are padded to one of `sizes`, or to a multiple of the last one, so that few
    sizes are compiled.

    Args:
        world: The world.
        policy: The policies.
        step_limit: Most steps of a skill.
    """

    sizes = (1, 64, 1024, 16_384)

    def __init__(self, world: JaxWorld, policy: Policy, step_limit: int) -> None:
        self.world, self.policy, self.step_limit = world, policy, step_limit
        self.n_actions = 0 if world.has_real_actions else len(world.actions)
        self._reset = jax.jit(jax.vmap(lambda key: world.reset(as_key(key))))
        self._place = jax.jit(jax.vmap(lambda key, values: world.place(as_key(key), values)))
        self._values = jax.jit(jax.vmap(world.values))
        self._observe = jax.jit(jax.vmap(world.observation))
        self._step = jax.jit(jax.vmap(self._step_one, in_axes=(0, None, 0, 0, 0)))
        self._draw = jax.jit(jax.vmap(self._draw_one, in_axes=(0, None, None)), static_argnums=2)
        self._replace = jax.jit(jax.vmap(_where))

    def _pad(self, array: Any) -> Any:
        """Pad an array with copies of its rows."""
        n, last = len(array), self.sizes[-1]
        size = next((size for size in self.sizes if n <= size), -(-n // last) * last)
        if size == n:
            return array
        return array_namespace(array).resize(array, (size, *array.shape[1:]))

    def reset(self, n: int, rng: np.random.Generator) -> Any:
        """Sample initial states of the world, a pytree whose leaves have a leading axis [n]."""
        return _cut(self._reset(self._pad(draw_keys(n, rng))), n)

    def place(self, values: np.ndarray, keys: np.ndarray) -> Any:
        """Return states with these values, [n, width]; what they do not show is sampled, by a key
        each, uint32 [n, 2]."""
        kind = np.int32 if self.world.space.is_finite else np.float32
        placed = self._place(self._pad(keys), self._pad(np.asarray(values, kind)))
        return _cut(placed, len(keys))

    def replace(self, states: Any, others: Any, which: np.ndarray) -> Any:
        """Return states, with others in place of some of them, bool [n]."""
        return self._replace(which, others, states)

    def values(self, states: Any) -> np.ndarray:
        """Return the values of states, [n, width]."""
        return np.array(self._values(states))

    def run(self, skills: np.ndarray, states: Any, rng: np.random.Generator) -> Rollouts:
        """Run skills from states."""
        modes = self.policy.draw_modes(skills, rng)
        keys = draw_keys(len(skills), rng)
        if self._traced is None:
            limits = np.full(len(skills), self.step_limit)
            return self.follow(self.policy, skills, modes, states, limits, keys)
        padded = jax.tree.map(self._pad, (skills, modes, states, keys))
        last, (values, seen, actions, steps) = _cut(
            self._scan(self._traced.weights, *padded), len(keys)
        )
        steps = np.asarray(steps)
        longest = int(steps.max(initial=0))
        seen = None if seen is None else np.asarray(seen)[:, : longest + 1]
        return Rollouts(
            np.asarray(values)[:, : longest + 1], np.asarray(actions)[:, :longest], steps, skills,
            modes, observations=seen, states=last,
        )  # fmt: skip

    @cached_property
    def _traced(self) -> Any:
        return self.policy.trace()

    @cached_property
    def _scan(self) -> Callable[..., Any]:
        return jax.jit(jax.vmap(self._run_one, in_axes=(None, 0, 0, 0, 0)))

    def _run_one(self, weights: Any, skill: Any, mode: Any, state: Any, key: Any) -> Any:
        """Run one skill; return the last state, and what was seen and done."""
        world, act, is_real = self.world, self._traced.act, not self.n_actions
        start, data = world.values(state), as_key(key)

        def step(carried: Any, number: Any) -> Any:
            state, going, steps = carried
            key_draw, key_step = jax.random.split(jax.random.fold_in(data, number))
            values, seen = world.values(state), world.observation(state)
            action = act(weights, skill, mode, start, values, seen, number, key_draw)
            if is_real:
                after = world.step(key_step, state, action)
            else:
                going = going & (action != self.n_actions)
                action = jnp.where(going, action, self.n_actions)
                after = world.step(key_step, state, jnp.where(going, action, 0))
                after = _where(going, after, state)
            return (after, going, steps + going), (values, seen if is_real else None, action)

        first = (state, jnp.bool_(True), jnp.int32(0))
        (state, _, steps), (values, seen, actions) = jax.lax.scan(
            step, first, jnp.arange(self.step_limit)
        )
        values = jnp.concatenate([values, world.values(state)[None]])
        if is_real:
            seen = jnp.concatenate([seen, world.observation(state)[None]])
        return state, (values, seen, actions, steps)

    # ------------------------------------------------------------------ for the loop on the host

    def follow(
        self, policy: Policy, skills: np.ndarray, modes: np.ndarray, states: Any,
        limits: np.ndarray, keys: np.ndarray,
        is_end: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Rollouts:  # fmt: skip
        """Follow skills, each up to its own limit or to an end; see `follow`."""
        batch = _States(self, states, keys)
        return follow(policy, skills, modes, batch, limits, self.n_actions, is_end)

    def _step_one(self, key: Any, number: Any, state: Any, action: Any, going: Any) -> Any:
        _, key_step = jax.random.split(jax.random.fold_in(as_key(key), number))
        return _where(going, self.world.step(key_step, state, action), state)

    def _draw_one(self, key: Any, number: Any, size: int) -> Any:
        key_draw, _ = jax.random.split(jax.random.fold_in(as_key(key), number))
        return jax.random.uniform(key_draw, (size,))


class _States:
    """States of a world in JAX, for `follow`."""

    def __init__(self, engine: JaxEngine, states: Any, keys: np.ndarray) -> None:
        self._engine, self._n = engine, len(keys)
        self._keys, self._padded = engine._pad(keys), jax.tree.map(engine._pad, states)
        self._look()

    def _look(self) -> None:
        engine = self._engine
        self.values = engine.values(self._padded)[: self._n]
        seen = None if engine.n_actions else np.array(engine._observe(self._padded))[: self._n]
        self.observations = seen

    @property
    def states(self) -> Any:
        return _cut(self._padded, self._n)

    def draws(self, step: int, size: int) -> np.ndarray:
        """Draw numbers that do not depend on what the world draws at that step."""
        return np.asarray(self._engine._draw(self._keys, np.uint32(step), size))[: self._n]

    def step(self, step: int, actions: np.ndarray, going: np.ndarray) -> np.ndarray:
        """Step the states that go on."""
        engine = self._engine
        moves = np.where(going, actions, 0) if engine.n_actions else actions
        self._padded = engine._step(
            self._keys, np.uint32(step), self._padded, engine._pad(moves), engine._pad(going)
        )
        self._look()
        return np.ones(self._n, dtype=bool)


def _cut(tree: Any, n: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:n], tree)


def make_engine(world: World, policy: Policy, step_limit: int) -> JaxEngine | HostEngine:
    """Return what runs skills in a world, without their table.

    Raises:
        UserError: If the world can be stepped in its table alone.
    """
    if isinstance(world, HostWorld):
        return HostEngine(world, policy, step_limit)
    if not isinstance(world, JaxWorld):
        from skillfocus.mdp import tabulate
        from skillfocus.worlds.jax.table import TableWorld

        world = TableWorld(world, tabulate(world))
    return JaxEngine(world, policy, step_limit)
