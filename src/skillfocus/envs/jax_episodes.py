"""Episodes over options in a world without a table, many side by side.

They behave as those of `episodes.py`, and rest on `skills/jax_rollouts.py`: every option gets a key
from its episode's own generator, so that an episode is the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded

from skillfocus.envs.episodes import NEVER, AnyTask, Start, check_choices
from skillfocus.errors import UserError, unknown
from skillfocus.files import is_own
from skillfocus.skills.jax_rollouts import draw_keys, draw_modes
from skillfocus.skills.policy import Policy
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.tasks.task import Condition, Task, as_condition, world_task
from skillfocus.world import World

MAX_DRAWS = 1000
"""How often a start is drawn before the task is taken to be accomplished everywhere."""


class ConditionGoal(NamedTuple):
    """A task, or none, in a world whose states are not numbered."""

    start: State | None
    """The first state; None to draw one with the world's `reset`."""
    max_episode_steps: int
    """Primitive steps after which an episode is truncated."""
    rewarded: Condition
    """Whether entering a state, {variable: value}, earns reward 1 and ends the episode."""
    success: Condition
    """Whether the true task is accomplished, whichever reward is paid."""


def make_condition_goal(world: World, task: AnyTask, start: Start) -> ConditionGoal:
    """Return the goal of a task; see `make_goal`.

    Raises:
        UserError: If the task is unknown or rests on a table, or if `start` is not valid.
    """
    if isinstance(start, str) and start != "random":
        raise UserError(f"start must be 'random' or a state's value indices, got {start!r}")
    first = None
    if start is not None and not isinstance(start, str):
        first = world.space.as_state(start)
    if isinstance(task, Task):
        raise UserError(
            f"{task.name} is a task of numbered states, and those of {world.id} have no numbers: "
            f"pass a function of {{variable: value}}"
        )
    if task is None:
        return ConditionGoal(first, NEVER, _never, _never)
    if not isinstance(task, str) or "=" in task or is_own(task):
        condition = as_condition(task, world.space, world)
        return ConditionGoal(first, NEVER, condition, condition)
    name, max_episode_steps, conditions, first_state, _ = world_task(world)
    if task not in ("true", "proxy", name):
        raise unknown("task", task, ("true", "proxy", name))
    true, proxy = conditions(world)
    if start is None:
        first = first_state(world)
    return ConditionGoal(first, max_episode_steps, proxy if task == "proxy" else true, true)


def _never(state: dict) -> bool:
    del state
    return False


