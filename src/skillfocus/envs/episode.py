"""Episodes over options, many side by side: the compiled steps all environments share.

An action of an environment is an option: a skill or, numbered after the skills, a primitive action.
A skill runs until it terminates, reaches its step limit, enters a state that ends the episode, or
the episode is truncated; a skill that terminates without a step costs one.

Every option gets one block of uniform numbers of fixed length, drawn from its episode's own
generator: one for the skill's mode, and one per step. An episode is therefore the same whether it
is played alone or in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded

from skillfocus.compilation import njit
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import apply_action, draw, draw_context, follow, reset_marks
from skillfocus.envs.goal import Goal
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.tasks.episodes import options_of


class Batch(NamedTuple):
    """The arrays of n episodes; `follow_all` updates all but the last."""

    states: np.ndarray
    """int64 [n]: current states; -1 before the first reset."""
    steps: np.ndarray
    """int64 [n]: primitive steps of the last option."""
    paths: np.ndarray
    """int32 [n, longest option + 1]: states of the last option, the last one repeated."""
    marked: np.ndarray
    """uint8 [n, n_marks]: the hidden marks that are set."""
    uniforms: np.ndarray
    """float64 [n, longest option + 1]: the random numbers of the next option."""


@njit(cache=True, nogil=True)
def follow_all(options, chosen, active, left, over, batch):
    """Follow one option in every active episode.

    Args:
        options: `Options`.
        chosen: int64 [n]: the option of each episode.
        active: bool [n]: which episodes to advance.
        left: int64 [n]: primitive steps before each episode is truncated, at least 1.
        over: bool [n_states]: states that end an episode.
        batch: `Batch`, updated.
    """
    mdp, policy, step_limit = options
    states, steps, paths, marks, uniforms = batch
    n_skills = policy.n_modes.shape[0]
    for i in range(chosen.shape[0]):
        if not active[i]:
            continue
        path, marked, random = paths[i], marks[i], uniforms[i]
        option, state = chosen[i], states[i]
        if option < n_skills:
            limit = min(step_limit, left[i])
            context = draw_context(policy, option, state, random)
            k = follow(mdp, policy, option, state, context, limit, over, marked, random, path, None)
        else:
            path[0] = state
            path[1], _ = apply_action(mdp, state, option - n_skills, marked, draw(random, 1))
            k = 1
        path[k + 1 :] = path[k]
        states[i] = path[k]
        steps[i] = max(k, 1)


def check_choices(options: np.ndarray, n_options: int, ended: np.ndarray) -> None:
    """Check the options of the episodes that are to go on.

    Args:
        options: int [n], what was chosen.
        n_options: How many options there are.
        ended: bool [n], whether an episode is over.

    Raises:
        UserError: If an option does not exist.
        ResetNeeded: If an episode is over.
    """
    if len(options) and not 0 <= options.min() <= options.max() < n_options:
        wrong = options[(options < 0) | (options >= n_options)][0]
        raise UserError(f"there is no action {wrong}: actions are 0 to {n_options - 1}")
    if ended.any():
        raise ResetNeeded("no episode is under way: call reset() first")


class Episodes:
    """`n` episodes of one goal, each with its own state, hidden marks and generator.

    Attributes:
        n_options: The number of actions: skills, then primitive actions if there are any.
        states: int64 [n]: current states; -1 before the first reset.
        ended: bool [n]: which episodes are over and need a reset.
        elapsed: int64 [n]: primitive steps since the reset.
        steps, paths, marked: See `Batch`.
    """

    def __init__(
        self, mdp: TabularMDP, goal: Goal, n: int, skills: Skills | None, primitives: bool
    ) -> None:
        self.mdp, self.goal = mdp, goal
        self.n_skills = 0 if skills is None else len(skills)
        self.n_options = self.n_skills + (mdp.n_actions if primitives else 0)
        self._options = options_of(mdp, skills)
        width = max(self._options.step_limit, 1) + 1
        self._batch = Batch(
            states=np.full(n, -1, np.int64),
            steps=np.zeros(n, np.int64),
            paths=np.zeros((n, width), np.int32),
            marked=np.zeros((n, mdp.n_marks), np.uint8),
            uniforms=np.empty((n, width)),
        )
        self.states, self.steps, self.paths, self.marked, self._uniforms = self._batch
        self.ended = np.ones(n, dtype=bool)
        self.elapsed = np.zeros(n, np.int64)

    def begin(self, i: int, rng: np.random.Generator, state: Sequence[int] | None = None) -> None:
        """Reset episode `i` to a state given as value indices, or to one of the goal's starts."""
        if state is not None:
            first = self.mdp.number(state)
        else:
            starts = self.goal.starts
            first = starts[0] if len(starts) == 1 else starts[rng.integers(len(starts))]
        if self.mdp.n_marks:
            reset_marks(self.mdp.marks_in, first, self.marked[i], rng)
        self.states[i], self.elapsed[i], self.steps[i], self.ended[i] = first, 0, 0, False
        self.paths[i] = first

    def check_begun(self) -> None:
        """Raise `ResetNeeded` if an episode was never reset."""
        if (self.states < 0).any():
            raise ResetNeeded("no episode has begun: call reset() first")

    def step(
        self, chosen: np.ndarray, active: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Follow one option in every active episode.

        Args:
            chosen: int64 [n]: the option of each episode.
            active: bool [n]: which episodes to advance.
            generators: Every episode's generator.

        Raises:
            UserError: If an active episode's option does not exist.
            ResetNeeded: If an active episode is over.
        """
        check_choices(chosen[active], self.n_options, self.ended[active])
        left = self.goal.max_episode_steps - self.elapsed
        for i in np.flatnonzero(active).tolist():
            generators[i].random(out=self._uniforms[i])
        follow_all(self._options, chosen, active, left, self.goal.terminal, self._batch)
        self.elapsed[active] += self.steps[active]
        self.ended[active] = (self.terminated | self.truncated)[active]

    @property
    def values(self) -> np.ndarray:
        """int32 [n, n_variables]: value indices of the current states."""
        return self.mdp.values[self.states]

    @property
    def path_values(self) -> np.ndarray:
        """int32 [n, longest option + 1, n_variables]: `paths` as value indices."""
        return self.mdp.values[self.paths[:, : int(self.steps.max(initial=0)) + 1]]

    @property
    def rewards(self) -> np.ndarray:
        """float64 [n]: 1 where the current state is rewarded."""
        return self.goal.rewarded[self.states].astype(np.float64)

    @property
    def terminated(self) -> np.ndarray:
        """bool [n]: whether the current state ends the episode."""
        return self.goal.terminal[self.states]

    @property
    def truncated(self) -> np.ndarray:
        """bool [n]: whether the episode ran out of steps without being terminated."""
        return (self.elapsed >= self.goal.max_episode_steps) & ~self.terminated

    @property
    def success(self) -> np.ndarray:
        """bool [n]: whether the true task is accomplished in the current state."""
        return self.goal.success[self.states]

    @property
    def ways(self) -> list[list[list[int]]]:
        """The states of each episode's last option; empty lists if there are no skills."""
        if not self.n_skills:
            return [[] for _ in self.states]
        pairs = zip(self.path_values.tolist(), self.steps.tolist(), strict=True)
        return [path[: steps + 1] for path, steps in pairs]
