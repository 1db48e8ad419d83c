"""Worlds: dynamics over named variables, without a reward."""

from __future__ import annotations

import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from skillfocus.errors import UserError, short_repr
from skillfocus.progress import Progress, no_progress
from skillfocus.spaces import ContinuousSpace, FactoredSpace, State

# -------------------- Breadth-first enumeration of the states that a model can reach
#
# `tabulate` enumerates the states of a world, and explored worlds (`worlds/explored.py`) enumerate
# those of a foreign model. Both use `enumerate_states`, which knows nothing about either: a state
# is any hashable *key*, and `expand(key)` says what can follow it.

Key = TypeVar("Key", bound=Hashable)
Successor = tuple[float, Key, int, Key | None]
"""One outcome of an action, as `expand` returns it: probability, next state, hidden mark (-1: none)
and next state if that mark is already set (`None`: the same). An `Outcome` is one."""


class Transition(NamedTuple):
    """One outcome of an action, with states given by their numbers."""

    probability: float
    successor: int
    mark: int
    """The hidden mark this outcome sets, or -1."""
    again: int
    """The next state if the mark is already set; equals `successor` if there is no mark."""


@dataclass(frozen=True, eq=False)
class StateGraph(Generic[Key]):
    """Every reachable state and every transition between them."""

    states: Sequence[Key]
    """The states in the order they were reached; a state's number is its place here."""
    transitions: Sequence[Sequence[Sequence[Transition]]]
    """`transitions[state][action]`: the outcomes of an action."""
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
    transitions: list[list[list[Transition]]] = []
    while (done := len(transitions)) < len(states):
        if progress is not no_progress:  # formatting the text is not free
            activity = f"exploring {name}: {len(states):,} states found, {done:,} of them done"
            progress(done / len(states), activity)
        transitions.append(
            [
                [
                    Transition(p, number(key), mark, number(key if again is None else again))
                    for p, key, mark, again in outcomes
                ]
                for outcomes in expand(states[done])
            ]
        )
    return StateGraph(states, transitions, n_starts)


STATE_LIMIT = 200_000
"""The most states a world may have unless it sets a higher `limit`."""
MAX_ACTIONS = 254
"""The most actions a world may have: policies are bytes, and one byte means "terminate"."""
MAX_STEPS = 100_000
"""The most steps that any skill may take."""
_MAX_VARIABLES_SHOWN = 5


def check_step_limit(step_limit: int) -> None:
    """Raise a `UserError` unless skills may have this step limit."""
    if not 1 <= step_limit <= MAX_STEPS:
        raise UserError(
            f"the step limit is {step_limit}; it must be a whole number from 1 to {MAX_STEPS:,}"
        )


def check_declared(world: object) -> None:
    """Raise a `UserError` unless this is a world that declares what every world has."""
    if isinstance(world, type) and issubclass(world, World):
        raise UserError(f"{world.__name__} is a class: pass a world, such as {world.__name__}()")
    if not isinstance(world, World):
        named = "; sf.make makes one from a name" if isinstance(world, str) else ""
        raise UserError(
            f"{short_repr(world)} is not a World{named}: subclass skillfocus.World, or use "
            f"skillfocus.adapters.from_object"
        )
    declared = (("id", str, "str"), ("space", FactoredSpace | ContinuousSpace, "FactoredSpace"))
    for name, kind, article in (*declared, ("actions", list | tuple, "tuple")):
        if not isinstance(getattr(world, name, None), kind):
            raise UserError(f"{type(world).__name__} needs {name}, a {article}")


class Outcome(NamedTuple):
    """One possible outcome of an action: `Outcome(0.9, next_state)`.

    A world may keep something out of its variables as *hidden marks*: bits that a transition sets
    the first time it happens, such as a cell that gets muddy. `mark` is the bit that this outcome
    sets, and `again` the state that follows instead if the bit is already set.
    """

    probability: float
    state: State
    """The next state, as value indices."""
    mark: int = -1
    """The hidden mark this outcome sets; -1 for none."""
    again: State | None = None
    """The next state if that mark is already set; `None` for `state`."""


