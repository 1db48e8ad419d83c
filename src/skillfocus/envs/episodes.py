"""Episodes over options, many side by side: what all environments step.

An action of an environment is an option: a skill or, numbered after the skills, a primitive action.
A skill runs until it terminates, reaches its step limit, enters a state that ends the episode, or
the episode is truncated; a skill that terminates without a step costs one.

`Episodes` follow numbered states in one compiled kernel; `JaxEpisodes`, of worlds without a table,
differ only in how they place and step states. Every option gets its random numbers from its
episode's own generator: in a table one block of fixed length, with a number for the skill's mode
and one per step; in JAX a key. An episode is therefore the same whether it is played alone or in a
batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.rollout import apply_action, draw, draw_context, follow, reset_marks
from skillfocus.skills.engine import JaxEngine
from skillfocus.skills.policy import CombinedPolicy, Policy, draw_keys
from skillfocus.skills.skills import Skills
from skillfocus.tasks.solving import options_of
from skillfocus.tasks.task import Condition, ShortTask, Task, as_condition, as_task, named_task
from skillfocus.world import World

AnyTask = ShortTask | None
"""A task, the reward or the name of the world's own, a condition, or no task."""
Start = str | Sequence[int] | None
"""A state as value indices, "random", or None for the task's start (random without a task)."""
NEVER = 2**62
"""`max_episode_steps` of episodes that are never truncated."""
MAX_DRAWS = 1000
"""How often a start is drawn before the task is taken to be accomplished everywhere."""


