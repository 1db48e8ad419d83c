"""`enumerate_world`: a small JAX world as a finite one, to compare networks with exact values."""

from __future__ import annotations

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, tabulate
from skillfocus.spaces import State
from skillfocus.world import Outcome, World
from skillfocus.worlds.jax.world import JaxWorld


class EnumeratedWorld(World):
    """A deterministic JAX world, whose states are its values, as a finite one."""

    mdp: TabularMDP  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, world: JaxWorld, starts: Iterable[State]) -> None:
        self.id, self.space, self.actions = world.id, world.space, world.actions
        self.world, self.step_limit, self.fixed = world, world.step_limit, world.fixed
        self.limit = world.limit
        self.starts = list(dict.fromkeys(tuple(map(int, start)) for start in starts))
        self._known: dict[State, list[State]] = {}
        keys = jax.random.split(jax.random.key(0), 2)  # two keys, to detect random outcomes
        each_action = jax.vmap(world.step, in_axes=(None, None, 0))
        step = jax.vmap(each_action, in_axes=(0, None, None))
        self._step = jax.jit(lambda state: step(keys, state, jnp.arange(len(world.actions))))

    @property
    def default_target(self) -> str:
        return self.world.default_target

    @property
    def goals(self) -> tuple[str, ...]:
        return self.world.goals

    def states(self) -> list[State]:
        return self.starts

    def transition(self, state: State, action: int) -> list[Outcome]:
        if state not in self._known:
            after, again = np.asarray(self._step(np.array(state, np.int32)))
            if (after != again).any():
                name = self.actions[np.argwhere(after != again)[0][0]]
                raise UserError(
                    f"{self.id}: {name!r} in state {self.space.labels(state)} has a random outcome"
                )
            self._known[state] = [tuple(row) for row in after.tolist()]
        return [Outcome(1.0, self._known[state][action])]


def enumerate_world(
    world: JaxWorld, starts: Iterable[State], limit: int | None = None
) -> EnumeratedWorld:
    """Enumerate the states that a deterministic JAX world can reach, as `tabulate` does.

    Args:
        world: A deterministic world whose states are its values.
        starts: The first states, as value indices; duplicates count once.
        limit: Maximum number of states (default: `world.limit`).

    Raises:
        UserError: If there are no starts, too many states, or a step that depends on its key.
    """
    made = EnumeratedWorld(world, starts)
    made.mdp = tabulate(made, limit)
    made.limit = max(made.limit, made.mdp.n_states)
    return made
