"""The protocol of worlds written in JAX: `reset`, `step`, and named variables.

Unlike a table, these worlds need no list of states. Their functions take one state and can be
traced, so that `jax.vmap` steps thousands of environments in parallel on a GPU, or hundreds on a
CPU. This module imports JAX when `jax` or `jnp` is first used, and files that define worlds import
both from here: worlds can be listed and described without.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from skillfocus.errors import UserError
from skillfocus.world import World, check_step_limit, constructor_arguments

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:

    class _Lazy:
        """A module whose attributes are looked up on use: it may not be installed."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    jax, jnp = _Lazy("jax"), _Lazy("jax.numpy")


def require_jax(what: str) -> None:
    """Raise a `UserError` that says how to install JAX and Optax, if one is missing."""
    for module, name in (("jax", "JAX"), ("optax", "Optax")):
        try:
            importlib.import_module(module)
        except ImportError:
            raise UserError(f"{what} needs {name}: pip install 'skillfocus[neural]'") from None


class JaxWorld(World):
    """A world as JAX functions of one state; `jax.vmap` runs many.

    A subclass sets `id`, `space` and `actions`, and implements `reset` and `step`. Its state may be
    any pytree of arrays. If it is more than the values of the variables, `values` and `place`
    convert between the two, and `observation` returns what policies of real-valued actions see. A
    complete world::

        class Lamps(JaxWorld):
            id = "Lamps-v0"
            actions = tuple(f"press_{i}" for i in range(100))
            space = sf.Space(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(100)))

            def reset(self, key):
                return jax.random.randint(key, (100,), 0, 2)

            def step(self, key, state, action):
                return state.at[action].set(1 - state[action])

    One with real-valued variables and actions::

        class Point(JaxWorld):
            id = "Point-v0"
            space = sf.Space((sf.Variable("position", low=(-1, -1), high=(1, 1)),))
            actions = ("x", "y")
            action_low, action_high = (-0.1, -0.1), (0.1, 0.1)

            def reset(self, key):
                return jax.random.uniform(key, (2,), minval=-1, maxval=1)

            def step(self, key, state, action):
                return jnp.clip(state + action, -1, 1)
    """

    @abstractmethod
    def reset(self, key: Any) -> Any:
        """Sample an initial state.

        The more varied initial states are, the less exploration is needed.
        """

    @abstractmethod
    def step(self, key: Any, state: Any, action: Any) -> Any:
        """Sample the next state after an action.

        Args:
            key: A random key.
            state: The state.
            action: The action: its index, or float32 [n_dimensions] within the world's bounds.
        """

    def values(self, state: Any) -> Any:
        """Return the values of a state's variables.

        Returns:
            Value indices, int32 [n_variables], or float32 [space.width] if one is real-valued.
        """
        return state

    def place(self, key: Any, values: Any) -> Any:
        """Return a state with given values; the rest of it is sampled.

        Raises:
            UserError: If values do not determine a state of this world.
        """
        del key
        return values

    def observation(self, state: Any) -> Any:
        """Return what policies of real-valued actions see, float32 [observation_size]."""
        return self.values(state)

    @property
    def has_table(self) -> bool:
        """Whether it was made from a table."""
        return self.mdp is not None


class EpisodicWorld(JaxWorld):
    """A built-in world of real-valued variables; its settings are the arguments of its class."""

    def __init__(self, step_limit: int, episode_steps: int) -> None:
        """Check and store the settings that all of them have.

        Args:
            step_limit: Steps of a skill.
            episode_steps: Steps of an episode.
        """
        check_step_limit(step_limit)
        check_step_limit(episode_steps)
        self.step_limit, self.episode_steps = step_limit, episode_steps

    @property
    def settings(self) -> dict[str, object]:
        """Arguments that recreate this world."""
        return constructor_arguments(self)


def where(condition: jax.Array, chosen: Any, other: Any) -> Any:
    """Apply `jnp.where` to pytrees whose leaves have the condition's leading axis."""

    def pick(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    return jax.tree.map(pick, chosen, other)
