"""A probe world of real-valued variables whose best skills are known."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from skillfocus.spaces import Space, Variable
from skillfocus.worlds.jax.world import JaxWorld


class Sliders(JaxWorld):
    """Three sliders from -1 to 1. Pushing the first drags the second along by half as much, unless
    the second pushes back. A skill can bring one to any place, and leave the others exactly where
    they were."""

    id = "Sliders-v0"
    space = Space(tuple(Variable(name, low=(-1.0,), high=(1.0,)) for name in "abc"))
    actions = ("a", "b", "c")
    action_low, action_high = (-0.2,) * 3, (0.2,) * 3
    step_limit = 12

    def reset(self, key):
        return jax.random.uniform(key, (3,), minval=-1.0, maxval=1.0)

    def step(self, key, state, action):
        drag = jnp.array([0.0, 0.5, 0.0]) * action[0]
        return jnp.clip(state + action + drag, -1.0, 1.0)
