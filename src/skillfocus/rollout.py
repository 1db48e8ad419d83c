"""Rollouts, and the kernel that steps skills in a table.

`Rollouts` are what `Skills.run` returns in every world. In a table, every compiled loop that
follows a skill (`Skills.run`, sampled metrics, SMDP Q-learning, the environments) calls `follow`;
worlds without one are stepped in `skills/engine.py`. A kernel takes its random numbers either from
a `numpy.random.Generator`, drawing as it goes, or from an array of uniform numbers drawn
beforehand; `draw` hides the difference.

Policies are one flat array of bytes: in state s and context c, skill z takes
`actions[offsets[z] + s * widths[z] + c]`, and the number after the last action means "terminate".
Policies too large for that are *packed*: `actions` holds the numbers of blocks of 64 contexts each,
and equal blocks are stored once (see `look_up`).
A context is a number looked up from the state in which the skill starts; a skill with several
modes draws one when it starts, and the mode becomes part of the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numba import extending, types

from skillfocus.compilation import njit
from skillfocus.errors import join_names
from skillfocus.mdp import TabularMDP
from skillfocus.spaces import State
from skillfocus.world import World, WorldState, can_pickle


class Rollouts(NamedTuple):
    """What skills did from their starts, in any world.

    Attributes:
        values: Values of the variables, [n, longest rollout + 1, width], the last ones repeated:
            int32 value indices, or float32 if a variable is real-valued.
        actions: int32 [n, longest rollout], the number of actions after a rollout's end; or float32
            [n, longest rollout, n_dimensions].
        steps: int32 [n]: steps taken.
        skills: int64 [n]: the skills.
        modes: What each skill drew when it started, [n, ...].
        numbers: int32 [n, longest rollout + 1]: numbers of the states, in a table.
        observations: What policies saw, if that is more than the values, float32 [n, longest
            rollout + 1, observation_size].
        states: The last states as the world has them, from which rollouts may go on.
    """

    values: np.ndarray
    actions: np.ndarray
    steps: np.ndarray
    skills: np.ndarray
    modes: np.ndarray
    numbers: np.ndarray | None = None
    observations: np.ndarray | None = None
    states: Any = None

    @property
    def starts(self) -> np.ndarray:
        """The first values, [n, width]."""
        return self.values[:, 0]

    @property
    def ends(self) -> np.ndarray:
        """The last values, [n, width]."""
        return self.values[:, -1]


class MDPArrays(NamedTuple):
    """The arrays of a `TabularMDP` that rollouts need."""

    successors: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: next states."""
    cumulative: np.ndarray
    """float64 [n_states, n_actions, n_outcomes]: running sums of the outcome probabilities."""
    marks: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the hidden mark an outcome sets, or -1."""
    again: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the next state if that mark is already set."""
    marks_in: np.ndarray
    """int32 [n_states]: how many hidden marks are set in a state."""


PACKED_COLUMNS = 64
"""Columns (contexts times modes) in a block of a packed policy."""


