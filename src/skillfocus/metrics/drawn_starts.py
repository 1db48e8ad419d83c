"""First states of sampled rollouts in a world without a table.

They are drawn by the world's `reset`. A skill whose target cannot change any more shows nothing, so
such starts do not count: those in which a target that never returns to a value it has left
(`one_way`) is at its last value. Which values are last is not known, and therefore observed: a
value counts as last if neither random actions nor the skills ever left it, while they did leave
others of the variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from skillfocus.skills.policy import Policy
from skillfocus.skills.skills import Skills
from skillfocus.worlds.jax.world import JaxWorld

EXPLORERS = 1024
"""Environments that take random actions."""
MIN_STEPS = 64
"""Random actions that each of them takes at least; else the skills' step limit."""
TRIES = 64
"""Rollouts of each skill."""
MAX_ROUNDS = 100
"""How often as many starts as are wanted are drawn before there are taken to be too few."""


class RandomActions(Policy):
    """One skill that takes random actions and never stops.

    Args:
        n_actions: Number of actions.
        rng: Source of the actions.
    """

    context_variables = ((),)

    def __init__(self, n_actions: int, rng: np.random.Generator) -> None:
        self._n_actions, self._rng = n_actions, rng

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Draw actions; see `Policy.actions`."""
        del skill, starts, mode
        return self._rng.integers(self._n_actions, size=len(states))


class DrawnStarts:
    """First states of skills in a world without a table.

    Args:
        skills: The skills.
        rng: Source of the draws.
    """

    def __init__(self, skills: Skills, rng: np.random.Generator) -> None:
        self._skills, self._rng = skills, rng

    def draw(self, targets: Sequence[str], n: int) -> np.ndarray:
        """Draw states in which these targets can still change.

        Args:
            targets: Names of variables.
            n: How many states.

        Returns:
            int32 [n, n_variables], or fewer if such states are too rare to be found.
        """
        space = self._skills.world.space
        kept = [np.empty((0, len(space)), np.int32)]
        for _ in range(MAX_ROUNDS):
            drawn = self._skills.draw_starts(n, self._rng)
            usable = np.ones(n, dtype=bool)
            for name in targets:
                if name in self._left:
                    usable &= self._left[name][drawn[:, space.index(name)]]
            kept.append(drawn[usable])
            if sum(map(len, kept)) >= n:
                break
        return np.concatenate(kept)[:n]

    @cached_property
    def _left(self) -> dict[str, np.ndarray]:
        """Per one-way target, which values were left, bool [n_values]; absent if none was."""
        world = self._skills.world
        assert isinstance(world, JaxWorld)
        names = {name for names in self._skills.targets for name in names} & set(world.one_way)
        left = {
            name: np.zeros(len(world.space.variables[world.space.index(name)].values), dtype=bool)
            for name in sorted(names)
        }
        for paths in (self._explore(), self._try_skills()) if left else ():
            for name, seen in left.items():
                path = paths[:, :, world.space.index(name)]
                seen[path[:, :-1][path[:, :-1] != path[:, 1:]]] = True
        return {name: seen for name, seen in left.items() if seen.any()}

    def _explore(self) -> np.ndarray:
        """Return the paths of random actions, int32 [n, n_steps + 1, n_variables]."""
        skills, rng = self._skills, self._rng
        n_steps = max(skills.step_limit, MIN_STEPS)
        policy = RandomActions(len(skills.world.actions), rng)
        explorers = Skills(skills.world, policy, ((),), n_steps)
        starts = skills.draw_starts(EXPLORERS, rng)
        return explorers.run(np.zeros(EXPLORERS, dtype=np.int64), starts, rng)[0]

    def _try_skills(self) -> np.ndarray:
        """Return the paths of some rollouts of every skill, as `_explore` does."""
        skills, rng = self._skills, self._rng
        numbers = np.repeat(np.arange(len(skills)), TRIES)
        return skills.run(numbers, skills.draw_starts(len(numbers), rng), rng)[0]