class WorldState(tuple[int, ...]):
    """A state that knows its world: equal to the plain tuple, and draws itself in a notebook.

    `world.state(position=(6, 9))` makes one, and trajectories hold them::

        state = world.state(position=(6, 9))
        state.labels  # {"position": (6, 9), "tool_1": 0, …}
    """

    world: World

    def __new__(cls, values: Iterable[int], world: World) -> WorldState:
        """Make a state from value indices and its world."""
        state = super().__new__(cls, values)
        state.world = world
        return state

    @property
    def labels(self) -> dict[str, Hashable]:
        """The state as {variable: value}."""
        return self.world.space.labels(self)

    def __reduce__(self) -> tuple[object, ...]:
        if not can_pickle(self.world):
            return tuple, (tuple(self),)
        return WorldState, (tuple(self), self.world)

    def __deepcopy__(self, memo: object) -> WorldState:
        """Return itself: states do not change."""
        return self

    def _repr_html_(self) -> str:
        return import_module("skillfocus.render.svg").state_html(self)


class World(ABC):
    """Dynamics over named variables with finitely many values.

    A subclass sets `id`, `space` and `actions`, and implements `states` and `transition`. A state
    is a tuple of value indices, one per variable. A complete world::

        class Lamp(sf.World):
            id = "Lamp-v0"
            actions = ("press", "wait")
            space = sf.FactoredSpace(
                (sf.Variable("on", (0, 1)), sf.Variable("bulb", ("ok", "broken")))
            )

            def states(self):
                return [(0, 0)]

            def transition(self, state, action):
                on, bulb = state
                if self.actions[action] == "wait" or bulb == 1:
                    return [sf.Outcome(1.0, state)]
                return [sf.Outcome(0.99, (1 - on, bulb)), sf.Outcome(0.01, (0, 1))]

        sf.testing.check_world(Lamp())
        skills = sf.discover(Lamp(), sf.focused(sf.vic()), seed=0, targets={"on": 2})

    Everything else has a default.
    """

    id: str
    """Name and version, such as `FourRooms-v0`."""
    space: FactoredSpace
    """The variables."""
    actions: tuple[str, ...]
    """Names of the actions; an action is its index here."""
    step_limit: int = 40
    """The most steps a skill may take."""
    limit: int = STATE_LIMIT
    """The most states this world may have."""
    n_marks: int = 0
    """Number of hidden marks (see `Outcome`); 0 if the variables describe the state completely."""
    fixed: tuple[str, ...] = ()
    """Variables that no action changes; they become targets only on request."""
    final_states: frozenset[State] = frozenset()
    """States that end an episode; no action leaves them."""
    notes: tuple[str, ...] = ()
    """What a user should know about this world, in sentences."""
    state_graph: StateGraph[State] | None = None
    """States and transitions, if they were enumerated when the world was made; `tabulate` then uses
    them instead of calling `states` and `transition`."""

    @abstractmethod
    def states(self) -> Iterable[State]:
        """Return the states where skills may start.

        `tabulate` adds every state that can be reached from them.
        """

    @abstractmethod
    def transition(self, state: State, action: int) -> list[Outcome]:
        """Return the possible outcomes of an action, with probabilities that sum to 1."""

    @property
    def settings(self) -> dict[str, object]:
        """JSON-compatible arguments that make this world again: `sf.make(world.id, **settings)`."""
        return {}

    @property
    def default_target(self) -> str:
        """The variable targeted by all default skills that no goal gets.

        It is the variable with the most values among those that can change.
        """
        changing = [v for v in self.space.variables if v.name not in self.fixed]
        candidates = changing or self.space.variables
        return max(candidates, key=lambda variable: len(variable.values)).name

    @property
    def goals(self) -> tuple[str, ...]:
        """The variables that get two skills each by default.

        These are all variables that can change except `default_target`.
        """
        return tuple(
            n for n in self.space.names if n != self.default_target and n not in self.fixed
        )

    def state(self, **labels: Hashable) -> WorldState:
        """Return a state by its values, such as `world.state(position=(6, 9))`.

        Variables not named take their first value. The state draws itself in a notebook.

        Raises:
            UserError: If a variable or a value does not exist.
        """
        return WorldState(self.space.state(**labels), self)

    def marks_in(self, state: State) -> int:
        """Return how many hidden marks are set in a state; which ones is unknown."""
        del state
        return 0

    def draw(self, state: State) -> str:
        """Return a state as text."""
        return "\n".join(f"{name}={value}" for name, value in self.space.labels(state).items())

    def __repr__(self) -> str:
        """`<FourRooms-v0: 4 actions, position (104) × tool_1 (2) × …>`, without tabulating."""
        if not hasattr(self, "space"):  # not initialized yet
            return super().__repr__()
        shown = [f"{v.name} ({len(v.values)})" for v in self.space.variables[:_MAX_VARIABLES_SHOWN]]
        hidden = len(self.space) - len(shown)
        variables = " × ".join([*shown, f"{hidden} more"] if hidden else shown)
        parts = [f"{len(self.actions)} actions", variables, *self._repr_details()]
        return f"<{self.id}: {', '.join(parts)}>"

    def _repr_details(self) -> Iterable[str]:
        """What a kind of world adds to its `repr`."""
        return ()


