"""Finite worlds as arrays: the `TabularMDP` that every kernel runs on (see `tabulate`).

States are numbered in the order in which a breadth-first search reaches them. Axes are always
`[n_states, n_actions, n_outcomes]`, where `n_outcomes` is the largest number of outcomes of any
action; shorter rows are padded with outcomes of probability 0 that lead back to the state itself.
"""

from __future__ import annotations

import hashlib
import operator
import reprlib
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from skillfocus.errors import UserError
from skillfocus.machine import require_memory
from skillfocus.progress import Progress, no_progress
from skillfocus.spaces import Space, State
from skillfocus.world import MAX_ACTIONS, World, check_declared

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)
Successor = tuple[float, Key, int, Key | None]
"""One outcome of an action, as `expand` returns it: probability, next state, hidden mark (-1: none)
and next state if that mark is already set (`None`: the same). An `Outcome` is one."""


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """The dynamics of a world as integer arrays. There is no reward: objectives and tasks give it.

    `tabulate` makes one. A state is a number here; `number` and `state` convert from and to the
    tuples of value indices that worlds use::

        mdp = sf.tabulate(world)
        mdp.successors[mdp.number((0, 1)), action]  # where the action may lead
    """

    space: Space
    """The variables."""
    values: np.ndarray
    """int32 [n_states, n_variables]: index of each variable's value in each state."""
    successors: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the next state."""
    probabilities: np.ndarray
    """float64 [n_states, n_actions, n_outcomes]: sums to 1 over outcomes; 0 marks padding."""
    marks: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the hidden mark that an outcome sets, or -1."""
    again: np.ndarray
    """int32 [n_states, n_actions, n_outcomes]: the next state if that mark is already set; equals
    `successors` where there is no mark (see `Outcome`)."""
    marks_in: np.ndarray
    """int32 [n_states]: how many hidden marks are set in a state; which ones is unknown."""
    n_marks: int
    """How many hidden marks there are."""
    actions: tuple[str, ...]
    """Names of the actions."""

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.successors.shape[0]

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.successors.shape[1]

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Cumulative probabilities to sample outcomes from.

        float64 [n_states, n_actions, n_outcomes]; exactly 1 from the last possible outcome on, so
        that a uniform number below 1 always finds one in spite of rounding.
        """
        sums = np.cumsum(self.probabilities, axis=2)
        return np.where(sums > 1 - 1e-9, 1.0, sums)

    @cached_property
    def _numbers(self) -> dict[State, int]:
        return {tuple(row): s for s, row in enumerate(self.values.tolist())}

    def number(self, state: Sequence[int] | Mapping[str, Hashable]) -> int:
        """Return the number of a state given as value indices, or as {variable: value}.

        Raises:
            UserError: If there is no such state.
        """
        try:
            return self._numbers[tuple(state)]  # pyright: ignore[reportArgumentType]
        except (KeyError, TypeError):  # no such state, or given in another form
            pass
        values = self.space.as_state(state)
        if values not in self._numbers:
            raise UserError(
                f"no state has the value indices {values}: the world never is in "
                f"{self.space.labels(values)}"
            )
        return self._numbers[values]

    def state(self, number: int) -> State:
        """Return the value indices of a state given by its number."""
        if not 0 <= number < self.n_states:
            raise UserError(
                f"there is no state {number}: states are numbered 0 to {self.n_states - 1}"
            )
        return tuple(self.values[number].tolist())

    @cached_property
    def value_changes(self) -> list[np.ndarray]:
        """Per variable, bool [n_values, n_values]: whether one step can turn a value (row) into
        another (column)."""
        source, action, slot = np.nonzero(self.probabilities > 0)
        target = self.successors[source, action, slot]
        marked = self.marks[source, action, slot] >= 0
        repeated = self.again[source, action, slot][marked]
        source, target = np.append(source, source[marked]), np.append(target, repeated)
        changes = []
        for j, size in enumerate(self.space.sizes):
            change = np.zeros((size, size), dtype=bool)
            change[self.values[source, j], self.values[target, j]] = True
            np.fill_diagonal(change, False)
            changes.append(change)
        return changes

    @cached_property
    def _components(self) -> list[np.ndarray]:
        """Per variable, int [n_values]: values that lead to each other have equal numbers."""
        from scipy.sparse import coo_array  # late, as importing SciPy takes long
        from scipy.sparse.csgraph import connected_components

        return [
            connected_components(coo_array(change), connection="strong")[1]
            for change in self.value_changes
        ]

    @cached_property
    def reversible(self) -> np.ndarray:
        """Which variables can return to a value they have left, bool [n_variables].

        The others only ever move on, so whatever a skill changes in them is changed for good.
        """
        return np.array([len(np.unique(each)) < len(each) for each in self._components])

    @cached_property
    def one_way(self) -> tuple[str, ...]:
        """Names of the variables that never return to a value they have left."""
        return tuple(n for j, n in enumerate(self.space.names) if not self.reversible[j])

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """Names of the variables that no action changes."""
        return tuple(n for j, n in enumerate(self.space.names) if not self.value_changes[j].any())

    @cached_property
    def irrecoverable_values(self) -> dict[str, tuple[Hashable, ...]]:
        """Per variable, the values that can be left but never regained.

        An unlocked door that is never locked again has "locked" here. Variables without such values
        are absent.
        """
        irrecoverable = {}
        parts = zip(self.space.variables, self.value_changes, self._components, strict=True)
        for variable, change, component in parts:
            alone = np.bincount(component)[component] == 1
            indices = np.flatnonzero(alone & change.any(axis=1))
            irrecoverable[variable.name] = tuple(variable.values[i] for i in indices)
        return {name: values for name, values in irrecoverable.items() if values}

    @cached_property
    def can_change(self) -> np.ndarray:
        """Whether a variable has a value that can still change, bool [n_states, n_variables]."""
        leaves = [np.asarray(change.any(axis=1)) for change in self.value_changes]
        return np.stack([leaves[j][column] for j, column in enumerate(self.values.T)], axis=1)

    @cached_property
    def absorbing(self) -> np.ndarray:
        """Which states no action leaves, bool [n_states]: final ones, for example."""
        here = np.arange(self.n_states)[:, None, None]
        stays = (self.successors == here) & (self.again == here)
        return (stays | (self.probabilities == 0.0)).all(axis=(1, 2))

    @cached_property
    def pristine(self) -> np.ndarray:
        """Whether a variable has a value that no change leads to, bool [n_states, n_variables].

        For a reversible variable, where every value may be reached, it is the first one.
        """
        first = [
            np.arange(len(change)) == 0 if reversible else np.asarray(~change.any(axis=0))
            for change, reversible in zip(self.value_changes, self.reversible, strict=True)
        ]
        return np.stack([first[j][column] for j, column in enumerate(self.values.T)], axis=1)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the variables and the dynamics: equal for equal worlds."""
        digest = hashlib.sha256()
        for variable in self.space.variables:
            digest.update(f"{variable.name}|{variable.values}|{variable.largest_distance}".encode())
        digest.update(f"{self.n_marks}|{self.actions}".encode())
        for each in (
            self.values, self.successors, self.probabilities, self.marks, self.again, self.marks_in,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(each).tobytes())
        return digest.hexdigest()


