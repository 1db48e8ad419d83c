"""The protocol of worlds written in JAX: `reset`, `step`, and named variables.

Unlike a table, these worlds need no list of states. Their functions take one state and can be
traced, so that `jax.vmap` steps thousands of environments in parallel on a GPU, or hundreds on a
CPU. This module does not import JAX: worlds can be listed and described without it.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Iterable
from inspect import signature
from typing import TYPE_CHECKING, Any

from skillfocus.errors import UserError
from skillfocus.spaces import State
from skillfocus.world import Outcome, World, check_step_limit
from skillfocus.worlds.continuous import ContinuousBase
from skillfocus.worlds.jax.lazy import jax, jnp

if TYPE_CHECKING:
    from skillfocus.mdp import TabularMDP


def require_jax(what: str) -> None:
    """Raise a `UserError` that says how to install JAX, if it is missing."""
    try:
        importlib.import_module("jax")
    except ImportError:
        raise UserError(f"{what} needs JAX: pip install 'skillfocus[neural]'") from None


class TracedWorld(World):
    """Dynamics as JAX functions of one state, any pytree of arrays; `jax.vmap` runs many."""

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
            action: The action: its index, or float32 [n_action_dims] within the world's bounds.
        """

    def values(self, state: Any) -> Any:
        """Return the values of a state's variables.

        Returns:
            Value indices, int32 [n_variables], or in a continuous world float32 [space.size].
        """
        return state

    def place(self, key: Any, values: Any) -> Any:
        """Return a state with given values; the rest of it is sampled.

        Raises:
            UserError: If values do not determine a state of this world.
        """
        del key
        return values


class JaxWorld(TracedWorld):
    """A world as JAX functions of one state; `jax.vmap` runs many.

    A subclass sets `id`, `space` and `actions`, and implements `reset` and `step`. Its state may be
    any pytree of arrays. If it is more than the value indices, `values` and `place` convert between
    the two. A complete world::

        class Lamps(JaxWorld):
            id = "Lamps-v0"
            actions = tuple(f"press_{i}" for i in range(100))
            space = sf.FactoredSpace(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(100)))

            def reset(self, key):
                return jax.random.randint(key, (100,), 0, 2)

            def step(self, key, state, action):
                return state.at[action].set(1 - state[action])
    """

    one_way: tuple[str, ...] = ()
    """Variables that never return to a value they have left, such as a picked-up tool. Policies do
    not depend on their first value, and their penalty is charged when they change."""

    @property
    def mdp(self) -> TabularMDP | None:
        """The world's table, if it was made from one."""
        return None

    def states(self) -> Iterable[State]:
        """Raise `UserError`: these worlds are not enumerated."""
        raise self._no_table()

    def transition(self, state: State, action: int) -> list[Outcome]:
        """Raise `UserError`: outcomes are sampled, not listed."""
        del state, action
        raise self._no_table()

    def _no_table(self) -> UserError:
        return UserError(
            f"{self.id} has no table of its states: learn its skills with learner=Neural() or "
            f"--learner neural"
        )


class ContinuousWorld(TracedWorld, ContinuousBase):
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

    def observation(self, state: Any) -> Any:
        """Return the observation of a state, float32 [observation_size]."""
        return self.values(state)


class EpisodicWorld(ContinuousWorld):
    """A built-in continuous world; its settings are the arguments of its class."""

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
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


def where(condition: jax.Array, chosen: Any, other: Any) -> Any:
    """Apply `jnp.where` to pytrees whose leaves have the condition's leading axis."""

    def pick(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(-1, *(1,) * (x.ndim - 1)), x, y)

    return jax.tree.map(pick, chosen, other)