class Episodes:
    """`n` episodes of one task, each with its own state, hidden marks and generator.

    Attributes:
        mdp: The world's MDP; None without a table.
        n_skills: The number of skills.
        n_options: The number of actions: skills, then primitive actions if there are any.
        values: int32 [n, n_variables]: value indices of the current states.
        path_values: int32 [n, longest option + 1, n_variables]: states of the last option, the last
            one repeated.
        ended: bool [n]: which episodes are over and need a reset.
        elapsed: int64 [n]: primitive steps since the reset.
        steps: int64 [n]: primitive steps of the last option.
        marked: uint8 [n, n_marks]: the hidden marks that are set.
    """

    mdp: TabularMDP | None = None
    _rewarded: Any = None  # a condition as `_holds` takes it, as are the following two
    _success: Any = None  # the true task is accomplished, whichever reward is paid
    _terminal: Any = None  # the episode ends
    _max_steps = NEVER

    def __init__(
        self,
        world: World,
        mdp: TabularMDP,
        task: AnyTask,
        start: Start,
        n: int,
        skills: Skills | None = None,
        primitives: bool = True,
    ) -> None:
        """Begin no episode yet.

        Args:
            world: The world to play in.
            mdp: Its MDP.
            task: A task made from `mdp`, or in short, as `solve` takes it; or None for no reward
                and no truncation.
            start: Where episodes start; random starts are the world's, without terminal states.
            n: How many there are side by side.
            skills: The skills to choose among, or None for primitive actions only.
            primitives: Whether the world's actions can be chosen too.

        Raises:
            UserError: If the task is unknown or for another world, or if `start` is not valid.
        """
        n_skills = 0 if skills is None else len(skills)
        self._count(world, n, n_skills, mdp.n_actions * primitives, start)
        self.mdp, self._options = mdp, options_of(mdp, skills)
        first = None if start is None or isinstance(start, str) else mdp.number(start)
        final = np.zeros(mdp.n_states, dtype=bool)
        final[[mdp.number(state) for state in world.final_states]] = True
        self._rewarded = self._success = np.zeros(mdp.n_states, dtype=bool)
        if task is not None:
            task, reward = as_task(task, mdp, world)
            if len(task.true) != mdp.n_states:
                raise UserError(
                    f"the task {task.name} is for {len(task.true):,} states, {world.id} has "
                    f"{mdp.n_states:,}: make it with the MDP of this world"
                )
            self._max_steps = task.max_episode_steps
            self._rewarded, self._success = task.reward(reward), task.true
            first = task.start if start is None else first
        self._terminal = self._rewarded | final
        if first is None:
            starts = np.array(list(dict.fromkeys(mdp.number(state) for state in world.states())))
            self._starts = starts[~self._terminal[starts]]
            if not len(self._starts):
                raise _no_start(world)
        else:
            self._starts = np.array([first])
        width = max(self._options.step_limit, 1) + 1
        self._states, self._paths = np.zeros(n, np.int64), np.zeros((n, width), np.int32)
        self.marked, self._uniforms = np.zeros((n, mdp.n_marks), np.uint8), np.empty((n, width))

    def _count(self, world: World, n: int, n_skills: int, n_actions: int, start: Start) -> None:
        """Check where episodes start, and make the arrays of every kind of episodes."""
        if isinstance(start, str) and start != "random":
            raise UserError(f"start must be 'random' or a state's value indices, got {start!r}")
        self.n_skills, self.n_options = n_skills, n_skills + n_actions
        self.steps, self.elapsed = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.ended, self._begun = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        self.values = np.zeros((n, len(world.space)), np.int32)
        self.path_values = self.values[:, None]

    # ------------------------------------------------------------------ play

    def begin(self, i: int, rng: np.random.Generator, state: Sequence[int] | None = None) -> None:
        """Reset episode `i` to a state given as value indices, or to one it may start from."""
        first = self._place(i, rng, state)
        self.values, self.path_values = self.values.copy(), self.path_values.copy()
        self.values[i] = self.path_values[i] = first
        self.elapsed[i], self.steps[i] = 0, 0
        self.ended[i], self._begun[i] = False, True

    def check_begun(self) -> None:
        """Raise `ResetNeeded` if an episode was never reset."""
        if not self._begun.all():
            raise ResetNeeded("no episode has begun: call reset() first")

    def step(
        self, chosen: np.ndarray, active: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Follow one option in every active episode.

        Args:
            chosen: int64 [n]: the option of each episode.
            active: bool [n]: which episodes to advance.
            rngs: Every episode's generator.

        Returns:
            Which active episodes are rewarded, terminated and truncated, bool [n] each.

        Raises:
            UserError: If an active episode's option does not exist.
            ResetNeeded: If an active episode is over.
        """
        wrong = chosen[active & ((chosen < 0) | (chosen >= self.n_options))]
        if len(wrong):
            raise UserError(f"there is no action {wrong[0]}: actions are 0 to {self.n_options - 1}")
        if self.ended[active].any():
            raise ResetNeeded("no episode is under way: call reset() first")
        self._follow(chosen, active, rngs)
        self.elapsed[active] += self.steps[active]
        terminated = self._holds(self._terminal) & active
        truncated = (self.elapsed >= self._max_steps) & active & ~terminated
        self.ended[active] = (terminated | truncated)[active]
        return self._holds(self._rewarded) & active, terminated, truncated

    @property
    def last_paths(self) -> list[list[list[int]]]:
        """The states of each episode's last option; empty lists if there are no skills."""
        if not self.n_skills:
            return [[] for _ in self.steps]
        pairs = zip(self.path_values.tolist(), self.steps.tolist(), strict=True)
        return [path[: steps + 1] for path, steps in pairs]

    @property
    def success(self) -> np.ndarray:
        """bool [n]: whether the true task is accomplished in the current state."""
        return self._holds(self._success)

    # ------------------------------------------------------------------ what a back end does

    def _place(self, i: int, rng: np.random.Generator, state: Sequence[int] | None) -> Any:
        """Set the state of episode `i`, the given one or one that episodes start from; return its
        value indices."""
        assert self.mdp is not None
        starts = self._starts
        if state is not None:
            first = self.mdp.number(state)
        else:
            first = starts[0] if len(starts) == 1 else starts[rng.integers(len(starts))]
        if self.mdp.n_marks:
            reset_marks(self.mdp.marks_in, first, self.marked[i], rng)
        self._states[i] = first
        return self.mdp.values[first]

    def _follow(
        self, chosen: np.ndarray, active: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> None:
        """Follow one option in every active episode; update values, paths and `steps`."""
        assert self.mdp is not None
        for i in np.flatnonzero(active).tolist():
            rngs[i].random(out=self._uniforms[i])
        follow_all(
            self._options, chosen, active, self._max_steps - self.elapsed, self._terminal,
            self._states, self.steps, self._paths, self.marked, self._uniforms,
        )  # fmt: skip
        self.values = self.mdp.values[self._states]
        self.path_values = self.mdp.values[self._paths[:, : self.steps.max(initial=0) + 1]]

    def _holds(self, condition: Any) -> np.ndarray:
        """Return bool [n]: whether a condition holds in the current states."""
        return condition[self._states]


# -------------------- Episodes in a world without a table, stepped by JAX


class JaxEpisodes(Episodes):
    """Episodes of skills in a world in JAX.

    Conditions are functions of a state as {variable: value}, or None if they never hold.
    """

    def __init__(
        self, skills: Skills, task: AnyTask, start: Start, n: int, primitives: bool
    ) -> None:
        """Begin no episode yet; see `Episodes` for the arguments.

        Raises:
            UserError: If the task is unknown or rests on a table, or if `start` is not valid.
        """
        world = skills.world
        self._count(world, n, len(skills), len(world.actions) * primitives, start)
        self.marked, self._start = np.zeros((n, 0), np.uint8), None
        self._skills, moves = skills, Moves(len(world.actions))
        self._policy = CombinedPolicy(
            [(skills.policies, z) for z in range(len(skills))]
            + [(moves, action) for action in range(len(world.actions))]
        )
        if start is not None and not isinstance(start, str):
            self._start = world.space.as_state(start)
        if isinstance(task, Task):
            raise UserError(
                f"{task.name} is a task of numbered states, and those of {world.id} have no "
                f"numbers: pass a function of {{variable: value}}"
            )
        if own := named_task(task, world):
            self._max_steps = own.max_episode_steps
            self._success, proxy = own.conditions(world)
            self._rewarded = proxy if task == "proxy" else self._success
            self._start = own.start(world) if start is None else self._start
        elif task is not None:
            self._rewarded = self._success = as_condition(task, world.space, world)
        self._terminal = self._rewarded
        assert isinstance(skills.engine, JaxEngine)
        self._engine = skills.engine
        self._states = self._engine.place(self.values, np.zeros((n, 2), np.uint32))

    def _place(self, i: int, rng: np.random.Generator, state: Sequence[int] | None) -> Any:
        first = self._start if state is None else tuple(state)
        if first is None:
            drawn = (self._skills.draw_starts(1, rng) for _ in range(MAX_DRAWS))
            usable = (each for each in drawn if not self._holds(self._terminal, each)[0])
            first = next((tuple(each[0].tolist()) for each in usable), None)
        if first is None:
            raise _no_start(self._skills.world)
        first, n = self._skills.world.space.as_state(first), len(self.values)
        keys = np.repeat(draw_keys(1, rng), n, axis=0)
        placed = self._engine.place(np.tile(np.array(first, np.int32), (n, 1)), keys)
        self._states = self._engine.replace(self._states, placed, np.arange(n) == i)
        return first

    def _follow(
        self, chosen: np.ndarray, active: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> None:
        options = np.where(active, chosen, 0)
        keys, modes = np.zeros((len(chosen), 2), np.uint32), np.zeros(len(chosen), object)
        for i in np.flatnonzero(active).tolist():
            keys[i] = draw_keys(1, rngs[i])[0]
            modes[i] = self._policy.draw_modes(options[i : i + 1], rngs[i])[0]
        limits = np.where(options < self.n_skills, self._skills.step_limit, 1)
        limits = np.minimum(limits, self._max_steps - self.elapsed) * active
        done = self._engine.follow(
            self._policy, options, modes, self._states, limits, keys,
            lambda values: self._holds(self._terminal, values),
        )  # fmt: skip
        self._states, self.values = done.states, done.ends
        self.steps[active] = np.maximum(done.steps, 1)[active]
        longest = int(self.steps.max(initial=0)) + 1
        missing = ((0, 0), (0, max(0, longest - done.values.shape[1])), (0, 0))
        self.path_values = np.pad(done.values, missing, mode="edge")

    def _holds(self, condition: Condition | None, values: np.ndarray | None = None) -> np.ndarray:
        values = self.values if values is None else values
        if condition is None:
            return np.zeros(len(values), dtype=bool)
        labels = self._skills.world.space.labels
        return np.array([bool(condition(labels(state))) for state in values.tolist()], dtype=bool)


class Moves(Policy):
    """A world's actions as skills that repeat one action each."""

    def __init__(self, n_actions: int) -> None:
        self.context_variables = ((),) * n_actions

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Return the same action everywhere."""
        del starts, mode
        return np.full(len(states), skill)


def _no_start(world: World) -> UserError:
    return UserError(
        f"every state that {world.id} starts from ends the episode at once: pass start=…"
    )


# -------------------- Options in a table, compiled


@njit(cache=True, nogil=True)
def follow_all(options, chosen, active, left, over, states, steps, paths, marks, uniforms):
    """Follow one option in every active episode.

    Args:
        options: `Options`.
        chosen: int64 [n]: the option of each episode.
        active: bool [n]: which episodes to advance.
        left: int64 [n]: primitive steps before each episode is truncated, at least 1.
        over: bool [n_states]: states that end an episode.
        states: int64 [n]: current states; updated.
        steps: int64 [n]: receives the primitive steps of the option.
        paths: int32 [n, longest option + 1]: receives its states, the last one repeated.
        marks: uint8 [n, n_marks]: the hidden marks that are set; updated.
        uniforms: float64 [n, longest option + 1]: the option's random numbers.
    """
    mdp, policy, step_limit = options
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
