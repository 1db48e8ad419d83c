"""Policies of a set of skills: which action, or stop, for a skill, its start and a state.

A `Policy` answers for arrays of states at once and keeps no state of its own. `TabularPolicy` is
the one that tabular learners return; any other can be tabulated in a finite world, so that exact
metrics apply to it. `SkillPolicy` is one skill as a function of the current state, for your own
loops.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skillfocus.core.factored import FactoredSpace
from skillfocus.core.indexing import ContextIndex, index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import PolicyArrays
from skillfocus.errors import UserError


class Policy(Protocol):
    """The policies of a set of skills. Subclass it and define `context_variables` and `actions`.

    Attributes:
        context_variables: Per skill, the variables whose start value its policy sees.
    """

    context_variables: tuple[tuple[str, ...], ...]

    @property
    def mdp(self) -> TabularMDP | None:
        """The tabular MDP it belongs to, if it has one."""
        return None

    @property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: how many modes each skill draws from when it starts."""
        return np.ones(len(self.context_variables), dtype=np.int64)

    @abstractmethod
    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return what a skill does.

        Args:
            skill: The skill's number.
            starts: States in which it started, value indices [n, n_variables].
            states: Current states, value indices [n, n_variables].
            mode: The mode it drew when it started.

        Returns:
            int [n], actions; the number of actions means "terminate".
        """
        ...

    def actions_of_each(
        self,
        skills: np.ndarray,
        starts: np.ndarray,
        states: np.ndarray,
        modes: np.ndarray,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return what several skills do, each in its own mode.

        Args:
            skills: int [n], skill numbers.
            starts: States in which they started, value indices [n, n_variables].
            states: Current states, value indices [n, n_variables].
            modes: int [n], the modes they drew.
            draws: Numbers drawn from [0, 1), [n], for policies that draw their actions.

        Returns:
            int [n], actions; the number of actions means "terminate".
        """
        del draws
        chosen = np.empty(len(skills), dtype=np.int64)
        for skill, mode in np.unique(np.stack([skills, modes], axis=1), axis=0).tolist():
            rows = (skills == skill) & (modes == mode)
            chosen[rows] = self.actions(skill, starts[rows], states[rows], mode)
        return chosen

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return the same policy as a table over all states and contexts of an MDP."""
        tables = []
        for skill, names in enumerate(self.context_variables):
            index = index_values(mdp, sorted(mdp.space.index(name) for name in names))
            columns = [
                self.actions(skill, np.broadcast_to(start, mdp.values.shape), mdp.values, mode)
                for start in mdp.values[index.example]
                for mode in range(int(self.n_modes[skill]))
            ]
            tables.append(np.stack(columns, axis=1).astype(np.uint8).ravel())
        return TabularPolicy(mdp, self.context_variables, np.concatenate(tables), self.n_modes)


class TabularPolicy(Policy):
    """Policies as one array of bytes, with an action for every skill, state, context and mode.

    Args:
        mdp: The MDP whose states are the rows.
        context_variables: Per skill, the variables whose start value its policy sees.
        actions: uint8, flat; see `core.rollout.PolicyArrays`.
        n_modes: int [n_skills], modes of each skill (default: one each).
    """

    def __init__(
        self,
        mdp: TabularMDP,
        context_variables: Sequence[Sequence[str]],
        actions: np.ndarray,
        n_modes: Sequence[int] | np.ndarray = (),
    ) -> None:
        self._set_index(mdp, context_variables, n_modes)
        self._actions = actions
        if actions.dtype != np.uint8 or actions.ndim != 1:
            raise UserError(
                f"policies must be a flat array of uint8, got {actions.dtype} {list(actions.shape)}"
            )
        if len(actions) != self.index.n_entries:
            raise UserError(
                f"the policies have {len(actions):,} entries where {len(self.context_variables)} "
                f"skills need {self.index.n_entries:,}"
            )
        self._check_actions(actions)

    def _set_index(
        self,
        mdp: TabularMDP,
        context_variables: Sequence[Sequence[str]],
        n_modes: Sequence[int] | np.ndarray,
    ) -> None:
        self._mdp = mdp
        self.context_variables = tuple(tuple(names) for names in context_variables)
        n_skills = len(self.context_variables)
        modes = [int(count) for count in n_modes] or [1] * n_skills
        if len(modes) != n_skills or min(modes, default=1) < 1:
            raise UserError(f"{n_skills} skills cannot have the modes {tuple(modes)}")
        variables = [[mdp.space.index(n) for n in names] for names in self.context_variables]
        self.index = ContextIndex(mdp, variables, modes)

    def _check_actions(self, actions: np.ndarray) -> None:
        if actions.size and actions.max() > self.mdp.n_actions:
            raise UserError("the policies name actions that the world does not have")

    @property
    def flat_actions(self) -> np.ndarray:
        """The whole table, uint8, flat; see `core.rollout.PolicyArrays`."""
        return self._actions

    @property
    def mdp(self) -> TabularMDP:
        """The MDP whose states are the rows."""
        return self._mdp

    @property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills]: how many modes each skill draws from when it starts."""
        return self.index.n_modes

    @property
    def contexts(self) -> np.ndarray:
        """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
        return self.index.contexts

    @property
    def arrays(self) -> PolicyArrays:
        """What kernels need."""
        index = self.index
        return PolicyArrays(
            self.flat_actions, index.offsets, index.widths, index.contexts, index.n_modes
        )

    def columns(self, skill: int) -> np.ndarray:
        """Return a skill's table, uint8 [n_states, contexts times modes]."""
        part = self.flat_actions[self.index.offsets[skill] : self.index.offsets[skill + 1]]
        return part.reshape(self.mdp.n_states, -1)

    def table(self, skill: int, mode: int = 0) -> np.ndarray:
        """Return one mode of a skill's table, uint8 [n_states, n_contexts]."""
        return np.ascontiguousarray(self.columns(skill)[:, mode :: int(self.n_modes[skill])])

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Look actions up; see `Policy.actions`."""
        first = np.array([self.mdp.number(state) for state in starts], dtype=np.int64)
        now = np.array([self.mdp.number(state) for state in states], dtype=np.int64)
        column = self.contexts[skill, first] * self.n_modes[skill] + mode
        return self._at(skill, now, column)

    def _at(self, skill: int, states: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.columns(skill)[states, columns]

    def tabulate(self, mdp: TabularMDP) -> TabularPolicy:
        """Return itself: it is a table already."""
        del mdp
        return self


@dataclass(eq=False)
class SkillPolicy:
    """One skill as a function from the current state to an action, for a loop of your own.

        policy = skills.policy(3)
        action = policy(state)  # None once the skill is over

    The first call remembers the state in which the skill starts, and draws its mode if it has
    several. Every call returns the action's number, or None once the skill terminates or has
    reached its step limit; the call after that starts it anew. A loop that abandons a skill before
    its end takes a new policy for the next run.
    """

    policy: Policy
    skill: int
    n_actions: int
    step_limit: int
    rng: np.random.Generator | None = None
    space: FactoredSpace | None = None

    def __post_init__(self) -> None:
        if self._n_modes > 1 and self.rng is None:
            raise UserError(
                f"the skill draws one of {self._n_modes} modes when it begins: pass rng"
            )
        self._start: tuple[int, ...] | None = None
        self._steps = self._mode = 0

    @property
    def _n_modes(self) -> int:
        return int(self.policy.n_modes[self.skill])

    def __call__(self, state: Sequence[int] | np.ndarray | Mapping[str, Hashable]) -> int | None:
        """Return the action in a state, given as value indices, or with a `space` as {variable:
        value}; None where the skill is over."""
        now = tuple(map(int, state)) if self.space is None else self.space.as_state(state)  # pyright: ignore[reportArgumentType]
        if self._start is None:
            self._start, self._steps, self._mode = now, 0, self._draw_mode()
        starts, states = np.array([self._start]), np.array([now])
        action = int(self.policy.actions(self.skill, starts, states, self._mode)[0])
        if action == self.n_actions or self._steps == self.step_limit:
            self._start = None
            return None
        self._steps += 1
        return action

    def _draw_mode(self) -> int:
        if self.rng is None or self._n_modes == 1:
            return 0
        return int(self.rng.random() * self._n_modes)
