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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from skillfocus.compilation import njit
from skillfocus.errors import UserError, unknown
from skillfocus.mdp import TabularMDP
from skillfocus.rollout import apply_action, draw, draw_context, follow, reset_marks
from skillfocus.skills.skills import Skills
from skillfocus.spaces import FactoredSpace
from skillfocus.tasks.solving import options_of
from skillfocus.tasks.task import ShortTask, Task, as_task
from skillfocus.world import World

if TYPE_CHECKING:
    from skillfocus.envs.jax_episodes import JaxEpisodes

# --------------------
#
# Goals: where an environment's episodes start, what is rewarded, and when they end

NEVER = 2**62
"""`max_episode_steps` of episodes that are never truncated."""
Start = str | Sequence[int] | None
"""A state as value indices, "random", or None for the task's start (random without a task)."""


class Goal(NamedTuple):
    """A task, or none, as an environment plays it."""

    starts: np.ndarray
    """int [n_starts]: numbered states, one of which is drawn uniformly at reset."""
    max_episode_steps: int
    """Primitive steps after which an episode is truncated."""
    rewarded: np.ndarray
    """bool [n_states]: whether entering the state earns reward 1."""
    success: np.ndarray
    """bool [n_states]: whether the true task is accomplished, whichever reward is paid."""
    terminal: np.ndarray
    """bool [n_states]: whether the state terminates the episode."""


def make_goal(world: World, mdp: TabularMDP, task: ShortTask | None, start: Start) -> Goal:
    """Return the goal of a task.

    Args:
        world: The world to play in.
        mdp: Its MDP.
        task: A task made from `mdp`; or the world's own task, by its name (such as "treasure") or
            by the reward to pay, "true" or "proxy"; or a condition, as `solve` takes it; or None
            for no reward and no truncation.
        start: Where episodes start, see `Start`.

    Raises:
        UserError: If the task is unknown or for another world, or if `start` is not valid.
    """
    final = np.zeros(mdp.n_states, dtype=bool)
    final[[mdp.number(state) for state in world.final_states]] = True
    if task is None:
        nowhere = np.zeros(mdp.n_states, dtype=bool)
        return Goal(_starts(world, mdp, None, start, final), NEVER, nowhere, nowhere, final)
    task, reward = as_task(task, mdp, world)
    if len(task.true) != mdp.n_states:
        raise UserError(
            f"the task {task.name} is for {len(task.true):,} states, {world.id} has "
            f"{mdp.n_states:,}: make it with the MDP of this world"
        )
    rewarded = task.reward(reward)
    terminal = rewarded | final
    starts = _starts(world, mdp, task, start, terminal)
    return Goal(starts, task.max_episode_steps, rewarded, task.true, terminal)


def _starts(
    world: World, mdp: TabularMDP, task: Task | None, start: Start, terminal: np.ndarray
) -> np.ndarray:
    """Return `Goal.starts`; random starts are the world's, without terminal states."""
    if isinstance(start, str) and start != "random":
        raise UserError(f"start must be 'random' or a state's value indices, got {start!r}")
    if start is not None and not isinstance(start, str):
        return np.array([mdp.number(start)])
    if start is None and task is not None:
        return np.array([task.start])
    numbers = np.array(list(dict.fromkeys(mdp.number(state) for state in world.states())))
    starts = numbers[~terminal[numbers]]
    if not len(starts):
        raise UserError(
            f"every state that {world.id} starts from ends the episode at once: pass start=…"
        )
    return starts


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


# -------------------- Observations: a state's value indices, as one array or by variable name

KINDS = ("multi-discrete", "dict")
"""One array in the order of the variables, or a dictionary with one number per variable."""


class ObservationEncoder:
    """Encodes value indices as observations of one kind.

    Attributes:
        space: The space of one observation.
    """

    def __init__(self, space: FactoredSpace, kind: str) -> None:
        if kind not in KINDS:
            raise unknown("kind of observation", kind, KINDS)
        self._names = space.names if kind == "dict" else None
        sizes = space.sizes
        if self._names is None:
            self.space: spaces.Space[Any] = spaces.MultiDiscrete(np.array(sizes))
        else:
            each = zip(self._names, map(spaces.Discrete, sizes), strict=True)
            self.space = spaces.Dict(list(each))

    def encode(self, values: np.ndarray) -> Any:
        """Return the observation of one state, or a batch of observations of several.

        Args:
            values: Value indices, int [n_variables] or [n, n_variables].
        """
        values = values.astype(np.int64)
        if self._names is None:
            return values
        return {name: values[..., j].copy()[()] for j, name in enumerate(self._names)}


# -------------------- Episodes of skills, in worlds with a table and without one

AnyTask = ShortTask | None
"""A task, the reward or the name of the world's own, a condition, or no task."""


def episodes_of(
    skills: Skills, task: AnyTask, start: Start, n: int, primitives: bool
) -> Episodes | JaxEpisodes:
    """Return `n` episodes whose actions are skills.

    Args:
        skills: The skills.
        task: The task; see `SkillEnv`.
        start: Where episodes start.
        n: How many there are side by side.
        primitives: Whether the world's actions can be chosen too.

    Raises:
        UserError: If task or start do not fit the world.
    """
    if not skills.has_table:
        from skillfocus.envs.jax_episodes import JaxEpisodes, make_condition_goal  # needs JAX

        goal = make_condition_goal(skills.world, task, start)
        return JaxEpisodes(skills, goal, n, primitives)
    return Episodes(
        skills.mdp, make_goal(skills.world, skills.mdp, task, start), n, skills, primitives
    )