class OptionPolicy(Policy):
    """Skills and, numbered after them, the world's actions."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills.policies
        self._n = len(skills)
        self.context_variables = skills.context_variables

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return what a skill or a primitive action does; see `Policy.actions`."""
        if skill >= self._n:
            return np.full(len(states), skill - self._n)
        return self._skills.actions(skill, starts, states, mode)

    def actions_of_each(
        self,
        skills: np.ndarray,
        starts: np.ndarray,
        states: np.ndarray,
        modes: np.ndarray,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Ask the skills together; see `Policy.actions_of_each`."""
        chosen, rows = skills - self._n, skills < self._n
        chosen[rows] = self._skills.actions_of_each(
            skills[rows], starts[rows], states[rows], modes[rows],
            None if draws is None else draws[rows],
        )  # fmt: skip
        return chosen


class JaxEpisodes:
    """`n` episodes of one goal, each with its own state and generator.

    Attributes:
        n_options: The number of actions: skills, then primitive actions if there are any.
        values: int32 [n, n_variables]: value indices of the current states.
        ended: bool [n]: which episodes are over and need a reset.
        elapsed: int64 [n]: primitive steps since the reset.
        steps: int64 [n]: primitive steps of the last option.
        path_values: int32 [n, longest option + 1, n_variables]: its states, the last one repeated.
        marked: uint8 [n, 0]: there are no hidden marks.
    """

    mdp = None

    def __init__(self, skills: Skills, goal: ConditionGoal, n: int, primitives: bool) -> None:
        self._skills, self.goal, self.n_skills = skills, goal, len(skills)
        self.n_options = len(skills) + (len(skills.world.actions) if primitives else 0)
        self._policy, self._runner = OptionPolicy(skills), skills.jax_runner
        self.values = np.zeros((n, len(skills.world.space)), np.int32)
        self.path_values = self.values[:, None].copy()
        self.steps, self.elapsed = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.ended, self._begun = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        self.marked = np.zeros((n, 0), np.uint8)
        self._states = self._runner.place(self.values, np.zeros((n, 2), np.uint32))

    def begin(self, i: int, rng: np.random.Generator, state: Sequence[int] | None = None) -> None:
        """Reset episode `i` to a state given as value indices, or to one of the goal's starts."""
        first = self.goal.start if state is None else tuple(state)
        if first is None:
            first = self._draw_start(rng)
        self._skills.world.space.check_state(first)
        n = len(self.values)
        self.values[i] = first
        placed = self._runner.place(self.values, np.repeat(draw_keys(1, rng), n, axis=0))
        self._states = self._runner.replace(self._states, placed, np.arange(n) == i)
        self.path_values[i] = first
        self.elapsed[i], self.steps[i] = 0, 0
        self.ended[i], self._begun[i] = False, True

    def _draw_start(self, rng: np.random.Generator) -> State:
        for _ in range(MAX_DRAWS):
            first = tuple(self._skills.draw_starts(1, rng)[0].tolist())
            if not self.goal.rewarded(self._skills.world.space.labels(first)):
                return first
        raise UserError(
            f"every state that {self._skills.world.id} starts from ends the episode at once: pass "
            f"start=…"
        )

    def check_begun(self) -> None:
        """Raise `ResetNeeded` if an episode was never reset."""
        if not self._begun.all():
            raise ResetNeeded("no episode has begun: call reset() first")

    def step(
        self, chosen: np.ndarray, active: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> None:
        """Follow one option in every active episode; see `Episodes.step`."""
        check_choices(chosen[active], self.n_options, self.ended[active])
        options = np.where(active, chosen, 0)
        n_modes = np.append(self._skills.n_modes, 1)[np.minimum(options, self.n_skills)]
        keys, modes = np.zeros((len(chosen), 2), np.uint32), np.zeros(len(chosen), np.int64)
        for i in np.flatnonzero(active).tolist():
            keys[i] = draw_keys(1, generators[i])[0]
            modes[i] = draw_modes(n_modes[i : i + 1], generators[i])[0]
        limits = np.where(options < self.n_skills, self._skills.step_limit, 1)
        limits = np.minimum(limits, self.goal.max_episode_steps - self.elapsed) * active
        done = self._runner.follow(
            self._policy, options, modes, self._states, limits, keys, self._is_end
        )
        self._states = done.states
        self.values = done.paths[:, -1].copy()
        self.steps[active] = np.maximum(done.steps, 1)[active]
        longest = int(self.steps.max(initial=0)) + 1
        missing = ((0, 0), (0, max(0, longest - done.paths.shape[1])), (0, 0))
        self.path_values = np.pad(done.paths, missing, mode="edge")
        self.elapsed[active] += self.steps[active]
        self.ended[active] = (self.terminated | self.truncated)[active]

    def _is_end(self, values: np.ndarray) -> np.ndarray:
        return self._holds(self.goal.rewarded, values)

    def _holds(self, condition: Condition, values: np.ndarray) -> np.ndarray:
        """Return where a condition holds, bool [n]."""
        if condition is _never:
            return np.zeros(len(values), dtype=bool)
        labels = self._skills.world.space.labels
        return np.array([bool(condition(labels(state))) for state in values.tolist()], dtype=bool)

    @property
    def rewards(self) -> np.ndarray:
        """float64 [n]: 1 where the current state is rewarded."""
        return self.terminated.astype(np.float64)

    @property
    def terminated(self) -> np.ndarray:
        """bool [n]: whether the current state ends the episode."""
        return self._is_end(self.values)

    @property
    def truncated(self) -> np.ndarray:
        """bool [n]: whether the episode ran out of steps without being terminated."""
        return (self.elapsed >= self.goal.max_episode_steps) & ~self.terminated

    @property
    def success(self) -> np.ndarray:
        """bool [n]: whether the true task is accomplished in the current state."""
        return self._holds(self.goal.success, self.values)

    @property
    def ways(self) -> list[list[list[int]]]:
        """The states of each episode's last option."""
        pairs = zip(self.path_values.tolist(), self.steps.tolist(), strict=True)
        return [path[: steps + 1] for path, steps in pairs]