def once_per_mdp(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorate a function of an MDP and hashable arguments: it computes every result once."""
    known: WeakKeyDictionary[TabularMDP, dict[tuple, Result]] = WeakKeyDictionary()

    @wraps(function)
    def look_up(mdp: TabularMDP, *arguments: Hashable) -> Result:
        results = known.setdefault(mdp, {})
        if arguments not in results:
            results[arguments] = function(mdp, *arguments)
        return results[arguments]

    return look_up


# --------------------
#
# `tabulate`: from a world to its `TabularMDP`, with every state and outcome checked

ROUNDING = 1e-6
"""How far the probabilities of an action may be from summing to 1, as those in float32 are."""
_LIMIT_ADVICE = (
    "use fewer variables or values, or raise the world's limit, or tabulate(world, limit=…)"
)


def tabulate(world: World, limit: int | None = None) -> TabularMDP:
    """Enumerate the reachable states of a world and return its dynamics as arrays.

    Args:
        world: The world. One that was explored when it was made is not explored again.
        limit: The most states to accept (default: `world.limit`).

    Raises:
        UserError: If there are too many states or actions, or if the world breaks its contract:
            a state out of range, probabilities that do not sum to 1, a mark beyond `n_marks`.
    """
    check_declared(world)
    if world.mdp is not None:
        return world.mdp
    if not world.has_table:
        raise world.no_table()
    limit = world.limit if limit is None else limit
    if not 1 <= len(world.actions) <= MAX_ACTIONS:
        raise UserError(
            f"{world.id} has {len(world.actions)} actions; it needs between 1 and {MAX_ACTIONS}"
        )
    graph = world.state_graph or enumerate_states(
        world.id, _starts(world), lambda state: _expand(world, state),
        limit=limit, limit_advice=_LIMIT_ADVICE,
    )  # fmt: skip
    if len(graph.states) > limit:
        raise UserError(f"{world.id} has more than {limit:,} states: {_LIMIT_ADVICE}")
    _check_outcomes(world, graph)
    if world.state_graph is None:
        _check_repeatable(world, graph.states[:N_REPEATED])
    successors, probabilities, marks, again = graph.transitions.padded()
    sums = probabilities.sum(axis=2, keepdims=True)
    if (np.abs(sums - 1) > 1e-9).any():
        probabilities /= sums
    mdp = TabularMDP(
        space=world.space,
        values=np.array(graph.states, dtype=np.int32).reshape(len(graph.states), len(world.space)),
        successors=successors,
        probabilities=probabilities,
        marks=marks,
        again=again,
        marks_in=np.array([world.marks_in(state) for state in graph.states], dtype=np.int32),
        n_marks=world.n_marks,
        actions=tuple(world.actions),
    )
    _check_marks(world, mdp)
    return mdp


N_REPEATED = 16
"""States whose outcomes are asked for twice."""


def _check_repeatable(world: World, states: Sequence[State]) -> None:
    """Raise a `UserError` if a world draws outcomes instead of listing them."""
    for state in states:
        for action, (one, other) in enumerate(
            zip(_expand(world, state), _expand(world, state), strict=True)
        ):
            if list(one) != list(other):
                raise UserError(
                    f"{world.id}: transition returns other outcomes when it is asked again, for "
                    f"{world.actions[action]!r} in state {world.space.labels(state)}: return every "
                    f"outcome with its probability, and draw nothing"
                )


def _starts(world: World) -> Iterator[State]:
    """Yield the states that a world starts from as tuples."""
    starts = world.states()
    if not isinstance(starts, Iterable):
        raise UserError(f"{world.id}: states() must return a list of states, got {starts!r}")
    for state in starts:
        if not isinstance(state, Iterable):
            raise UserError(
                f"{world.id}: states() must return a list of states, such as [(0, 0)], and "
                f"{state!r} is none"
            )
        yield tuple(state)


def _expand(world: World, state: State) -> Iterator[Sequence[Successor[State]]]:
    """Yield the outcomes of each action in a state, which is checked."""
    try:
        world.space.as_state(state)
    except UserError as error:
        raise UserError(f"{world.id}: {error}") from None
    for action in range(len(world.actions)):
        try:
            outcomes = world.transition(state, action)
        except UserError:
            raise
        except Exception as error:
            raise UserError(
                f"{world.id}: transition fails for {world.actions[action]!r} in state "
                f"{world.space.labels(state)}: {type(error).__name__}: {error}"
            ) from error
        try:
            listed = [  # a world may return states as lists; to add 0 fails for text
                (
                    o.probability + 0.0, tuple(o.state), operator.index(o.mark),
                    None if o.again is None else tuple(o.again),
                )
                for o in outcomes
            ]  # fmt: skip
        except (TypeError, AttributeError):
            raise UserError(
                f"{world.id}: transition must return a list such as [sf.Outcome(1.0, state)], and "
                f"for {world.actions[action]!r} in state {world.space.labels(state)} it returns "
                f"{reprlib.repr(outcomes)}"
            ) from None
        yield listed


def _check_outcomes(world: World, graph: StateGraph[State]) -> None:
    """Check the probabilities and marks of all outcomes."""
    transitions = graph.transitions
    for number in transitions.wrong_sums(ROUNDING).tolist():
        state, action = divmod(number, len(world.actions))
        probabilities = [outcome.probability for outcome in transitions[state][action]]
        raise UserError(
            f"{world.id}: the outcomes of {world.actions[action]!r} in state "
            f"{world.space.labels(graph.states[state])} have probabilities {probabilities}, which "
            f"must be 0 or more and sum to 1"
        )
    if (highest_mark := transitions.marks.max()) >= world.n_marks:
        raise UserError(f"{world.id} sets mark {highest_mark} but has n_marks = {world.n_marks}")


def _check_marks(world: World, mdp: TabularMDP) -> None:
    """Check the counts of marks, and that a repeated marked outcome changes nothing for good."""
    if (mdp.marks_in > mdp.n_marks).any() or (mdp.marks_in < 0).any():
        raise UserError(f"{world.id}: marks_in must be between 0 and n_marks = {mdp.n_marks}")
    source, action, slot = np.nonzero(mdp.marks >= 0)
    before, after = mdp.values[source], mdp.values[mdp.again[source, action, slot]]
    irreversible = (before != after) & ~mdp.reversible
    if irreversible.any():
        name = mdp.space.names[int(irreversible.any(axis=0).argmax())]
        raise UserError(
            f"{world.id}: an outcome whose mark is already set changes {name} for good; only the "
            f"first occurrence may do that"
        )


# -------------------- Inaction: what a world does by itself while an agent does nothing
#
# The no-op is the action with one of the names `NOOPS`. A world without such an action is taken to
# stand still when nobody acts, as the paper's three do. Hidden marks count as not set.

NOOPS = ("stay", "noop", "no-op", "wait", "nothing")
"""Names of an action that does nothing."""


def noop_action(mdp: TabularMDP) -> int | None:
    """Return the action that does nothing; None if there is none."""
    return next((a for a, name in enumerate(mdp.actions) if name.lower() in NOOPS), None)


def inaction(mdp: TabularMDP) -> tuple[np.ndarray, np.ndarray]:
    """Return where each state leads if nobody acts.

    Returns:
        successors: int32 [n_states, n_outcomes].
        probabilities: float64 [n_states, n_outcomes]; 0 marks padding.
    """
    noop = noop_action(mdp)
    if noop is None:
        return np.arange(mdp.n_states, dtype=np.int32)[:, None], np.ones((mdp.n_states, 1))
    return mdp.successors[:, noop], mdp.probabilities[:, noop]


def moves_by_itself(mdp: TabularMDP) -> np.ndarray:
    """Return which variables change in some state though nobody acts, bool [n_variables]."""
    successors, probabilities = inaction(mdp)
    changed = mdp.values[successors] != mdp.values[:, None, :]
    return (changed & (probabilities > 0)[:, :, None]).any(axis=(0, 1))


def after_inaction(mdp: TabularMDP, start: int, steps: int) -> np.ndarray:
    """Return how likely each state is after 0 to `steps` steps without acting.

    Args:
        mdp: The world's MDP.
        start: The first state.
        steps: The number of steps.

    Returns:
        float64 [steps + 1, n_states]
    """
    successors, probabilities = inaction(mdp)
    rows = np.zeros((steps + 1, mdp.n_states))
    rows[0, start] = 1.0
    for t in range(steps):
        np.add.at(rows[t + 1], successors, probabilities * rows[t][:, None])
    return rows


# --------------------
#
# Numbers for the combinations of some variables' values: contexts, and groups of a reward


@dataclass(frozen=True, eq=False)
class ValueIndex:
    """Numbers for the combinations of some variables' values that occur in a tabular MDP.

    Attributes:
        of_state: int32 [n_states], each state's number.
        example: int32 [size], a state that shows each combination.
    """

    of_state: np.ndarray
    example: np.ndarray

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return len(self.example)

    @cached_property
    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """States in the order of their numbers, int32 [n_states], and where each number's part
        begins (and the last one ends), int32 [size + 1]."""
        order = np.argsort(self.of_state, kind="stable").astype(np.int32)
        begins = np.searchsorted(self.of_state[order], np.arange(self.size + 1))
        return order, begins.astype(np.int32)


def index_values(mdp: TabularMDP, variables: Sequence[int]) -> ValueIndex:
    """Number the combinations of these variables' values, in mixed radix, last variable fastest."""
    codes = mdp.space.encode(mdp.values, variables)
    _, example, of_state = np.unique(codes, return_index=True, return_inverse=True)
    return ValueIndex(of_state.astype(np.int32), example.astype(np.int32))


class ContextIndex:
    """Numbers of the contexts of a set of skills, and their places in one flat array of policies.

    A context is what a policy still sees of the start state: the start values of some variables.
    Policies of all skills lie in one array, skill after skill, each [n_states, width], where the
    width counts contexts times modes.

    Args:
        mdp: The MDP whose states are the rows.
        variables: Per skill, the indices of the variables whose start value it sees.
        n_modes: Per skill, how many modes it has.
    """

    def __init__(
        self, mdp: TabularMDP, variables: Sequence[Sequence[int]], n_modes: Sequence[int]
    ) -> None:
        sets = [tuple(sorted(members)) for members in variables]
        known = {members: index_values(mdp, members) for members in dict.fromkeys(sets)}
        self.mdp = mdp
        self.of_skill = tuple(known[members] for members in sets)
        """Per skill, the numbers of its contexts."""
        self.n_modes = np.array(n_modes, dtype=np.int64)
        """int64 [n_skills]: how many modes each has."""
        sizes = zip(self.of_skill, n_modes, strict=True)
        self.n_columns = [index.size * count for index, count in sizes]
        """Columns of each skill's policy, contexts times modes, as integers of any size."""
        self.n_entries = mdp.n_states * sum(self.n_columns)
        """Length of the flat array, which may be more than an int64 holds."""

    @cached_property
    def widths(self) -> np.ndarray:
        """int64 [n_skills]: `n_columns` as an array."""
        return np.array(self.n_columns, dtype=np.int64)

    @cached_property
    def offsets(self) -> np.ndarray:
        """int64 [n_skills + 1]: where each skill begins in the flat array; last, its length."""
        return np.append(0, np.cumsum(self.widths * self.mdp.n_states))

    @cached_property
    def contexts(self) -> np.ndarray:
        """int32 [n_skills, n_states]: the context of a skill that starts in a state."""
        rows = [index.of_state for index in self.of_skill]
        return np.array(rows, dtype=np.int32).reshape(len(rows), self.mdp.n_states)


# --------------------
#
# Projections: the dynamics of some variables alone, where the others make no difference to them
#
# Whether a tool is picked up makes no difference to where the agent walks, so what can happen to
# the position and to another tool is told by a table without it, 2 or 1,000 times as small.

TOLERANCE = 1e-9
"""Expectations that differ by less are taken to be equal."""


@dataclass(frozen=True, eq=False)
class Projection:
    """A Markov chain of actions on the values of some variables.

    Attributes:
        values: int32 [n_rows, n_variables], value indices of all variables; those that are
            projected out have any of their values.
        successors: int32 [n_rows, n_actions, n_outcomes].
        probabilities: float64 [n_rows, n_actions, n_outcomes].
        of_state: int32 [n_states], the row of each state of the MDP.
    """

    values: np.ndarray
    successors: np.ndarray
    probabilities: np.ndarray
    of_state: np.ndarray


def project(mdp: TabularMDP, needed: Iterable[int]) -> Projection:
    """Return the dynamics of `needed` and of the variables that they depend on.

    The other variables are left out if the distribution of the rest after an action does not depend
    on them: all at once, else one by one. Hidden marks must make no difference either.

    Args:
        mdp: The MDP.
        needed: Indices of the variables to keep.
    """
    return _project(mdp, frozenset(needed))


@once_per_mdp
def _project(mdp: TabularMDP, needed: frozenset[int]) -> Projection:
    kept = set(range(len(mdp.space)))
    others = sorted(kept - needed)
    for left_out in [others, *([j] for j in others)]:
        fewer = kept - set(left_out)
        if fewer and fewer != kept and _is_markov(mdp, index_values(mdp, sorted(fewer))):
            kept = fewer
    if len(kept) == len(mdp.space):
        return Projection(
            mdp.values, mdp.successors, mdp.probabilities, np.arange(mdp.n_states, dtype=np.int32)
        )
    index = index_values(mdp, sorted(kept))
    return Projection(
        mdp.values[index.example], index.of_state[mdp.successors[index.example]],
        mdp.probabilities[index.example], index.of_state,
    )  # fmt: skip


def _is_markov(mdp: TabularMDP, index: ValueIndex) -> bool:
    """Return whether states with equal numbers go to equal distributions of numbers."""
    if mdp.n_marks and (index.of_state[mdp.successors] != index.of_state[mdp.again]).any():
        return False
    expected = _expected_score(index.of_state, mdp.successors, mdp.probabilities)
    of_example = expected[index.example][index.of_state]
    return bool(np.allclose(expected, of_example, rtol=0.0, atol=TOLERANCE))


# --------------------
#
# Variables that no action influences: a clock, the weather, a colour that never changes
#
# Such a variable is a process of its own: whatever is done, now or before, its values follow each
# other with the same probabilities. A skill can only wait for a value of it, so it gets no skills
# by default.


@once_per_mdp
def uninfluenced(mdp: TabularMDP) -> tuple[str, ...]:
    """Return the names of the variables that no action influences, those that never change among
    them.

    A variable is one of them if it and all that it depends on go to the same distribution whatever
    the action. Where that holds for everything that changes (there may be a single action), to stop
    is the only choice that skills have, and only the variables that never change are returned.
    """
    names = tuple(n for j, n in enumerate(mdp.space.names) if _is_uninfluenced(mdp, j))
    return mdp.fixed if len(names) == len(mdp.space) else names


def _is_uninfluenced(mdp: TabularMDP, variable: int) -> bool:
    if _differs_by_action(mdp.values[:, variable], mdp.successors, mdp.probabilities):
        return False
    # No action decides the next value, but one may decide what that depends on.
    model = project(mdp, [variable])
    rows = np.arange(len(model.values))
    return not _differs_by_action(rows, model.successors, model.probabilities)


def _differs_by_action(
    numbers: np.ndarray, successors: np.ndarray, probabilities: np.ndarray
) -> bool:
    """Return whether some action leads to another distribution of `numbers` than the first one."""
    expected = _expected_score(numbers, successors, probabilities)
    return not np.allclose(expected, expected[:, :1], rtol=0.0, atol=TOLERANCE)


def _expected_score(
    numbers: np.ndarray, successors: np.ndarray, probabilities: np.ndarray
) -> np.ndarray:
    """Return the expectation of a random function of the next state's number, by which
    distributions are compared: different ones have the same with probability 0."""
    score = np.random.default_rng(0).random(int(numbers.max()) + 1)[numbers]
    return (probabilities * score[successors]).sum(axis=2)


# -------------------- Path distances between the values of one variable
#
# The distance from v to w is the fewest changes of the variable that lead from v to w, where a
# change from one value to another counts as possible if some action in some state can make it, with
# whatever values of the other variables. For a position these are steps around walls, with all
# doors open.


@once_per_mdp
def relative_path_distances(mdp: TabularMDP, variable: int) -> np.ndarray:
    """Return the path distances between a variable's values as shares of the largest finite one.

    Returns:
        float64 [n_values, n_values], from the first index to the second; 1 where no way leads.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    name, size = mdp.space.names[variable], mdp.space.sizes[variable]
    require_memory(
        8 * size**2, f"path distances between the {size:,} values of {name}",
        "use a variable with fewer values, or weighted_norm()",
    )  # fmt: skip
    steps = dijkstra(csr_array(mdp.value_changes[variable]), unweighted=True)
    finite = np.isfinite(steps)
    largest = max(steps[finite].max(), 1.0)
    return np.where(finite, steps, largest) / largest


# -------------------- Breadth-first enumeration of the states that a model can reach
#
# `tabulate` enumerates the states of a world, and explored worlds (`worlds/explored.py`) enumerate
# those of a foreign model. Both use `enumerate_states`, which knows nothing about either: a state
# is any hashable *key*, and `expand(key)` says what can follow it.


class Transition(NamedTuple):
    """One outcome of an action, with states given by their numbers."""

    probability: float
    successor: int
    mark: int
    """The hidden mark this outcome sets, or -1."""
    again: int
    """The next state if the mark is already set; equals `successor` if there is no mark."""


class Transitions:
    """Every transition of a world, as arrays; `transitions[state][action]` lists the outcomes.

    Args:
        n_actions: Number of actions.
        begins: int64 [n_states * n_actions + 1], where the outcomes of each action begin.
        probabilities: float64 [n_outcomes].
        successors: int32 [n_outcomes].
        marks: int32 [n_outcomes], the hidden mark that an outcome sets, or -1 (default: none).
        again: int32 [n_outcomes], the next state if the mark is already set.

    Raises:
        UserError: If the arrays do not fit together.
    """

    def __init__(
        self,
        n_actions: int,
        begins: np.ndarray,
        probabilities: np.ndarray,
        successors: np.ndarray,
        marks: np.ndarray | None = None,
        again: np.ndarray | None = None,
    ) -> None:
        self.n_actions, self.begins = n_actions, begins
        self.probabilities, self.successors = probabilities, successors
        self.marks = np.full(len(successors), -1, np.int32) if marks is None else marks
        self.again = successors if again is None else again
        n, rest = divmod(len(begins) - 1, n_actions)
        if rest or not n or (np.diff(begins) < 0).any() or begins[-1] != len(successors):
            raise UserError("the outcomes of actions do not lie one after another")
        if len(probabilities) != len(successors):
            raise UserError("there must be as many probabilities as successors")
        if len(successors) and not 0 <= successors.min() <= successors.max() < n:
            raise UserError(f"successors must be numbers of states, 0 to {n - 1}")

    def __len__(self) -> int:
        return (len(self.begins) - 1) // self.n_actions

    def __getitem__(self, state: int) -> list[list[Transition]]:
        first = range(len(self))[state] * self.n_actions
        begins = self.begins[first : first + self.n_actions + 1].tolist()
        columns = (self.probabilities, self.successors, self.marks, self.again)
        listed = [
            Transition(*each)
            for each in zip(
                *(column[begins[0] : begins[-1]].tolist() for column in columns), strict=True
            )
        ]
        return [listed[a - begins[0] : b - begins[0]] for a, b in pairwise(begins)]

    def wrong_sums(self, tolerance: float) -> np.ndarray:
        """Return the actions, numbered through all states, whose probabilities are negative or do
        not sum to 1."""
        counts = np.diff(self.begins)
        action = np.repeat(np.arange(len(counts)), counts)
        sums = np.bincount(action, self.probabilities, len(counts))
        negative = np.bincount(action, self.probabilities < 0, len(counts)) > 0
        return np.flatnonzero(~(np.abs(sums - 1) <= tolerance) | negative)

    def padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return successors, probabilities, marks and `again` as `TabularMDP` has them,
        [n_states, n_actions, n_outcomes]."""
        counts = np.diff(self.begins)
        n, width = len(self), int(counts.max())
        slot = np.arange(len(self.successors)) - np.repeat(self.begins[:-1], counts)
        place = np.repeat(np.arange(len(counts)), counts) * width + slot
        here = np.repeat(np.arange(n, dtype=np.int32), self.n_actions * width)

        def spread(column: np.ndarray, padding: np.ndarray) -> np.ndarray:
            padding[place] = column
            return padding.reshape(n, self.n_actions, width)

        return (
            spread(self.successors, here.copy()),
            spread(self.probabilities, np.zeros(len(here))),
            spread(self.marks, np.full(len(here), -1, np.int32)),
            spread(self.again, here),
        )


@dataclass(frozen=True, eq=False)
class StateGraph(Generic[Key]):
    """Every reachable state and every transition between them."""

    states: Sequence[Key]
    """The states in the order they were reached; a state's number is its place here."""
    transitions: Transitions
    """The outcomes of every action in every state."""
    n_starts: int
    """How many of the states, the first ones, are starts."""


def enumerate_states(
    name: str,
    starts: Iterable[Key],
    expand: Callable[[Key], Iterable[Iterable[Successor[Key]]]],
    *,
    limit: int,
    limit_advice: str,
    progress: Progress = no_progress,
) -> StateGraph[Key]:
    """Enumerate every state that can be reached from `starts`, breadth first.

    The order is deterministic: starts as given, then successors in the order of states, actions and
    outcomes. Fingerprints of worlds depend on it.

    Args:
        name: The world's name, for errors and progress.
        starts: The first states; duplicates count once.
        expand: Returns the outcomes of every action, called once per state.
        limit: The most states to accept.
        limit_advice: What a user can do about too many states, for the error.
        progress: Called once per state. The fraction is that of expanded states among those reached
            so far, so it can fall.

    Raises:
        UserError: If there are no starts, or more than `limit` states.
    """
    numbers: dict[Key, int] = {}
    states: list[Key] = []

    def number(key: Key) -> int:
        try:
            known = key in numbers
        except TypeError:
            raise UserError(f"{name}: {key!r} cannot be a state: it cannot be hashed") from None
        if not known:
            if len(states) >= limit:
                raise UserError(f"{name} has more than {limit:,} states: {limit_advice}")
            numbers[key] = len(states)
            states.append(key)
        return numbers[key]

    for key in starts:
        number(key)
    n_starts = len(states)
    if not states:
        raise UserError(f"{name} names no state to start from")
    done, outcomes, begins = 0, array("d"), array("q", [0])
    numbered = array("i")  # successor, mark and successor if it is set, of each outcome
    while done < len(states):
        if progress is not no_progress:  # formatting the text is not free
            activity = f"exploring {name}: {len(states):,} states found, {done:,} of them done"
            progress(done / len(states), activity)
        for action in expand(states[done]):
            for p, key, mark, again in action:
                successor = number(key)
                outcomes.append(p)
                numbered.extend((successor, mark, successor if again is None else number(again)))
            begins.append(len(outcomes))
        done += 1
    successors, marks, repeated = np.array(numbered, np.int32).reshape(-1, 3).T.copy()
    transitions = Transitions(
        (len(begins) - 1) // done, np.array(begins), np.array(outcomes), successors, marks, repeated
    )
    return StateGraph(states, transitions, n_starts)
