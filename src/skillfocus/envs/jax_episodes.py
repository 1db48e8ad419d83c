"""Episodes in a world without a table: those of `episodes.py`, stepped by JAX.

Conditions are functions of a state as {variable: value}. Every option gets a key, and a skill its
mode, from its episode's own generator (see `skills/engine.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skillfocus.envs.episodes import AnyTask, Episodes, Start, no_start
from skillfocus.errors import UserError
from skillfocus.skills.engine import JaxEngine
from skillfocus.skills.policy import Policy, draw_keys
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.tasks.task import Condition, Task, as_condition, named_task

MAX_DRAWS = 1000
"""How often a start is drawn before the task is taken to be accomplished everywhere."""


class JaxEpisodes(Episodes):
    """Episodes of skills in a world in JAX; a condition that never holds is None.

    Args:
        skills: The skills.
        task: The reward or the name of the world's own task, a condition, or None.
        start: Where episodes start; random starts are drawn by the world's `reset`.
        n: How many there are side by side.
        primitives: Whether the world's actions can be chosen too.

    Raises:
        UserError: If the task is unknown or rests on a table, or if `start` is not valid.
    """

    def __init__(
        self, skills: Skills, task: AnyTask, start: Start, n: int, primitives: bool
    ) -> None:
        world = skills.world
        self._count(n, len(skills), len(world.actions) * primitives, start)
        self.mdp, self.marked = None, np.zeros((n, 0), np.uint8)
        self._skills, self._policy = skills, OptionPolicy(skills)
        self._start: State | None = None
        if start is not None and not isinstance(start, str):
            self._start = world.space.as_state(start)
        if isinstance(task, Task):
            raise UserError(
                f"{task.name} is a task of numbered states, and those of {world.id} have no "
                f"numbers: pass a function of {{variable: value}}"
            )
        self._rewarded = self._success = None
        if own := named_task(task, world):
            self._max_steps = own.max_episode_steps
            self._success, proxy = own.conditions(world)
            self._rewarded = proxy if task == "proxy" else self._success
            self._start = own.start(world) if start is None else self._start
        elif task is not None:
            self._rewarded = self._success = as_condition(task, world.space, world)
        self._terminal = self._rewarded
        self._values = np.zeros((n, len(world.space)), np.int32)
        self._paths = self._values[:, None].copy()
        assert isinstance(skills.engine, JaxEngine)
        self._engine = skills.engine
        self._states = self._engine.place_with(self._values, np.zeros((n, 2), np.uint32))

    @property
    def values(self) -> np.ndarray:
        """Value indices of the current states."""
        return self._values

    @property
    def path_values(self) -> np.ndarray:
        """States of the last options, as value indices."""
        return self._paths.copy()

    def _place(self, i: int, rng: np.random.Generator, state: Sequence[int] | None) -> None:
        first = self._start if state is None else tuple(state)
        if first is None:
            first = self._draw_start(rng)
        first = self._skills.world.space.as_state(first)
        self._values[i] = self._paths[i] = first
        n = len(self._values)
        placed = self._engine.place_with(self._values, np.repeat(draw_keys(1, rng), n, axis=0))
        self._states = self._engine.replace(self._states, placed, np.arange(n) == i)

    def _draw_start(self, rng: np.random.Generator) -> State:
        for _ in range(MAX_DRAWS):
            first = self._skills.draw_starts(1, rng)
            if not self._holds_in(first, self._terminal)[0]:
                return tuple(first[0].tolist())
        raise no_start(self._skills.world)

    def _follow(
        self, chosen: np.ndarray, active: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> None:
        options = np.where(active, chosen, 0)
        keys, modes = np.zeros((len(chosen), 2), np.uint32), np.zeros(len(chosen), np.int64)
        for i in np.flatnonzero(active).tolist():
            keys[i] = draw_keys(1, rngs[i])[0]
            modes[i] = self._policy.draw_modes(options[i : i + 1], rngs[i])[0]
        limits = np.where(options < self.n_skills, self._skills.step_limit, 1)
        limits = np.minimum(limits, self._max_steps - self.elapsed) * active
        done = self._engine.follow(
            self._policy, options, modes, self._states, limits, keys,
            lambda values: self._holds_in(values, self._terminal),
        )  # fmt: skip
        self._states, self._values = done.states, done.ends.copy()
        self.steps[active] = np.maximum(done.steps, 1)[active]
        longest = int(self.steps.max(initial=0)) + 1
        missing = ((0, 0), (0, max(0, longest - done.values.shape[1])), (0, 0))
        self._paths = np.pad(done.values, missing, mode="edge")

    def _holds(self, condition: Condition | None) -> np.ndarray:
        return self._holds_in(self._values, condition)

    def _holds_in(self, values: np.ndarray, condition: Condition | None) -> np.ndarray:
        """Return bool [n]: where a condition holds."""
        if condition is None:
            return np.zeros(len(values), dtype=bool)
        labels = self._skills.world.space.labels
        return np.array([bool(condition(labels(state))) for state in values.tolist()], dtype=bool)


class OptionPolicy(Policy):
    """Skills and, numbered after them, the world's actions."""

    def __init__(self, skills: Skills) -> None:
        self._skills, self._n = skills.policies, len(skills)
        self.context_variables = skills.context_variables
        self.n_draws = skills.policies.n_draws

    @property
    def n_modes(self) -> np.ndarray:
        """int64 [n_skills + 1]: the modes of skills, and one of every action."""
        return np.append(self._skills.n_modes, 1)

    def draw_modes(self, skills: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw modes of skills; see `Policy.draw_modes`."""
        return super().draw_modes(np.minimum(skills, self._n), rng)

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return what a skill or a primitive action does; see `Policy.actions`."""
        n = len(states)
        return self.act(np.full(n, skill), np.full(n, mode), starts, states)

    def act(
        self, skills: np.ndarray, modes: np.ndarray, starts: np.ndarray, values: np.ndarray,
        **seen: np.ndarray | None,
    ) -> np.ndarray:  # fmt: skip
        """Ask the skills together; see `Policy.act`."""
        chosen, rows = skills - self._n, skills < self._n
        own = {name: None if each is None else each[rows] for name, each in seen.items()}
        chosen[rows] = self._skills.act(
            skills[rows], modes[rows], starts[rows], values[rows], **own
        )
        return chosen
