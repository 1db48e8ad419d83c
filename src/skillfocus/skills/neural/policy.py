"""The policies of a set of skills as one cost-to-go network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.core.indexing import index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.skills.neural.model import SkillModel
from skillfocus.skills.policy import Policy, TabularPolicy

SMALL_BATCH = 64
"""Batches up to this size are evaluated in NumPy, which needs no compilation."""
BATCH = 2048
"""States per JAX call; a fixed number, so that JAX compiles once."""
MAX_NUMBERS = 1 << 26
"""Largest number of activations of a layer per call."""
BLOCK = 65_536
"""Pairs of first and current state that are tabulated at once."""


class NeuralPolicy(Policy):
    """Policies as a cost-to-go network; see `model.py`.

    With a positive temperature, rollouts sample actions; tables, and calls without `draws`, are
    greedy. Large batches are evaluated by JAX if it is installed, otherwise by NumPy; the two may
    break near ties differently.

    Args:
        model: The skill model.
        weights: Its weights, see `SkillModel`.
        modes: Number of modes of each skill.
        mdp: The tabular MDP of the world, if it has one.
    """

    def __init__(
        self, model: SkillModel, weights: Any, modes: tuple[int, ...], mdp: TabularMDP | None = None
    ) -> None:
        self.model, self.weights, self._modes, self._mdp = model, weights, modes, mdp
        self._first = np.cumsum((0, *modes[:-1]))
        seen = [model.space.names[j] for j in model.start_inputs]
        self.context_variables = tuple(
            tuple(dict.fromkeys([*seen, *(model.space.names[j] for j in self._cases(z))]))
            for z in self._first
        )

    def _cases(self, z: int) -> tuple[int, ...]:
        return self.model.assignment.targets(int(z)) if self.model.cases[z] else ()

    @property
    def mdp(self) -> TabularMDP | None:
        """The tabular MDP of the world, if it has one."""
        return self._mdp

    @property
    def n_modes(self) -> np.ndarray:
        """Number of modes that each skill samples from when it starts, int64 [n_skills]."""
        return np.array(self._modes, dtype=np.int64)

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Evaluate the network; see `Policy.actions`."""
        z = int(self._first[skill]) + mode
        return self.all_actions(starts, states)[:, z]

    @property
    def draws_actions(self) -> bool:
        """Whether rollouts sample actions."""
        return bool(self.weights["temperature"] > 0)

    def actions_of_each(
        self,
        skills: np.ndarray,
        starts: np.ndarray,
        states: np.ndarray,
        modes: np.ndarray,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Evaluate the network once for all skills; see `Policy.actions_of_each`."""
        chosen = self.all_actions(starts, states, draws if self.draws_actions else None)
        return chosen[np.arange(len(chosen)), self._first[skills] + modes]

    def all_actions(
        self, starts: np.ndarray, states: np.ndarray, draws: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the action of every skill and mode, int [n, total number of modes]."""
        starts, states = np.asarray(starts, np.int32), np.asarray(states, np.int32)
        compiled = None if len(states) <= SMALL_BATCH else self._compiled
        parts, size = [], self._batch
        for i in range(0, len(states), size):
            first, now = starts[i : i + size], states[i : i + size]
            some = None if draws is None else np.asarray(draws[i : i + size], np.float32)
            if compiled is None:
                with np.errstate(all="ignore"):  # a file's weights may be as large as floats get
                    parts.append(self.model.choose(self.weights, first, now, some))
            else:
                missing = ((0, size - len(now)), (0, 0))
                some = None if some is None else np.pad(some, missing[0])
                chosen = compiled(np.pad(first, missing), np.pad(now, missing), some)
                parts.append(np.asarray(chosen)[: len(now)])
        return np.concatenate(parts) if parts else np.empty((0, self.model.n_skills), np.int32)

    @property
    def _batch(self) -> int:
        """States per call: fewer for networks with very many outputs."""
        widest = max(array.shape[-1] for array in self.weights["costs"].values())
        return max(1, min(BATCH, MAX_NUMBERS // widest))

    @cached_property
    def _compiled(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray | None], Any] | None:
        """`model.choose` with these weights, compiled; None without JAX."""
        try:
            import jax
        except ImportError:
            return None
        weights, choose = jax.device_put(self.weights), jax.jit(self.model.choose)
        return lambda starts, states, draws: choose(weights, jax.device_put(starts), states, draws)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return the greedy policy as a table; skills with equal contexts share evaluations."""
        tables: dict[int, np.ndarray] = {}
        by_context: dict[tuple[str, ...], list[int]] = {}
        for skill, names in enumerate(self.context_variables):
            by_context.setdefault(names, []).append(skill)
        for names, skills in by_context.items():
            index = index_values(mdp, sorted(mdp.space.index(name) for name in names))
            columns = [self._first[z] + mode for z in skills for mode in range(self._modes[z])]
            chosen = self._columns(mdp, mdp.values[index.example], np.array(columns))
            done = 0
            for skill in skills:
                part = chosen[:, :, done : done + self._modes[skill]]
                tables[skill] = np.ascontiguousarray(part.transpose(1, 0, 2)).ravel()
                done += self._modes[skill]
        flat = np.concatenate([tables[skill] for skill in range(len(self.context_variables))])
        return TabularPolicy(mdp, self.context_variables, flat, self.n_modes)

    def _columns(self, mdp: TabularMDP, firsts: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the actions of some skills for all pairs of first and current state.

        Args:
            mdp: The MDP.
            firsts: First states, int [n_firsts, n_variables].
            columns: The skills or modes, int [n].

        Returns:
            uint8 [n_firsts, n_states, n].
        """
        chosen = np.empty((len(firsts), mdp.n_states, len(columns)), np.uint8)
        width = max(1, BLOCK // mdp.n_states)
        for i in range(0, len(firsts), width):
            some = firsts[i : i + width]
            starts = np.repeat(some, mdp.n_states, axis=0)
            actions = self.all_actions(starts, np.tile(mdp.values, (len(some), 1)))[:, columns]
            chosen[i : i + width] = actions.reshape(len(some), mdp.n_states, -1)
        return chosen
