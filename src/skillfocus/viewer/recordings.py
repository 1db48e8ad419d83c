"""Recorded runs of skills in a world without a table, which a page cannot simulate.

Every skill is run several times from the same few starts. The states that occur are numbered, the
starts first, so that a page can show them as it shows those of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skillfocus.core.factored import State
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.worlds.grid import GridWorld

STARTS = 8
"""First states of recorded runs; on a map, the showcase is one of them."""
RUNS = 12
"""Runs of each skill from each of them."""
MAX_ACTIONS = 254
"""Most actions of the world: a page holds them as bytes, and two bytes mean something else."""


class Recording(NamedTuple):
    """One run of a skill."""

    states: np.ndarray
    """int64 [n_steps + 1]: the states' numbers."""
    actions: np.ndarray
    """int64 [n_steps + 1]: what the skill does in each; the number of actions means "terminate"."""


class RecordedWorld:
    """Runs of all skills of some sets in one world.

    Attributes:
        values: int32 [n_states, n_variables]: the states that occur.
        n_starts: How many of them, the first ones, are starts.
        moves: int64 [n, 2]: the distinct pairs of a state and the next one.
    """

    def __init__(self, sets: Sequence[Skills], seed: int = 0) -> None:
        """Run the skills.

        Args:
            sets: Sets of skills in equal worlds.
            seed: Seed of starts and runs; equal seeds give equal recordings.
        """
        if len(sets[0].world.actions) > MAX_ACTIONS:
            raise UserError(f"a page shows worlds of up to {MAX_ACTIONS} actions")
        self._numbers: dict[State, int] = {}
        starts = draw_starts(sets[0], np.random.default_rng(seed))
        for start in starts:
            self._number(start)
        self.n_starts = len(starts)
        self._runs = {id(skills): self._record(skills, starts, seed) for skills in sets}
        self._sets = tuple(sets)  # keeps their ids from being used again
        self.values = np.array(list(self._numbers), dtype=np.int32)
        pairs = [
            np.stack([run.states[:-1], run.states[1:]], axis=1)
            for runs in self._runs.values()
            for skill_runs in runs
            for run in skill_runs
        ]
        self.moves = np.unique(np.concatenate(pairs), axis=0)

    def runs_of(self, skills: Skills, z: int) -> list[Recording]:
        """Return the recorded runs of a skill, those from one start after those from another."""
        return self._runs[id(skills)][z]

    def _number(self, state: State) -> int:
        return self._numbers.setdefault(state, len(self._numbers))

    def _record(self, skills: Skills, starts: list[State], seed: int) -> list[list[Recording]]:
        n = len(starts) * RUNS
        rng = np.random.default_rng(seed)
        numbers = np.repeat(np.arange(len(skills)), n)
        first = np.tile(np.repeat(np.array(starts), RUNS, axis=0), (len(skills), 1))
        done = skills.rollouts(numbers, first, rng)
        runs: list[list[Recording]] = [[] for _ in range(len(skills))]
        cut = np.flatnonzero(done.steps == skills.step_limit)  # what it would have done next
        done.actions[cut, -1] = skills.policies.actions_of_each(
            numbers[cut], first[cut], done.paths[cut, -1], done.modes[cut]
        )
        for z, path, actions, steps in zip(
            numbers, done.paths, done.actions, done.steps, strict=True
        ):
            states = [self._number(tuple(state)) for state in path[: steps + 1].tolist()]
            runs[z].append(Recording(np.array(states), actions[: steps + 1]))
        return runs


def draw_starts(skills: Skills, rng: np.random.Generator) -> list[State]:
    """Return different states to record runs from: a map's showcase, and some that are drawn."""
    drawn = [tuple(state) for state in skills.draw_starts(STARTS, rng).tolist()]
    showcase = [tuple(skills.world.showcase)] if isinstance(skills.world, GridWorld) else []
    return list(dict.fromkeys([*showcase, *drawn]))[:STARTS]
