"""Credit: which components of a skill each action dimension follows.

Policy gradients multiply the noise of every action dimension by the advantage of the whole skill.
With several components at once, one that is learned already drowns the others: its advantage
still varies with the noise in its own dimensions. So dimension i may follow the components that
it has most influence on:

    A_i = sum over components h of w_ih A_h + v_i A_penalty
    w_ih = (c_ih / max over h of c_ih)^credit

The influence of a dimension on a variable is how far the variable's value moves when only this
dimension of a random, repeated action is resampled; c_ih is its share of the influence of all
dimensions on the variable of component h. The components are those of the skill that runs. v_i is
1 if the dimension influences any variable that the skill is penalized for, and 0 otherwise.

Components of no single variable, or of one that no dimension was seen to move, count for all
dimensions.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.objectives.kinds import WHOLE
from skillfocus.skills.actor import ActorModel, SkillCode

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
    world: Any = model.world
    dims = jnp.arange(model.n_action_dims)
    key_reset, key_before, key_walk, key_first, key_other, key_steps = jax.random.split(key, 6)

    def repeat(keys: jax.Array, state: object, u: jax.Array) -> object:
        actions = model.action(u)

        def step(state: object, number: jax.Array) -> tuple[object, None]:
            now = jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys, number)
            return jax.vmap(world.step)(now, state, actions), None

        return jax.lax.scan(step, state, jnp.arange(STEPS))[0]

    def drawn(key: jax.Array) -> jax.Array:
        uniform = jax.random.uniform(key, (SAMPLES, dims.size), minval=-0.999, maxval=0.999)
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
            mine = jnp.where(dims == i, other, first)
            return world.space.change(end, values(repeat(keys, state, mine))).mean(axis=0)

        return jax.lax.map(moved, dims)

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