def can_pickle(world: World) -> bool:
    """Return whether a world can be pickled.

    States and trajectories of a world that cannot are pickled without it.
    """
    try:
        pickle.dumps(world)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


# -------------------- The transitions of a world as arrays, in place of lists of `Transition`


@dataclass(frozen=True, eq=False)
class PackedTransitions(Sequence[Sequence[Sequence[Transition]]]):
    """Transitions without hidden marks; indexed, they are lists as `StateGraph` has them.

    Attributes:
        n_actions: Number of actions.
        begins: int64 [n_states * n_actions + 1], where the outcomes of each action begin.
        probabilities: float64 [n_outcomes].
        successors: int32 [n_outcomes].
    """

    n_actions: int
    begins: np.ndarray
    probabilities: np.ndarray
    successors: np.ndarray

    def __post_init__(self) -> None:
        counts = np.diff(self.begins)
        n, rest = divmod(len(counts), self.n_actions)
        ends = self.begins[[0, -1]].tolist()
        if rest or not n or counts.min() < 1 or ends != [0, len(self.successors)]:
            raise UserError("the outcomes of actions do not lie one after another")
        if len(self.probabilities) != len(self.successors):
            raise UserError("there must be as many probabilities as successors")
        sums = np.add.reduceat(self.probabilities, self.begins[:-1])
        if not (np.abs(sums - 1) <= 1e-9).all() or self.probabilities.min() < 0:
            raise UserError("the probabilities of an action must be 0 or more and sum to 1")
        if self.successors.min() < 0 or self.successors.max() >= n:
            raise UserError(f"successors must be numbers of states, 0 to {n - 1}")

    def __len__(self) -> int:
        return (len(self.begins) - 1) // self.n_actions

    @overload
    def __getitem__(self, index: int) -> list[list[Transition]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[list[Transition]]]: ...
    def __getitem__(self, index: int | slice) -> list:
        if isinstance(index, slice):
            return [self[s] for s in range(len(self))[index]]
        s = range(len(self))[index]
        begins = self.begins[s * self.n_actions : (s + 1) * self.n_actions + 1].tolist()
        outcomes = slice(begins[0], begins[-1])
        listed = [
            Transition(p, after, -1, after)
            for p, after in zip(
                self.probabilities[outcomes].tolist(), self.successors[outcomes].tolist(),
                strict=True,
            )
        ]  # fmt: skip
        return [listed[first - begins[0] : last - begins[0]] for first, last in pairwise(begins)]

    def padded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return successors, int32, and probabilities, [n_states, n_actions, n_outcomes], padded as
        `TabularMDP` has them."""
        counts = np.diff(self.begins)
        n, width = len(self), int(counts.max())
        successors = np.repeat(np.arange(n, dtype=np.int32), self.n_actions * width)
        probabilities = np.zeros(len(successors))
        slot = np.arange(len(self.successors)) - np.repeat(self.begins[:-1], counts)
        place = np.repeat(np.arange(len(counts)), counts) * width + slot
        successors[place], probabilities[place] = self.successors, self.probabilities
        shape = (n, self.n_actions, width)
        return successors.reshape(shape), probabilities.reshape(shape)


def pack_transitions(
    transitions: Sequence[Sequence[Sequence[Transition]]], n_actions: int
) -> PackedTransitions:
    """Return transitions without hidden marks as arrays."""
    outcomes = [each for by_action in transitions for each in by_action]
    counts = np.fromiter(map(len, outcomes), np.int64, len(outcomes))
    total = int(counts.sum())
    flat = [transition for each in outcomes for transition in each]
    return PackedTransitions(
        n_actions,
        np.concatenate([[0], np.cumsum(counts)]),
        np.fromiter((t.probability for t in flat), np.float64, total),
        np.fromiter((t.successor for t in flat), np.int32, total),
    )


# -------------------- Seeds of random draws

MAX_SEEDS = 10_000
"""The most seeds of one command."""


def check_seed(seed: object) -> None:
    """Raise a `UserError` unless this is a seed."""
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return
    advice = f"; try seed={int(seed)}" if isinstance(seed, str) and seed.isdecimal() else ""
    raise UserError(f"seed must be a non-negative integer, got {seed!r}{advice}")


def seed_range(count: int, first: int = 0) -> range:
    """Return consecutive seeds.

    Raises:
        UserError: If there are none, too many, or negative ones.
    """
    check_seed(first)
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"seeds is {count}; it must be 1 to {MAX_SEEDS:,}")
    return range(int(first), int(first) + int(count))


# --------------------
#
# Check a world's settings before it is made: they come from JSON, with any types

MAX_INT = 2**53
"""Whole numbers above this are exact neither in JSON nor in a float."""


def check_settings(
    name: str, factory: Callable[..., Any], settings: Mapping[str, object], *args: object
) -> None:
    """Check that a factory takes these settings, and that they have the types it declares.

    Only types in `_KINDS` are checked; a parameter of another one takes anything.

    Args:
        name: The world's name, for errors.
        factory: What makes the world: a class or a function.
        settings: Its keyword arguments.
        *args: Its positional arguments.

    Raises:
        UserError: Names a setting that is missing, unknown or of another type.
    """
    signature = inspect.signature(factory)
    try:
        signature.bind(*args, **settings)
    except TypeError as error:
        known = ", ".join(
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        )
        raise UserError(
            f"{name} does not take these settings: {error} (it takes: {known or 'none'})"
        ) from None
    for setting, value in settings.items():
        parameter = signature.parameters.get(setting)
        declared = None if parameter is None else parameter.annotation
        kind = "seed" if setting == "seed" else str(getattr(declared, "__name__", declared))
        if kind in _KINDS and not _KINDS[kind][0](value):
            raise UserError(f"{setting} of {name} is {value!r}; it must be {_KINDS[kind][1]}")


def _is_int(value: object) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= MAX_INT
    )


def _is_float(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _are_functions(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(callable, value.values()))


def _are_groups(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(names, str) or (_are_names(names) and names) for names in value.values()
    )


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "int": (_is_int, "a whole number, of up to 15 digits"),
    "float": (_is_float, "a number"),
    "str": (_is_text, "text"),
    "seed": (lambda value: _is_int(value) and value >= 0, "a whole number, 0 or more"),
    "str | Path": (lambda value: isinstance(value, str | Path), "text"),
    "str | int | Path | None": (
        lambda value: value is None or isinstance(value, str | Path) or _is_int(value),
        "text or a whole number",
    ),
    "Sequence[str] | None": (lambda value: value is None or _are_names(value), "a list of names"),
    "Variables | None": (
        lambda value: value is None or _are_names(value) or _are_functions(value),
        "a list of names",
    ),
    "Groups | None": (
        lambda value: value is None or _are_groups(value),
        'an object of names, such as {"at": ["at_*"]}',
    ),
    "Callable[[Any], Any] | None": (
        lambda value: value is None or callable(value),
        "a function, which only Python can give",
    ),
    "Callable[[Any, Any], None] | None": (
        lambda value: value is None or callable(value),
        "a function, which only Python can give",
    ),
}
"""How the parameters of worlds are annotated: what a value must be, and how to say it."""
