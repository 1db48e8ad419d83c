"""Episodes side by side: the compiled steps that all environments share.

A choice is a skill or, numbered after the skills, a primitive move. A skill goes on until it
terminates, reaches its step limit, enters a state that ends the episode, or reaches the episode's
cap; a skill that ends without a step costs one. Every choice is given one block of random numbers
of fixed length, drawn from its episode's own generator: one to choose among a skill's modes, and
one per step. So an episode is the same whether it is played alone or beside others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.error import ResetNeeded
from numba import njit

from skillfocus.core.mdp import TabularMDP
from skillfocus.core.rollout import outcome, reset_marks
from skillfocus.envs.goal import Goal
from skillfocus.errors import UserError
from skillfocus.skills.skills import Skills
from skillfocus.tasks.smdp_q_learning import bodies_of


@njit(cache=True, nogil=True)
def follow(bodies, choice, s, left, over, marked, uniforms, path):
    """Follow one choice from s for at most `left` steps; `path` receives the states. Returns the
    number of steps."""
    arrays, (policy, offsets, widths, contexts, modes), limit = bodies
    n_skills = modes.shape[0]
    terminate = arrays[0].shape[1]
    path[0] = s
    if choice < n_skills:
        most = min(limit, left)
        context = contexts[choice, s] * modes[choice] + int(uniforms[0] * modes[choice])
    else:
        most = min(1, left)
        context = 0
    for t in range(most):
        if choice < n_skills:
            a = np.int64(policy[offsets[choice] + s * widths[choice] + context])
            if a == terminate:
                most = t
                break
        else:
            a = choice - n_skills
        s, _ = outcome(arrays, s, a, marked, uniforms[t + 1])
        path[t + 1] = s
        if over[s]:
            return t + 1
    if most == 0:
        path[1] = s
        return 1
    return most


@njit(cache=True, nogil=True)
def follow_all(bodies, choices, active, states, left, over, marked, uniforms, paths, steps):
    """Follow a choice in every active episode: `states` and `steps` are set, and paths
    [episode, t], the last state repeated."""
    for i in range(choices.shape[0]):
        if not active[i]:
            continue
        k = follow(bodies, choices[i], states[i], left[i], over, marked[i], uniforms[i], paths[i])
        steps[i] = k
        states[i] = paths[i, k]
        for later in range(k + 1, paths.shape[1]):
            paths[i, later] = states[i]


class Episodes:
    """`n` episodes of one goal, each with a state, hidden marks and a generator of its own."""

    def __init__(
        self, mdp: TabularMDP, goal: Goal, n: int, skills: Skills | None, primitives: bool
    ) -> None:
        self.mdp, self.goal = mdp, goal
        self.n_skills = 0 if skills is None else len(skills)
        self.n_choices = self.n_skills + (mdp.n_actions if primitives else 0)
        self._bodies = bodies_of(mdp, skills)
        longest = max(self._bodies[2], 1)
        self.states = np.full(n, -1, np.int64)
        self.ended = np.ones(n, dtype=bool)
        self.elapsed = np.zeros(n, np.int64)
        self.steps = np.zeros(n, np.int64)
        self.paths = np.zeros((n, longest + 1), np.int32)
        self.marked = np.zeros((n, mdp.n_marks), np.uint8)
        self._uniforms = np.empty((n, longest + 1))

    def begin(self, i: int, rng: np.random.Generator, state: Sequence[int] | None = None) -> None:
        """Start episode `i` anew, in the state given or in one of the goal's."""
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
        if (self.states < 0).any():
            raise ResetNeeded("no episode has begun: call reset() first")

    def step(
        self, choices: np.ndarray, active: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Take a choice in every active episode."""
        playing = choices[active]
        if len(playing) and not 0 <= playing.min() <= playing.max() < self.n_choices:
            wrong = playing[(playing < 0) | (playing >= self.n_choices)][0]
            raise UserError(f"there is no action {wrong}: actions are 0 to {self.n_choices - 1}")
        if self.ended[active].any():
            raise ResetNeeded("no episode is under way: call reset() first")
        left = self.goal.max_episode_steps - self.elapsed
        for i in np.flatnonzero(active).tolist():
            generators[i].random(out=self._uniforms[i])
        follow_all(
            self._bodies, choices, active, self.states, left, self.goal.over, self.marked,
            self._uniforms, self.paths, self.steps,
        )  # fmt: skip
        self.elapsed[active] += self.steps[active]
        self.ended[active] = (self.terminated | self.truncated)[active]

    @property
    def rewards(self) -> np.ndarray:
        return self.goal.pays[self.states].astype(np.float64)

    @property
    def terminated(self) -> np.ndarray:
        return self.goal.over[self.states]

    @property
    def truncated(self) -> np.ndarray:
        return (self.elapsed >= self.goal.max_episode_steps) & ~self.terminated

    @property
    def ways(self) -> list[list[int]]:
        """Per episode, the states of its last choice if there are skills to choose."""
        if not self.n_skills:
            return [[] for _ in self.states]
        pairs = zip(self.paths.tolist(), self.steps.tolist(), strict=True)
        return [path[: steps + 1] for path, steps in pairs]

    @property
    def success(self) -> np.ndarray:
        return self.goal.true[self.states]
