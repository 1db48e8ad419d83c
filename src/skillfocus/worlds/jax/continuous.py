"""The protocol of continuous worlds written in JAX: `reset`, `step`, and named variables.

As in `worlds/jax/world.py`, functions take one state and can be traced, so that `jax.vmap` steps
thousands of environments in parallel. This module does not import JAX.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from skillfocus.worlds.continuous import ContinuousBase


class ContinuousWorld(ContinuousBase):
    """A world with continuous variables and actions, as JAX functions of one state.

    A subclass sets `id`, `space`, `actions`, `action_low` and `action_high`, and implements `reset`
    and `step`. Its state may be any pytree of arrays. If that is more than the variables, `values`
    returns the variables and `observation` the input of policies. A complete world::

        class Point(ContinuousWorld):
            id = "Point-v0"
            space = ContinuousSpace((ContinuousVariable("position", (-1, -1), (1, 1)),))
            actions = ("x", "y")
            action_low, action_high = (-0.1, -0.1), (0.1, 0.1)

            def reset(self, key):
                return jax.random.uniform(key, (2,), minval=-1, maxval=1)

            def step(self, key, state, action):
                return jnp.clip(state + action, -1, 1)
    """

    @abstractmethod
    def reset(self, key: Any) -> Any:
        """Sample an initial state."""

    @abstractmethod
    def step(self, key: Any, state: Any, action: Any) -> Any:
        """Sample the next state after an action, float32 [n_action_dims] within its bounds."""

    def values(self, state: Any) -> Any:
        """Return the values of a state's variables, float32 [space.size]."""
        return state

    def observation(self, state: Any) -> Any:
        """Return the observation of a state, float32 [observation_size]."""
        return self.values(state)

    def place(self, key: Any, values: Any) -> Any:
        """Return a state with given values, float32 [space.size]; the rest of it is sampled.

        Raises:
            UserError: If values do not determine a state of this world.
        """
        del key
        return values
