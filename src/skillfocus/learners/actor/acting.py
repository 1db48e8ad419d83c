"""Rollouts for training: reset environments, run sampled skills, or act at random."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.learners.actor.learner import Actor
from skillfocus.learners.actor.rewards import Fixed, Round
from skillfocus.objectives.kinds import WHOLE
from skillfocus.skills.actor import ActorModel, SkillCode, log_densities
from skillfocus.worlds.jax.world import JaxWorld, where


class Acting:
    """Compiled rollouts in one world.

    Args:
        model: The actor model.
        settings: Settings of the actor.
    """

    def __init__(self, model: ActorModel, settings: Actor) -> None:
        self.model, self.settings = model, settings
        self.world, self.code, self.n_steps = model.world, model.code, model.step_limit
        self.masks = jnp.asarray(self.code.masks)
        self.active = jnp.asarray(self.code.active)
        self.compiled_act = jax.jit(self.act)
        self.compiled_sample = jax.jit(self.sample_skills, static_argnums=1)
        if isinstance(self.world, JaxWorld):
            self.compiled_reset = jax.jit(jax.vmap(self.world.reset))
            self.compiled_explore = jax.jit(self.explore, static_argnums=(1, 2))

    def sample_skills(self, key: jax.Array, n: int) -> tuple[jax.Array, jax.Array]:
        """Sample kinds of skills, int32 [n], and their components, [n, code.width]."""
        key_kind, key_z = jax.random.split(key)
        kind = jax.random.randint(key_kind, (n,), 0, len(self.code.kinds))
        active, parts = self.active[kind], []
        for k, slot in enumerate(self.code.slots):
            key_slot = jax.random.fold_in(key_z, k)
            if slot.is_discrete:
                part = jax.nn.one_hot(jax.random.randint(key_slot, (n,), 0, slot.width), slot.width)
            else:
                part = jax.random.normal(key_slot, (n, slot.width))
                part = part / jnp.linalg.norm(part, axis=1, keepdims=True)
            parts.append(part * active[:, k : k + 1])
        return kind, jnp.concatenate(parts, axis=1)

    def reset_some(self, key: jax.Array, state: Any) -> Any:
        """Reset each environment with probability `reset_share`."""
        n = self.settings.environments
        key_choice, key_reset = jax.random.split(key)
        is_reset = jax.random.uniform(key_choice, (n,)) < self.settings.reset_share
        initial = jax.vmap(self.world.reset)(jax.random.split(key_reset, n))  # pyright: ignore[reportAttributeAccessIssue]

        return where(is_reset, initial, state)

    def run_skills(self, key: jax.Array, actor: Any, fixed: Fixed, state: Any) -> tuple[Any, Round]:
        """Run one sampled skill in every environment; return the last states and the round."""
        world, model, n = self.world, self.model, self.settings.environments
        key_skill, key_steps, key_noise = jax.random.split(key, 3)
        kind, z = self.sample_skills(key_skill, n)
        start = jax.vmap(world.values)(state)  # pyright: ignore[reportAttributeAccessIssue]

        def step(carried: tuple[Any, jax.Array, jax.Array], at: tuple[jax.Array, jax.Array]) -> Any:
            (state, values, noise), (key, time) = carried, at
            key_sample, key_step = jax.random.split(key)
            seen = jax.vmap(world.observation)(state)  # pyright: ignore[reportAttributeAccessIssue]
            inputs, u, log_prob, action, noise = self.act(
                key_sample, actor, fixed, seen, values, start, kind, z, time, noise
            )
            keys = jax.random.split(key_step, n)
            state = jax.vmap(world.step)(keys, state, action)  # pyright: ignore[reportAttributeAccessIssue]
            after = jax.vmap(world.values)(state)  # pyright: ignore[reportAttributeAccessIssue]
            return (state, after, noise), (inputs, u, log_prob, after)

        times = jnp.arange(self.n_steps) / self.n_steps
        keys = jax.random.split(key_steps, self.n_steps)
        noise = jax.random.normal(key_noise, (n, model.n_action_dims))
        (state, _, _), (inputs, u, log_prob, after) = jax.lax.scan(
            step, (state, start, noise), (keys, times)
        )
        values = jnp.concatenate([start[None], after])
        return state, Round(inputs, u, log_prob, values, kind, z, jnp.ones(log_prob.shape[:2]))

    def act(
        self, key: jax.Array, actor: Any, fixed: Fixed, seen: Any, values: Any, start: Any,
        kind: jax.Array, z: jax.Array, time: jax.Array, noise: Any,
    ) -> tuple[jax.Array, ...]:  # fmt: skip
        """Return inputs, samples u, their log densities, actions and noise of one step."""
        weights = {"shift": fixed.shift, "scale": fixed.scale}
        times = jnp.full(len(seen), time)
        inputs = self.model.inputs(weights, seen, values, start, self.masks[kind], z, times)
        mean, log_std = self.model.distribution(actor, inputs)
        noise = self._next_noise(key, noise)
        u = mean + jnp.exp(log_std) * noise
        return inputs, u, log_densities(u, mean, log_std), self.model.action(u), noise

    def _next_noise(self, key: jax.Array, noise: jax.Array) -> jax.Array:
        """Return the action noise of the next step.

        Correlated noise explores farther. Each action still has the policy's distribution.
        """
        kept = self.settings.noise_correlation
        return kept * noise + (1 - kept**2) ** 0.5 * jax.random.normal(key, noise.shape)

    def explore(self, key: jax.Array, n: int, repeats: int) -> tuple[jax.Array, jax.Array]:
        """Take random actions, each repeated, for twice a skill's steps.

        Returns:
            Observations, [n * steps, observation_size], and values, [n * steps, size].
        """
        world, model, n_steps = self.world, self.model, 2 * self.n_steps
        key_reset, key_steps = jax.random.split(key)
        state = jax.vmap(world.reset)(jax.random.split(key_reset, n))  # pyright: ignore[reportAttributeAccessIssue]

        def step(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            (state, u), (key, number) = carried, at
            key_action, key_step = jax.random.split(key)
            sampled = jax.random.uniform(key_action, u.shape, minval=-1.0, maxval=1.0)
            u = jnp.where(number % repeats == 0, jnp.arctanh(0.999 * sampled), u)
            keys = jax.random.split(key_step, n)
            state = jax.vmap(world.step)(keys, state, self.model.action(u))  # pyright: ignore[reportAttributeAccessIssue]
            seen = jax.vmap(world.observation)(state)  # pyright: ignore[reportAttributeAccessIssue]
            return (state, u), (seen, jax.vmap(world.values)(state))  # pyright: ignore[reportAttributeAccessIssue]

        u = jnp.zeros((n, model.n_action_dims))
        at = (jax.random.split(key_steps, n_steps), jnp.arange(n_steps))
        _, (seen, values) = jax.lax.scan(step, (state, u), at)
        return seen.reshape(-1, seen.shape[2]), values.reshape(-1, values.shape[2])


# -------------------- Credit: which components of a skill each action dimension follows
#
# Policy gradients multiply the noise of every action dimension by the advantage of the whole skill.
# With several components at once, one that is learned already drowns the others: its advantage
# still varies with the noise in its own dimensions. So dimension i may follow the components that
# it has most influence on:
#
#     A_i = sum over components h of w_ih A_h + v_i A_penalty
#     w_ih = (c_ih / max over h of c_ih)^credit
#
# The influence of a dimension on a variable is how far the variable's value moves when only this
# dimension of a random, repeated action is resampled; c_ih is its share of the influence of all
# dimensions on the variable of component h. The components are those of the skill that runs. v_i is
# 1 if the dimension influences any variable that the skill is penalized for, and 0 otherwise.
#
# Components of no single variable, or of one that no dimension was seen to move, count for all
# dimensions.

SAMPLES = 2048
"""Environments in which influence is measured."""
STEPS = 10
"""Steps for which an action is repeated."""
NEGLIGIBLE = 1e-6
"""Influence below this is rounding, relative to the scales."""


def action_influence(model: ActorModel, key: jax.Array) -> np.ndarray:
    """Measure how far each action dimension moves each variable, [n_action_dims, n_variables].

    From a state that random actions reach, a random action is repeated, once as it is and once with
    one dimension resampled; all other randomness is the same.
    """
    world = model.world
    assert isinstance(world, JaxWorld)
    n_dims = model.n_action_dims
    key_reset, key_before, key_walk, key_first, key_other, key_steps = jax.random.split(key, 6)

    def repeat(keys: jax.Array, state: object, u: jax.Array) -> object:
        actions = model.action(u)

        def step(state: object, number: jax.Array) -> tuple[object, None]:
            now = jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys, number)
            return jax.vmap(world.step)(now, state, actions), None

        return jax.lax.scan(step, state, jnp.arange(STEPS))[0]

    def drawn(key: jax.Array) -> jax.Array:
        uniform = jax.random.uniform(key, (SAMPLES, n_dims), minval=-0.999, maxval=0.999)
        return jnp.arctanh(uniform)

    @jax.jit
    def measured() -> jax.Array:
        state = jax.vmap(world.reset)(jax.random.split(key_reset, SAMPLES))
        keys_walk, keys = (jax.random.split(k, SAMPLES) for k in (key_walk, key_steps))
        state = repeat(keys_walk, state, drawn(key_before))
        first, other = drawn(key_first), drawn(key_other)
        values = jax.vmap(world.values)
        end = values(repeat(keys, state, first))

        def moved(i: jax.Array) -> jax.Array:
            mine = jnp.where(jnp.arange(n_dims) == i, other, first)
            return world.space.change(end, values(repeat(keys, state, mine))).mean(axis=0)

        return jax.lax.map(moved, jnp.arange(n_dims))

    influence = np.asarray(measured())
    return np.where(influence > NEGLIGIBLE, influence, 0.0)


def credit_weights(
    influence: np.ndarray, code: SkillCode, watched: np.ndarray, credit: float
) -> np.ndarray:
    """Return the weights of every kind, action dimension and head, [n_kinds, n_dims, n_heads].

    Args:
        influence: See `action_influence`.
        code: How skills are encoded.
        watched: Which variables each kind is penalized for, [n_kinds, n_variables].
        credit: The exponent.
    """
    total = influence.sum(axis=0)
    shares = np.divide(influence, total, out=np.zeros_like(influence), where=total > 0)
    weights = np.zeros((len(code.kinds), len(influence), len(code.slots) + 1), np.float32)
    for mine, kind, watching in zip(weights, code.kinds, watched, strict=True):
        variables = {k: v for k in kind if (v := code.slots[k].variable) != WHOLE and total[v] > 0}
        mine[:, [k for k in kind if k not in variables]] = 1.0
        if variables:
            own = shares[:, list(variables.values())]
            most = own.max(axis=1, keepdims=True)
            relative = np.divide(own, most, out=np.zeros_like(own), where=most > 0)
            mine[:, list(variables)] = relative**credit
        penalized = watching > 0
        mine[:, -1] = (influence[:, penalized] > 0).any(axis=1) | (total[penalized] == 0).any()
    return weights