class PolicyArrays(NamedTuple):
    """The policies of a set of skills, plain or packed."""

    actions: np.ndarray
    """uint8, flat: skill z takes `actions[offsets[z] + s * widths[z] + context]` in state s;
    n_actions means "terminate". uint32 where policies are packed: numbers of blocks."""
    offsets: np.ndarray
    """int64 [n_skills + 1]: where each skill's part begins, and where the last one ends."""
    widths: np.ndarray
    """int64 [n_skills]: columns of each policy, contexts times modes; or blocks of columns."""
    contexts: np.ndarray
    """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
    n_modes: np.ndarray
    """int64 [n_skills]: how many modes a skill draws from when it starts."""
    blocks: np.ndarray | None = None
    """uint8 [n_blocks, PACKED_COLUMNS]: actions of packed policies; None for plain ones."""


class Options(NamedTuple):
    """What an agent chooses among: option i is skill i, or primitive action i - n_skills."""

    mdp: MDPArrays
    policy: PolicyArrays
    step_limit: int
    """The most steps a skill may take."""


def mdp_arrays(mdp: TabularMDP) -> MDPArrays:
    """Return the arrays of `mdp` that rollouts need."""
    return MDPArrays(mdp.successors, mdp.cumulative, mdp.marks, mdp.again, mdp.marks_in)


def no_skills() -> PolicyArrays:
    """Return the policies of an empty set of skills, for agents with primitive actions only."""
    return PolicyArrays(
        actions=np.zeros(0, np.uint8),
        offsets=np.zeros(1, np.int64),
        widths=np.zeros(0, np.int64),
        contexts=np.zeros((0, 0), np.int32),
        n_modes=np.zeros(0, np.int64),
    )


def draw(random, t):
    """Return the uniform number in [0, 1) for draw `t` of a rollout.

    Args:
        random: A generator, which is advanced, or a float64 array, which is indexed with `t`.
        t: 0 for the mode of a skill, t + 1 for its step t. Generators ignore it.
    """
    return random.random() if isinstance(random, np.random.Generator) else random[t]


@extending.overload(draw)
def _draw(random, t):  # noqa: ARG001
    if isinstance(random, types.NumPyRandomGeneratorType):
        return lambda random, t: random.random()  # noqa: ARG005
    return lambda random, t: random[t]


@njit(cache=True, nogil=True)
def look_up(actions, blocks, begin, column):
    """Return the action of a policy in a column, a context and mode, of one state.

    Args:
        actions: `PolicyArrays.actions`.
        blocks: `PolicyArrays.blocks`.
        begin: Where the state's part of `actions` begins.
        column: The context, with the mode in it (see `draw_context`).
    """
    if blocks is None:
        return actions[begin + column]
    return blocks[actions[begin + column // PACKED_COLUMNS], column % PACKED_COLUMNS]


@njit(cache=True, nogil=True)
def reset_marks(marks_in, s, marked, rng):
    """Set as many hidden marks as state `s` implies, chosen uniformly.

    Args:
        marks_in: int32 [n_states], see `MDPArrays`.
        s: The state in which the rollout starts.
        marked: uint8 [n_marks], overwritten: 1 where a mark is set.
        rng: Generator.
    """
    marked[:] = 0
    missing = marks_in[s]
    while missing > 0:
        k = int(rng.random() * marked.shape[0])
        if marked[k] == 0:
            marked[k] = 1
            missing -= 1


@njit(cache=True, nogil=True)
def apply_action(mdp, s, a, marked, u):
    """Take action `a` in state `s` with the uniform number `u`.

    Returns:
        The next state and the index of the outcome. A mark that the outcome sets is set in
        `marked`.
    """
    successors, cumulative, marks, again, _ = mdp
    m = 0
    while u >= cumulative[s, a, m]:
        m += 1
    following = successors[s, a, m]
    mark = marks[s, a, m]
    if mark >= 0:
        if marked[mark]:
            following = again[s, a, m]
        marked[mark] = 1
    return following, m


@njit(cache=True, nogil=True)
def step(mdp, s, a, marked, rng):
    """Take action `a` in state `s`: draw an outcome, return (next state, outcome index)."""
    return apply_action(mdp, s, a, marked, rng.random())


@njit(cache=True, nogil=True)
def draw_context(policy, skill, s, random):
    """Return the context of `skill` for a rollout that starts in `s`, drawing its mode.

    A skill with one mode draws nothing from a generator.
    """
    _, _, _, contexts, modes, _ = policy
    n_modes = modes[skill]
    context = contexts[skill, s] * n_modes
    if n_modes > 1:
        context += int(draw(random, 0) * n_modes)
    return context


@njit(cache=True, nogil=True)
def follow(mdp, policy, skill, state, context, limit, over, marked, random, path, actions):
    """Follow one skill until it terminates, enters a state in `over`, or has taken `limit` steps.

    Args:
        mdp: `MDPArrays`.
        policy: `PolicyArrays`.
        skill: The skill's number.
        state: The state to start in.
        context: The skill's context, see `draw_context`.
        limit: The most steps to take.
        over: bool [n_states], states that end the rollout when entered; None for none.
        marked: uint8 [n_marks], the hidden marks that are set; updated.
        random: Source of random numbers, see `draw`; step t uses draw t + 1.
        path: int [limit + 1] or longer; receives the states.
        actions: int [limit] or longer; receives the actions. None if they are not needed.

    Returns:
        The number of steps k: `path[k]` is the last state.
    """
    # Named tuples are unpacked because Numba counts references to all arrays of a tuple in use.
    terminate = mdp.successors.shape[1]
    table, offsets, widths, _, _, blocks = policy
    offset, width = offsets[skill], widths[skill]
    path[0] = state
    t = 0
    while t < limit:
        action = look_up(table, blocks, offset + state * width, context)
        if action == terminate:
            break
        state, _ = apply_action(mdp, state, action, marked, draw(random, t + 1))
        if actions is not None:
            actions[t] = action
        t += 1
        path[t] = state
        if over is not None and over[state]:
            break
    return t


@njit(cache=True, nogil=True)
def run_many(mdp, policy, skills, starts, limit, n_marks, rng, actions):
    """Run `skills[i]` from `starts[i]`, each with freshly drawn hidden marks.

    Args:
        mdp: `MDPArrays`.
        policy: `PolicyArrays`.
        skills: int64 [n_runs].
        starts: int64 [n_runs].
        limit: The most steps of a run.
        n_marks: The number of hidden marks of the world.
        rng: Generator.
        actions: int32 [n_runs, limit]; receives the actions. None if they are not needed.

    Returns:
        paths: int32 [n_runs, limit + 1], the last state repeated to the end.
        steps: int32 [n_runs].
    """
    n = skills.shape[0]
    paths = np.empty((n, limit + 1), np.int32)
    steps = np.empty(n, np.int32)
    marked = np.zeros(n_marks, np.uint8)
    for i in range(n):
        reset_marks(mdp.marks_in, starts[i], marked, rng)
        context = draw_context(policy, skills[i], starts[i], rng)
        k = follow(
            mdp, policy, skills[i], starts[i], context, limit, None, marked, rng, paths[i],
            None if actions is None else actions[i],
        )  # fmt: skip
        steps[i] = k
        paths[i, k + 1 :] = paths[i, k]
    return paths, steps


def likeliest_successors(mdp: TabularMDP) -> np.ndarray:
    """Return int32 [n_states, n_actions]: the next state of each action's likeliest outcome.

    Ties go to the outcome listed first; hidden marks count as not set.
    """
    likeliest = mdp.probabilities.argmax(axis=2)[:, :, None]
    return np.take_along_axis(mdp.successors, likeliest, axis=2)[:, :, 0]


def most_likely_path(
    mdp: TabularMDP, policy: PolicyArrays, skill: int, start: int, mode: int, limit: int
) -> np.ndarray:
    """Return the states of a skill if every action has its likeliest outcome.

    Args:
        mdp: The world's MDP.
        policy: The policies of the skills.
        skill: The skill's number.
        start: The number of the state to start in.
        mode: The mode to follow, 0 to `policy.n_modes[skill]` - 1.
        limit: The most steps to take.

    Returns:
        int32 [n_steps + 1]: numbered states, `start` first.
    """
    successors = likeliest_successors(mdp)[:, :, None]
    deterministic = MDPArrays(
        successors, np.ones(successors.shape), np.full_like(successors, -1), successors,
        np.zeros_like(mdp.marks_in),
    )  # fmt: skip
    context = int(policy.contexts[skill, start]) * int(policy.n_modes[skill]) + mode
    path = np.empty(limit + 1, np.int32)
    unused = np.zeros(limit + 1)  # any number in [0, 1) draws an action's only outcome
    steps = follow(
        deterministic, policy, skill, start, context, limit, None, np.zeros(0, np.uint8), unused,
        path, None,
    )  # fmt: skip
    return path[: steps + 1]


# -------------------- Trajectories: the states that one run visited, in order


class Trajectory(list[State]):
    """The states that a run visited; equal to the plain list, and draws itself in a notebook.

    `skills.rollout` returns one::

        run = skills.rollout(0, world.showcase, rng)
        run.changed, run.side_effects  # ("tool_1",), ()

    Attributes:
        world: The world of the states.
        skill: The skill that was followed, or `None`.
        targets: The variables that the skill is for; empty without a target.
    """

    def __init__(
        self,
        states: Iterable[State],
        world: World,
        skill: int | None = None,
        targets: Sequence[str] = (),
    ) -> None:
        super().__init__(
            WorldState(state, world) if world.space.is_finite else state for state in states
        )
        self.world, self.skill, self.targets = world, skill, tuple(targets)

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables whose last value differs from the first."""
        if not self:
            return ()
        space = self.world.space
        changed = space.changed(
            np.array(list.__getitem__(self, 0)), np.array(list.__getitem__(self, -1))
        )
        return tuple(
            name for name, is_changed in zip(space.names, changed, strict=True) if is_changed
        )

    @property
    def side_effects(self) -> tuple[str, ...]:
        """The changed variables that are not targets; none for a skill without targets."""
        return tuple(name for name in self.changed if self.targets and name not in self.targets)

    @property
    def verdict(self) -> str:
        """What the run did, in a sentence that begins with a sign.

        `✓ Focused: it changed tool_1, and everything else is as it was.` The page says the same
        (viewer/assets/words.js).
        """
        changed = join_names(self.changed)
        if not self.targets:
            tail = "" if self.skill is None else " This skill has no target."
            return f"• Changed {changed or 'nothing'}.{tail}"
        targets = join_names(self.targets)
        if not changed:
            are = "are as they were" if len(self.targets) > 1 else "is as it was"
            return f"○ It changed nothing: {targets} {are}."
        unchanged = join_names([name for name in self.targets if name not in self.changed])
        if unchanged:
            return f"✗ It did not change {unchanged}, but {changed}."
        if self.side_effects:
            return f"✗ It changed {targets}, and as side effects {join_names(self.side_effects)}."
        return f"✓ Focused: it changed {targets}, and everything else is as it was."

    @property
    def name(self) -> str:
        """`skill 3`, or `trajectory` if no skill was followed."""
        return "trajectory" if self.skill is None else f"skill {self.skill}"

    @property
    def caption(self) -> str:
        """`skill 3 for tool_1`."""
        return f"{self.name} for {' + '.join(self.targets)}" if self.targets else self.name

    @overload
    def __getitem__(self, place: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Trajectory: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        if isinstance(place, slice):
            return Trajectory(super().__getitem__(place), self.world, self.skill, self.targets)
        return super().__getitem__(place)

    def __reduce__(self) -> tuple[object, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        states = [tuple(state) for state in self]
        if not can_pickle(self.world):
            return list, (states,)
        return Trajectory, (states, self.world, self.skill, self.targets)

    def _repr_html_(self) -> str:
        return import_module("skillfocus.render.svg").trajectory_html(self)
